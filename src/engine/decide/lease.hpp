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

/// A lease as one hold has it, with all lengths decided.
struct LeaseTerms {
  milliseconds length{};
  bool renewed = true;
  std::optional<milliseconds> max_hold{};
  Acks acks{};
};

/// How much earlier than the server the holder stops believing: clock drift of 1 %, and 2 ms for the server's rounding
/// (the allowance that the Redlock description and its implementations make).
constexpr Duration margin(milliseconds lease) { return Duration(lease) / 100 + milliseconds(2); }

/// The local deadline of a lease that was set by a command sent at `sent_at`.
constexpr TimePoint lease_end(TimePoint sent_at, milliseconds lease) { return sent_at + lease - margin(lease); }

/// When the server has certainly forgotten a lease that was set at `set_at` at the latest.
constexpr TimePoint gone_by(TimePoint set_at, milliseconds lease) { return set_at + lease + margin(lease); }

constexpr Duration renew_after(milliseconds lease) { return Duration(lease) / 3; }
/// Pause after a renewal that did not come through: many tries fit into the rest of the lease.
constexpr Duration retry_after(milliseconds lease) {
  return std::clamp<Duration>(Duration(lease) / 20, milliseconds(5), std::chrono::seconds(2));
}
/// How long to wait for a renewal's reply before trying again.
constexpr Duration renewal_timeout(milliseconds lease, Duration command_timeout) {
  return std::min(std::max<Duration>(Duration(lease) / 6, milliseconds(10)), command_timeout);
}
/// For how long a command can be sent again whose repetitions begin before `over`, each with so much time to be sent.
constexpr milliseconds repeated_for(Duration until_over, Duration command_timeout) {
  return std::chrono::ceil<milliseconds>(std::max(until_over, Duration{}) + command_timeout);
}
/// The same of an acquire: in trouble it is repeated for `patience`, its last attempt takes a command's time, and the
/// undo behind that goes on for a lease.
constexpr milliseconds acquire_repeated_for(milliseconds lease, Duration patience, Duration command_timeout) {
  return repeated_for(patience + command_timeout + lease + margin(lease), command_timeout);
}
/// How old a hold must be for its keys to be watched: before its first renewal, and only if it lasts.
constexpr Duration watch_after(milliseconds lease) {
  return std::min<Duration>(Duration(lease) / 6, std::chrono::seconds(1));
}
/// Of shorter leases none is watched: a renewal tells of a loss in a tenth of a second.
constexpr milliseconds kShortestWatched{300};
/// Renewals due within this time are sent together, so that holds taken at different times share commands.
constexpr Duration batching_window(milliseconds lease) { return renew_after(lease) / 10; }
/// In a cluster a command is for one slot. Whatever falls due in the slot within this time goes along with what is due
/// there, half of the time between two renewals: of two holds one is always that near behind the other, so that all of
/// a slot soon share a command.
constexpr Duration slot_window(milliseconds lease) { return renew_after(lease) / 2; }

}  // namespace holdfast::engine
