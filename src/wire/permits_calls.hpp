// Typed calls of the leased semaphore's transitions (docs/wire.md section 12): permits that have an id and a lease
// each. All of them may be sent again: a permit is known by its id. What makes a semaphore and adds to it is
// semaphore::set and semaphore::add.
//
// An owner's text is here one of two: `<uuid>:<number>`, from which the ids of as many permits as it asks for follow;
// or the ids themselves, 32 hexadecimal digits each, with commas between, as a grant calls it and as Redisson's users
// have them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/calls.hpp"
#include "wire/renewal.hpp"

namespace holdfast::wire::permits {

/// So many permits an owner can have; scripts have no room for many more arguments.
inline constexpr std::uint32_t kMostPermits = 1000;
/// The lease of a permit that has no end: Redisson's, where none is given.
inline constexpr std::chrono::milliseconds kForEver{-1};

/// As semaphore::names.
LockNames names(std::string raw_name);
/// Redisson's key: a sorted set of ids, 16 bytes each, and when their leases are over, in ms since 1970.
std::string expiries(std::string_view key);

/// The ids of an owner's permits, 16 bytes each. Of `<uuid>:<number>`: the UUID, with number and index added to its
/// second half, so that the first half tells the client. Empty: the text is neither.
std::vector<std::string> ids_of(const Owner& owner);
/// 32 hexadecimal digits: what Redisson's users call a permit. Of an id of another size, as Redisson before 3.17
/// writes, its bytes.
std::string shown(std::string_view id);
/// Of a permit that is shown so, what the UUID of its client begins with if that is Holdfast's: its first half. Empty:
/// it is no permit.
std::string client_begin(std::string_view shown);

/// As many permits as the owner asks for, at once; the lease may be kForEver. Of one semaphore. Busy for as long as the
/// first lease lasts; -1 ms: none of them ends.
base::Command acquire(const AcquireCall& call);
/// Granted, the owner is called by the ids of its permits.
AcquireReply decode_acquire(const base::Reply& reply);
/// Gives back those that are still there. The reply is read by wire::decode_release; empty: one of them was not.
base::Command release(const ReleaseCall& call);
/// The permits of this owner, or of everybody. The reply: 1, or 0 if there were none.
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);
/// Sets the lease, which may become shorter, of holds whose permits are all still there; of one hold it is Redisson's
/// updateLeaseTime. An owner as a grant calls it. The reply is read by wire::decode_renew.
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

/// That there be so many in all. The reply, read by semaphore::decode_number: how many can be taken now; below 0 if
/// more are held than that.
base::Command set_total(const LockNames& names, std::int64_t permits, Publish publish = Publish::publish);

/// ZSCORE of the first of this owner's permits: nil, it has it no more. One whose lease is over may be there for a
/// while.
base::Command has_owner(std::string_view expiries, const Owner& owner);
/// ZCARD: how many are held, those whose lease is over among them.
base::Command count_held(std::string_view expiries);
/// How many there are, how many are held, and of at most so many which. Gives back those that are over, where it may.
base::Command look(const LockNames& names, std::size_t most, Publish publish = Publish::publish);

struct Permit {
  std::string id;                                   ///< As shown.
  std::optional<std::chrono::milliseconds> left{};  ///< Empty: it has no end.
};
struct Seen {
  std::int64_t available = 0;  ///< Below 0: more are held than there should be.
  std::int64_t held = 0;
  std::vector<Permit> permits{};  ///< Those first whose lease is over first.
};
/// Empty: there is no semaphore, or the reply makes no sense.
std::optional<Seen> decode_look(const base::Reply& reply);

}  // namespace holdfast::wire::permits
