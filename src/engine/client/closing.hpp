// The end of a client, step by step, without a thread that waits for it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/client/core.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {

/// Waits end; holds are given back, or left, as configured; attempts under way are answered; then the connection is
/// closed. All together within `release_timeout`; undos alone are not waited for longer than 100 ms or two. Keeps
/// itself alive.
class Closing final : public std::enable_shared_from_this<Closing> {
 public:
  explicit Closing(std::shared_ptr<Core> core);
  /// From any thread, once. Takes no memory.
  void start();

 private:
  /// Taken on the loop, without memory for the way there, and once more if there is none on it.
  class Step final : public Loop::Task {
   public:
    Step(Closing& closing, void (Closing::*step)()) : closing_(closing), step_(step) {}
    void run() override { (closing_.*step_)(); }
    void broken() noexcept override { closing_.again(*this); }
    void run_or_again() noexcept {
      try {
        run();
      } catch (...) {
        broken();
      }
    }

   private:
    Closing& closing_;
    void (Closing::* const step_)();
  };

  void take(Step& step) noexcept;
  void again(Step& step) noexcept;
  void begin();
  void look();
  void watch();
  void end_holds();
  void on_none_left();
  void finish();
  void end_all();

  const std::shared_ptr<Core> core_;
  const Loop::Attended attended_;
  // On the loop.
  std::vector<std::shared_ptr<Target>> open_;
  TimePoint end_{};
  timing::Alarm alarm_;
  bool ended_twice_ = false;  // the holds
  bool over_ = false;
  int tries_ = 0;
  Step begin_{*this, &Closing::begin};
  Step look_{*this, &Closing::look};
  Step none_left_{*this, &Closing::on_none_left};
};

}  // namespace holdfast::engine
