// A waiter's estimated place among the clients waiting for a lock, and when it asks, as pure decisions.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// A release is published to all waiters, and the first to ask gets the lock. The server keeps no queue, so each waiter
/// estimates its place: the number of waiters when it came, minus the turns that have passed since. A waiter whose turn
/// it is asks almost at once. The others leave those ahead of them time to ask, so that waiting longer never means
/// asking later.
class Place {
 public:
  /// The delay per place near the front; far longer than a message takes to reach all clients.
  static constexpr Duration kStep = std::chrono::microseconds(300);
  /// The same if clients of other libraries also wait: a JVM takes this long from a message to its attempt.
  static constexpr Duration kStrangersStep = std::chrono::microseconds(1500);
  /// How many places count as near. A waiter farther back asks only if releases stop coming at their usual rate, since
  /// asking just when the lock is released would get ahead of those whose turn it is.
  static constexpr int kNear = 8;
  static constexpr Duration kLongestPause = milliseconds(20);
  static constexpr Duration kFarStep = std::chrono::microseconds(200);
  static constexpr int kMostFar = 50;
  /// A waiter overdue by this many turns does not delay at all; one that is just due delays this many small steps.
  static constexpr int kOverdue = 4;
  static constexpr Duration kSmallStep = std::chrono::microseconds(20);
  /// The longest delay, and so the longest that the lock is idle if all waiters ahead are gone.
  static constexpr Duration kLongest = kNear * kStrangersStep + kLongestPause + kMostFar * kFarStep;
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  /// `turn`: releases in faster succession are from one client (Tenure). `chance`: in [0, 1).
  Place(Duration turn, double chance) : turn_(turn), chance_(chance) {}

  bool known() const { return ahead_ >= 0; }
  /// Takes the number of other waiters. The first one says how many are ahead; later ones limit that.
  void found(std::int64_t others);
  /// There are others, but their number is unknown: counts as near, with a random delay that shrinks each time.
  void guess();
  void on_release(TimePoint now);

  /// The delay from a release to the next attempt. `limit`: at most this many were ahead. `strangers`: some may use
  /// another library, and be slower.
  Duration delay(int limit, bool strangers);
  /// How many turns have passed since the place was found.
  int turns() const { return turns_; }
  int ahead() const { return ahead_; }

 private:
  const Duration turn_;
  double chance_;
  int ahead_ = -1;
  int turns_ = 0;
  bool guessed_ = false;
  TimePoint turn_ends_{};
  TimePoint released_at_{};
  Duration between_ = kLongestPause;  // between the two latest releases
};

/// What a client learns from its waits for one lock: not every listener wants it, so a place may be much better than it
/// seems.
class PlaceLimit {
 public:
  /// A wait has ended.
  void on_end(const Place& place);
  int limit() const { return turns_ == Place::kNoLimit ? Place::kNoLimit : 2 * turns_ + 2; }

 private:
  int turns_ = Place::kNoLimit;  // waited recently
};

}  // namespace holdfast::engine
