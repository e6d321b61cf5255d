// How many replicas a primary has, as far as can be known, and how many of them a level of acks needs.
#pragma once

#include <algorithm>
#include <optional>

#include <holdfast/acks.hpp>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// A replica that is away can still be elected, so the highest number ever seen connected counts, unless the configured
/// number is known: then that, or the number connected now if that is more. Not thread-safe.
class ReplicaCount {
 public:
  /// The primary reports how many are connected.
  void on_told(int connected, TimePoint now) {
    connected_ = connected;
    highest_ = std::max(highest_.value_or(0), connected);
    asked_at_ = now;
  }
  /// This many can be elected now, according to another source; others that may come back are not included.
  void on_seen(int replicas) { highest_ = std::max(highest_.value_or(0), replicas); }
  /// The primary may be another one, or its replicas may have changed.
  void ask_again() { asked_at_.reset(); }
  /// Sets the number on record elsewhere, which is more reliable.
  void set_configured(std::optional<int> replicas) { configured_ = replicas; }

  bool to_be_asked(TimePoint now) const { return !asked_at_ || now >= *asked_at_ + kFresh; }
  /// Empty: nothing reported yet.
  std::optional<int> count() const {
    if (configured_) return std::max(*configured_, connected_);
    return highest_;
  }

 private:
  static constexpr Duration kFresh = std::chrono::seconds(1);

  int connected_ = 0;
  std::optional<int> highest_;
  std::optional<int> configured_;
  std::optional<TimePoint> asked_at_;
};

/// Whether a level depends on how many replicas there are.
constexpr bool counts_replicas(Acks acks) {
  return acks.level() == Acks::Level::majority || acks.level() == Acks::Level::all;
}

/// How many of the replicas must confirm; 0 where the level counts replicas: there are none, so it cannot be met.
constexpr int acks_needed(Acks acks, int replicas) {
  switch (acks.level()) {
    case Acks::Level::replicas:
      return acks.number();
    case Acks::Level::majority:
      return (replicas + 1) / 2;
    case Acks::Level::all:
      return replicas;
    case Acks::Level::none:
    case Acks::Level::aof:
      break;
  }
  return 0;
}

}  // namespace holdfast::engine
