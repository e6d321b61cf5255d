// SPDX-License-Identifier: Apache-2.0
// Typed calls of the leased semaphore's transitions (docs/wire.md section 12): permits that have an id and a lease
// each. All of them may be resent, since a permit is identified by its id; but for the changes of the number, which the
// server recognises by a key (Once).
//
// An owner's text has one of two forms here: `<uuid>:<number>`, from which the ids of all its permits are derived; or
// the ids themselves, 32 hexadecimal digits each, separated by commas, as a grant returns them and as Redisson's users
// know them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/calls.hpp"
#include "kinds/semaphore.hpp"

namespace holdfast::wire::permits {

/// The most permits that an owner can have; scripts cannot take many more arguments.
inline constexpr std::uint32_t kMostPermits = 1000;
/// The lease of a permit without expiry: Redisson's default.
inline constexpr std::chrono::milliseconds kForEver{-1};

/// As semaphore::names.
LockNames names(std::string raw_name);
/// How Redisson's key ends, behind the semaphore's key, or that in braces if it has none.
inline constexpr std::string_view kExpiriesEnd = ":timeout";
/// Redisson's key: a sorted set of ids, 16 bytes each, and when their leases are over, in ms since 1970.
std::string expiries(std::string_view key);
/// The keys whose expiries have this one: none, one, or, as `a` and `{a}`, two.
std::vector<std::string> keys_of(std::string_view expiries);

/// The ids of an owner's permits, 16 bytes each. From `<uuid>:<number>`: the UUID, with number and index added to its
/// second half, so that the first half identifies the client. Empty: the text has neither form, or names one twice, or
/// more than kMostPermits.
std::vector<std::string> ids_of(const Owner& owner);
/// 32 hexadecimal digits: what Redisson's users call a permit. For an id of another size, as written by Redisson before
/// 3.17, its bytes.
std::string shown(std::string_view id);

/// Takes as many permits as the owner requests, at once, from one semaphore; the lease may be kForEver. The busy time
/// is that of the lease that ends first; -1 ms: none of them ends.
base::Command acquire(const AcquireCall& call);
/// If granted, the owner becomes the ids of its permits. If busy, it says whether releases of others can help at all.
AcquireReply decode_acquire(const base::Reply& reply);
/// Gives back those that are still there. The reply is read by wire::decode_release; empty: one of them was not.
base::Command release(const ReleaseCall& call);
/// The permits of this owner, or of everybody. The reply: 1, or 0 if there were none.
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);
/// Sets the lease, which may become shorter, of holds whose permits are all still there; for one hold it is Redisson's
/// updateLeaseTime. Owners as returned by a grant. The reply is read by wire::decode_renew.
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

/// Changes of the number. The reply is read by semaphore::decode_number. Permits that are held count, also those of a
/// semaphore that was removed meanwhile.
using semaphore::ChangeCall;
/// Makes a semaphore. 1, or 0 if there is one already. With a time to live, one that is made has it, and an earlier end
/// is put off; one without an end stays so.
base::Command set(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives = {});
/// Sets the total: how many can be taken now; below 0 if more are held than that. The time to live as for set().
base::Command set_total(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives = {});
/// How many can be taken now, perhaps below 0; makes a missing semaphore.
base::Command add(const ChangeCall& call);
/// Removes the number; what is held stays so. 1, or 0 if there was none.
base::Command remove(const LockNames& names, const std::optional<Once>& once = {}, Publish publish = Publish::publish);

/// ZSCORE of the first of this owner's permits: nil, it no longer has it. A permit whose lease is over may still be
/// there for a while.
base::Command has_owner(std::string_view expiries, const Owner& owner);
/// ZCARD: how many are held, those whose lease is over among them.
base::Command count_held(std::string_view expiries);
/// How many there are, how many are held, and up to `most` of those. Gives back expired ones, where permitted.
base::Command look(const LockNames& names, std::size_t most, Publish publish = Publish::publish);

struct Permit {
  std::string id;                                   ///< As shown.
  std::optional<std::chrono::milliseconds> left{};  ///< Empty: no expiry.
};
struct Seen {
  std::int64_t available = 0;  ///< Below 0: more are held than there should be.
  std::int64_t held = 0;
  std::vector<Permit> permits{};  ///< In the order in which their leases end.
};
/// Empty: there is no semaphore, or the reply is invalid.
std::optional<Seen> decode_look(const base::Reply& reply);

}  // namespace holdfast::wire::permits
