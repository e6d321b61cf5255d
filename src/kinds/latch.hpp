// SPDX-License-Identifier: Apache-2.0
// Typed calls of the count-down latch's transitions (docs/wire.md section 13). Calls that change something may have a
// key by which the server recognises them (Once); without one they must be sent only once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kinds/calls.hpp"

namespace holdfast::wire::latch {

/// Messages on the channel: open, which lets waiters go; closed or gone, which concerns nobody.
inline constexpr std::string_view kOpen = "0";
inline constexpr std::string_view kClosed = "1";

/// The channel is Redisson's, which puts braces around the name even if the name has its own.
LockNames names(std::string raw_name);
/// Whether a latch of this name can be used in a cluster by both Redisson and Holdfast: its channel must be in its
/// slot. That is so if there is no `}` in the raw name, since a hash tag would apply to the latch, but not to the
/// channel.
bool fits_cluster(std::string_view raw_name);

/// It refers to data of its caller.
struct CountCall {
  const LockNames& names;
  std::int64_t count = 1;  ///< From 1.
  std::optional<Once> once{};
  Publish publish = Publish::publish;
};
/// Makes a latch that opens after this many steps. The reply: 1, or 0 if there is one already. An error for a count
/// below 1.
base::Command set(const CountCall& call);
/// The reply: how many are left; 0: it is open, or there is none.
base::Command count_down(const CountCall& call);
/// It refers to data of its caller.
struct RemoveCall {
  const LockNames& names;
  std::optional<Once> once{};
  Publish publish = Publish::publish;
};
/// The reply: 1, or 0 if there was none. Does not release waiters.
base::Command remove(const RemoveCall& call);

/// For the three above. Empty: the reply is invalid, or an error.
std::optional<std::int64_t> decode_number(const base::Reply& reply);

base::Command count(std::string_view key);  ///< GET: WRONGTYPE shows
/// 0: it is open, or there is none. Empty: the reply is not a count, so something else is there.
std::optional<std::int64_t> decode_count(const base::Reply& reply);

}  // namespace holdfast::wire::latch
