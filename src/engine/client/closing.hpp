// Closes a client step by step, without blocking a thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/client/core.hpp"
#include "timing/alarm.hpp"

namespace holdfast::engine {

/// Ends waits; releases or leaves holds, as configured; lets pending attempts get their answers; then closes the
/// connection. All within `release_timeout`; if only undos are left, it waits for them 100 or 200 ms at most. Keeps
/// itself alive.
class Closing final : public std::enable_shared_from_this<Closing> {
 public:
  explicit Closing(std::shared_ptr<Core> core);
  /// From any thread, once. Does not allocate.
  void start();

 private:
  /// Runs on the loop. Posting it does not allocate; if it fails for lack of memory, it is repeated.
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
