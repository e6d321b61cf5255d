// The only arithmetic on leases. Pure: times are inputs.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include <holdfast/acks.hpp>
#include <holdfast/lease.hpp>

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

}  // namespace holdfast::engine
