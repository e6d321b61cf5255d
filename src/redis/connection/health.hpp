// When a connection counts as dead. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "redis/connection/op.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// A server that has vanished is noticed by an unanswered PING. Replies are also a sign of life, and so are messages,
/// unless a command is unanswered.
class Health {
 public:
  /// How often to check a connection, for leases of this length.
  static base::Duration interval(base::Duration lease) {
    return std::clamp<base::Duration>(lease / 10, std::chrono::seconds(1), std::chrono::seconds(10));
  }

  enum class Verdict { well, ping, dead };
  /// To be called after each interval; `heard`: something was received in it.
  Verdict judge(bool heard) {
    if (heard) {
      pinged_ = false;
      return Verdict::well;
    }
    return std::exchange(pinged_, true) ? Verdict::dead : Verdict::ping;
  }

 private:
  bool pinged_ = false;  // since something was received
};

/// Checks regularly whether a connection is alive. On the loop.
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
