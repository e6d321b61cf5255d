// When a connection is tried again. Pure but for chance.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "base/entropy.hpp"
#include "redis/connection/backoff.hpp"

namespace holdfast::redis {

class Attempts {
 public:
  explicit Attempts(const Config& config)
      : reconnect_min_(config.reconnect_min),
        reconnect_max_(config.reconnect_max),
        backoff_(config.reconnect_min, config.reconnect_max),
        random_(base::entropy()) {}

  void on_begin(base::TimePoint now) { since_ = now; }
  void on_ready(base::TimePoint now) {
    ready_since_ = now;
    ever_ready_ = true;
  }
  /// `stood`: its login was through. `demoted`: it takes no writes, and can be logged in to each time: no success.
  void on_end(base::TimePoint now, bool stood, bool demoted) {
    if (stood && (!demoted || now - ready_since_ >= reconnect_max_)) backoff_.reset();
    ended_ = now;
  }
  /// There is a reason to believe that the next one will do better.
  void start_over() { backoff_.reset(); }

  bool ever_ready() const { return ever_ready_; }
  /// How long ago the latest login was through.
  base::Duration since_ready(base::TimePoint now) const { return now - ready_since_; }
  base::Duration under_way(base::TimePoint now) const { return now - since_; }
  /// After the latest end. `hopeless`: another attempt will hardly do better.
  base::TimePoint next(bool hopeless) {
    hopeless_ = hopeless;
    return ended_ + backoff_.next(std::generate_canonical<double, 32>(random_));
  }
  /// Somebody waits. Who does so while there is little hope gets an answer from a fresh attempt, not from the end of a
  /// long pause. Empty: next() stands.
  std::optional<base::TimePoint> hurried(base::TimePoint now) const {
    if (!hopeless_) return std::nullopt;
    return std::max(now, ended_ + std::min<base::Duration>(reconnect_min_, kQuickest));
  }

 private:
  /// How often callers can cause an attempt to connect at most.
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
