// Typed calls of the count-down latch's transitions (docs/wire.md section 13). Calls that change something may be given
// a key by which the server knows them again (Once); without one they must be sent only once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/calls.hpp"

namespace holdfast::wire::latch {

/// What is told on the channel: it is open, and who waits may go; it is closed, or gone, which is news for nobody.
inline constexpr std::string_view kOpen = "0";
inline constexpr std::string_view kClosed = "1";

/// The channel is Redisson's, which puts braces around the name whatever it has of its own.
LockNames names(std::string raw_name);
/// Whether such a latch can be used in a cluster by Redisson and Holdfast alike: its channel lies in its slot. That is
/// so if there is no `}` in the raw name: a tag would be the latch's, but not the channel's.
bool fits_cluster(std::string_view raw_name);

/// It refers to what its caller has.
struct CountCall {
  const LockNames& names;
  std::int64_t count = 1;  ///< From 1.
  std::optional<Once> once{};
  Publish publish = Publish::publish;
};
/// Makes a latch that opens after so many steps. The reply: 1, or 0 if there is one already. An error for a count
/// below 1.
base::Command set(const CountCall& call);
/// The reply: how many are left; 0: it is open, or there is none.
base::Command count_down(const CountCall& call);
/// The reply: 1, or 0 if there was none. Who waits is not let go by that.
base::Command remove(const LockNames& names, Publish publish = Publish::publish);

/// Of the three. Empty: the reply makes no sense, or it is an error.
std::optional<std::int64_t> decode_number(const base::Reply& reply);

base::Command count(std::string_view key);  ///< GET: WRONGTYPE shows
/// 0: it is open, or there is none. Empty: the reply is no count, so something else is there.
std::optional<std::int64_t> decode_count(const base::Reply& reply);

}  // namespace holdfast::wire::latch
