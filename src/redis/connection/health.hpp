// When a connection counts as dead. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"

namespace holdfast::redis {

/// A server that is gone without a word is noticed by a PING that it does not answer. Replies are a sign of life as
/// well, and messages, unless something has not been answered.
class Health {
 public:
  /// How often a connection is looked at, for leases of this length.
  static base::Duration interval(base::Duration lease) {
    return std::clamp<base::Duration>(lease / 10, std::chrono::seconds(1), std::chrono::seconds(10));
  }

  enum class Verdict { well, ping, dead };
  /// After each interval: whether anything was heard in it.
  Verdict judge(bool heard) {
    if (heard) {
      pinged_ = false;
      return Verdict::well;
    }
    return std::exchange(pinged_, true) ? Verdict::dead : Verdict::ping;
  }

 private:
  bool pinged_ = false;  // since something was heard
};

}  // namespace holdfast::redis
