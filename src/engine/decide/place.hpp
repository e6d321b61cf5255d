// Where a waiter stands among the clients that wait for a lock, and when it asks, as pure decisions.
#pragma once

#include <cstdint>
#include <limits>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// A release is told to all who wait, and the first to ask gets the lock. There is no queue at the server, so each
/// waiter estimates its place: how many were there when it came, less the turns that it has heard pass since. Who is
/// due asks next to at once. The others give those ahead of them time to ask, so that waiting longer never means asking
/// later.
class Place {
 public:
  /// For each place near the front; far above what a message needs to reach one client after another.
  static constexpr Duration kStep = std::chrono::microseconds(300);
  /// The same where clients of other libraries want it too: a JVM takes so long from a message to its attempt.
  static constexpr Duration kStrangersStep = std::chrono::microseconds(1500);
  /// So many places are near. Who is farther back asks only if the releases stop coming as they came, since whoever
  /// asks just when the lock is released comes before those who are due.
  static constexpr int kNear = 8;
  static constexpr Duration kLongestPause = milliseconds(20);
  static constexpr Duration kFarStep = std::chrono::microseconds(200);
  static constexpr int kMostFar = 50;
  /// Who is overdue by this much does not wait at all; who is just due waits so many small steps.
  static constexpr int kOverdue = 4;
  static constexpr Duration kSmallStep = std::chrono::microseconds(20);
  /// No delay is longer, so the lock lies idle for no longer, should all who are ahead be gone.
  static constexpr Duration kLongest = kNear * kStrangersStep + kLongestPause + kMostFar * kFarStep;
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  /// `turn`: releases that follow each other faster are of one client (Tenure). `chance`: in [0, 1).
  Place(Duration turn, double chance) : turn_(turn), chance_(chance) {}

  bool known() const { return ahead_ >= 0; }
  /// So many are there besides. The first word says how many were ahead; later ones, that there cannot be more.
  void found(std::int64_t others);
  /// There are others, and nobody says how many: counts as near, and chance decides, less and less.
  void guess();
  void on_release(TimePoint now);

  /// From a release until the next attempt. `limit`: no more than so many were ahead. `strangers`: some of them may be
  /// of another library, and slower.
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
  Duration between_ = kLongestPause;  // the two latest releases
};

/// What a client learns from its waits for one lock: not everybody who listens wants it, so places may be much better
/// than they look.
class PlaceLimit {
 public:
  /// One more wait is over.
  void on_end(const Place& place);
  int limit() const { return turns_ == Place::kNoLimit ? Place::kNoLimit : 2 * turns_ + 2; }

 private:
  int turns_ = Place::kNoLimit;  // waited, of late
};

}  // namespace holdfast::engine
