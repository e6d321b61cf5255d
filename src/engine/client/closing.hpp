// The end of a client, step by step, without a thread that waits for it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/client/core.hpp"
#include "timing/timer.hpp"

namespace holdfast::engine {

/// Waits end; holds are given back, or left, as configured; attempts under way are answered; then the connection is
/// closed. All together within `release_timeout`; undos alone are not waited for longer than 100 ms or two. Keeps
/// itself alive.
class Closing : public std::enable_shared_from_this<Closing> {
 public:
  explicit Closing(std::shared_ptr<Core> core);
  /// From any thread, once.
  void start();

 private:
  void watch();
  void end_holds();
  void on_none(int round);
  void finish();

  const std::shared_ptr<Core> core_;
  const Loop::Attended attended_;
  // On the loop.
  std::vector<std::shared_ptr<Target>> open_;
  TimePoint end_{};
  timing::Timer timer_;
  int round_ = 0;
};

}  // namespace holdfast::engine
