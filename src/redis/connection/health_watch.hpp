// Checks regularly whether a connection is alive.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "redis/connection/health.hpp"
#include "redis/connection/lifeline.hpp"
#include "redis/connection/op.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// On the loop.
class HealthWatch {
 public:
  struct Ways {
    std::function<bool()> heard;  ///< Something was received since the last call.
    std::function<void()> ping;
    std::function<void(std::string cause)> dead;
  };
  /// The lifeline outlives it.
  HealthWatch(timing::Schedule& schedule, base::Duration interval, const Lifeline& lifeline, Ways ways)
      : interval_(interval), lifeline_(lifeline), ways_(std::move(ways)), alarm_(schedule, [this] { look(); }) {}

  /// Checks until stop(), or until it is found dead.
  void start() { alarm_.set_after(interval_); }
  void stop() { alarm_.cancel(); }

 private:
  void look() {
    const std::shared_ptr<void> keep = lifeline_.hold();
    const Health::Verdict verdict = health_.judge(ways_.heard());
    if (verdict == Health::Verdict::dead) {
      return ways_.dead("the server has not answered for " + milliseconds(interval_ * 2) + " ms");
    }
    if (verdict == Health::Verdict::ping) ways_.ping();
    start();
  }

  const base::Duration interval_;
  const Lifeline& lifeline_;
  const Ways ways_;
  timing::Alarm alarm_;
  Health health_;
};

}  // namespace holdfast::redis
