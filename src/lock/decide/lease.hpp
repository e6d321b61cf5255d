// SPDX-License-Identifier: Apache-2.0
// The only arithmetic on leases: until when they last, when they are renewed and checked. Pure: times are inputs.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include <holdfast/options.hpp>

#include "base/clock.hpp"

namespace holdfast::engine {

using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;

constexpr milliseconds kShortestLease{10};
constexpr milliseconds kLongestLease = std::chrono::hours(24 * 365 * 10);

/// The lease of one hold, with all lengths decided.
struct LeaseTerms {
  milliseconds length{};
  bool renewed = true;
  std::optional<milliseconds> max_hold{};
  Acks acks{};
};

/// How much earlier than the server the holder stops trusting the lease: 1 % for clock drift, and 2 ms for the server's
/// rounding (the allowance of the Redlock description and its implementations).
constexpr Duration margin(milliseconds lease) { return Duration(lease) / 100 + milliseconds(2); }

/// The local deadline of a lease that was set by a command sent at `sent_at`.
constexpr TimePoint lease_end(TimePoint sent_at, milliseconds lease) { return sent_at + lease - margin(lease); }

/// When a lease set at `set_at` or earlier has certainly expired at the server.
constexpr TimePoint gone_by(TimePoint set_at, milliseconds lease) { return set_at + lease + margin(lease); }

constexpr Duration renew_after(milliseconds lease) { return Duration(lease) / 3; }
/// Pause after a failed renewal, short enough for many retries in the rest of the lease.
constexpr Duration retry_after(milliseconds lease) {
  return std::clamp<Duration>(Duration(lease) / 20, milliseconds(5), std::chrono::seconds(2));
}
/// How long to wait for a renewal's reply before a retry.
constexpr Duration renewal_timeout(milliseconds lease, Duration command_timeout) {
  return std::min(std::max<Duration>(Duration(lease) / 6, milliseconds(10)), command_timeout);
}
/// How long a command may be resent if repetitions start within `until_over`, each with its own time limit.
constexpr milliseconds repeated_for(Duration until_over, Duration command_timeout) {
  return std::chrono::ceil<milliseconds>(std::max(until_over, Duration{}) + command_timeout);
}
/// For kinds that no lease ends: how long after an acquire was first sent its undo may begin once more. In trouble the
/// acquire is repeated for `patience`, and its last attempt may take a command's time; the undo has as much after that.
constexpr milliseconds undone_for(Duration patience, Duration command_timeout) {
  return std::clamp<milliseconds>(std::chrono::ceil<milliseconds>(patience + 2 * command_timeout), kShortestLease,
                                  kLongestLease);
}
/// How old a hold must be for its keys to be watched: before its first renewal, and only if it lasts.
constexpr Duration watch_after(milliseconds lease) {
  return std::min<Duration>(Duration(lease) / 6, std::chrono::seconds(1));
}
/// Shorter leases are not watched, since renewals notice a loss within a tenth of a second.
constexpr milliseconds kShortestWatched{300};
/// Renewals due within this time are sent together, so that holds taken at different times share commands.
constexpr Duration batching_window(milliseconds lease) { return renew_after(lease) / 10; }
/// In a cluster a command is for one slot. Renewals due in the slot within this time are sent with those due now. It is
/// half the time between two renewals: of two holds one is always due that soon after the other, so that all holds of a
/// slot soon share a command.
constexpr Duration slot_window(milliseconds lease) { return renew_after(lease) / 2; }

/// When to check a watched key again.
/// A look checks at the server whether a hold still has its key, and makes the server report the key's next change,
/// once. At most one look is planned or under way: it covers every change reported before its answer, since both arrive
/// in order. Looks in quick succession, as when the server forgets which keys to watch, are spaced out more and more;
/// changes by our own renewals are too rare for that.
class Look {
 public:
  /// The least pause between two looks, at first.
  static constexpr Duration kShortestPause = milliseconds(20);
  /// The most that this pause grows to for a lease of this length, so that a storm of changes costs four looks per
  /// renewal.
  static constexpr Duration longest_pause(milliseconds lease) {
    return std::clamp<Duration>(renew_after(lease) / 4, kShortestPause, std::chrono::seconds(10));
  }

  /// The key has changed, or may have. Returns when to look; empty: a look is already planned or under way.
  std::optional<TimePoint> on_changed(TimePoint now, milliseconds lease);
  void on_asked(TimePoint now);
  /// No look is planned, and the next change leads to a look at once, as for a new key.
  bool is_over(TimePoint now) const { return !open_ && now - asked_at_ > 2 * pause_; }
  /// It is still ours.
  void on_ours() { open_ = false; }
  /// There was no answer, or one that is being verified. Returns when to look again.
  TimePoint on_open(TimePoint now, milliseconds lease);

 private:
  /// Returns the pause after the latest look, and lengthens the next one.
  Duration take_pause(milliseconds lease);

  TimePoint asked_at_{};
  Duration pause_ = kShortestPause;
  bool open_ = false;  // a look is planned or under way
};

}  // namespace holdfast::engine
