// When a connection counts as dead. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"

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

}  // namespace holdfast::redis
