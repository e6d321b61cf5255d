// SPDX-License-Identifier: Apache-2.0
// When a connection counts as dead, and when to try to connect again. Pure, except for a random number.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <utility>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/entropy.hpp"

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

/// Pauses between attempts to connect: doubling up to a limit, with jitter. The random number is an input.
class Backoff {
 public:
  Backoff(std::chrono::milliseconds first, std::chrono::milliseconds limit)
      : first_(first), limit_(limit), next_(first) {}

  /// The next pause: between half of the current step and all of it. `random` is in [0, 1).
  std::chrono::nanoseconds next(double random) {
    const std::chrono::duration<double, std::milli> step = next_;
    next_ = std::min(limit_, next_ * 2);
    return std::chrono::duration_cast<std::chrono::nanoseconds>(step * (0.5 + random / 2));
  }

  /// After a success: starts with the first pause again.
  void reset() { next_ = first_; }

 private:
  std::chrono::milliseconds first_, limit_, next_;
};

/// When to try to connect again.
class Attempts {
 public:
  explicit Attempts(const Config& config)
      : reconnect_min_(config.timing.reconnect_min),
        reconnect_max_(config.timing.reconnect_max),
        backoff_(config.timing.reconnect_min, config.timing.reconnect_max),
        random_(base::entropy()) {}

  void on_begin(base::TimePoint now) { since_ = now; }
  void on_ready(base::TimePoint now) {
    ready_since_ = now;
    ever_ready_ = true;
  }
  /// `stood`: its login succeeded. `demoted`: the server takes no writes; since it accepts a login each time, that does
  /// not count as success.
  void on_end(base::TimePoint now, bool stood, bool demoted) {
    if (stood && (!demoted || now - ready_since_ >= reconnect_max_)) backoff_.reset();
    ended_ = now;
  }
  /// There is a reason to expect the next attempt to succeed.
  void start_over() { backoff_.reset(); }

  bool ever_ready() const { return ever_ready_; }
  /// How long ago the latest login succeeded.
  base::Duration since_ready(base::TimePoint now) const { return now - ready_since_; }
  base::Duration under_way(base::TimePoint now) const { return now - since_; }
  /// When to try again. `hopeless`: another attempt is unlikely to succeed.
  base::TimePoint next(bool hopeless) {
    hopeless_ = hopeless;
    return ended_ + backoff_.next(std::generate_canonical<double, 32>(random_));
  }
  /// When to try if a caller waits now. If success is unlikely, that is earlier, so that the caller need not wait for
  /// the end of a long pause. Empty: as next() says.
  std::optional<base::TimePoint> hurried(base::TimePoint now) const {
    if (!hopeless_) return std::nullopt;
    return std::max(now, ended_ + std::min<base::Duration>(reconnect_min_, kQuickest));
  }

 private:
  /// The shortest pause between attempts that callers can cause.
  static constexpr std::chrono::milliseconds kQuickest{50};

  const base::Duration reconnect_min_, reconnect_max_;
  Backoff backoff_;
  std::minstd_rand random_;
  bool ever_ready_ = false;
  bool hopeless_ = false;  // the latest connection was refused, or there has never been one
  base::TimePoint since_{};
  base::TimePoint ready_since_{};
  base::TimePoint ended_{};
};

}  // namespace holdfast::redis
