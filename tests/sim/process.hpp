// SPDX-License-Identifier: Apache-2.0
// A process in simulated time: an io_context with a clock of its own, which can stand still while time goes on.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "sim/system.hpp"
#include "sim/world.hpp"

namespace holdfast::test::sim {

/// Its code runs when something has come for it, and only in World::run. Destroy what uses its io_context first, or
/// inside().
class Process {
  /// Makes it the current one.
  class Inside {
   public:
    explicit Inside(Process& process);
    ~Inside();
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Process* const before_;
  };

 public:
  /// How its clock differs from the world's: by so many parts of a million it is too fast.
  Process(World& world, int number, int drift_ppm = 0);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// The one whose code runs; null: none.
  static Process* current();

  int number() const { return number_; }
  boost::asio::io_context& context() { return *context_; }
  System& system() { return system_; }
  std::uint32_t random() { return static_cast<std::uint32_t>(chance_()); }
  std::uint64_t next_number() { return ++last_number_; }

  /// Its own clock.
  base::TimePoint clock() const { return clock_at(world_.now()); }
  base::TimePoint clock_at(base::TimePoint time) const;
  /// How much of the world's time passes before its clock has moved on by so much, rounded up.
  base::Duration world_time(base::Duration own) const;

  /// What this says in it, which must change nothing.
  template <class Question>
  auto ask(Question&& question) {
    const Inside inside(*this);
    return question();
  }
  /// Runs this as its code, now.
  void inside(const std::function<void()>& work);
  /// The same a while later, by its own clock; if it stands still then, once it does not.
  void after(base::Duration time, std::function<void()> work);

  /// As SIGSTOP and SIGCONT.
  void pause();
  void resume();
  bool paused() const { return paused_; }
  /// How long it has stood still in all so far.
  base::Duration stood_still() const;
  /// As SIGKILL: its connections are closed, and nothing of it runs any more.
  void kill();
  bool killed() const { return killed_; }

  /// There is something for it to do.
  void wake() { awake_ = true; }
  void run_if_awake();
  /// Nothing of its code will ever run again unless somebody starts something.
  bool out_of_work();

 private:
  World& world_;
  const int number_;
  const int drift_ppm_;
  const base::TimePoint origin_;
  World::Chance chance_;
  std::uint64_t last_number_ = 0;
  System system_;
  std::unique_ptr<boost::asio::io_context> context_;
  std::map<std::uint64_t, std::function<void()>> tasks_;  // of after()
  std::uint64_t last_task_ = 0;
  bool awake_ = true;
  bool paused_ = false;
  bool killed_ = false;
  base::TimePoint paused_at_{};
  base::Duration stood_still_{};
};

}  // namespace holdfast::test::sim
