// SPDX-License-Identifier: Apache-2.0
// Typed calls of the semaphore's transitions (docs/wire.md section 11): a number of permits that belong to nobody. Each
// call that changes something may have a key by which the server recognises it (Once); without one it must be sent only
// once.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kinds/calls.hpp"

namespace holdfast::wire::semaphore {

/// The channel on which Redisson announces permits, including those of leased semaphores.
LockNames names(std::string raw_name);

/// Takes as many permits as the owner requests, at once, from one semaphore. If busy, the reply has no time, since that
/// is unknown.
base::Command acquire(const AcquireCall& call);
AcquireReply decode_acquire(const base::Reply& reply);
/// Gives them back, if the semaphore is still there. The reply is read by wire::decode_release; empty: it is not, or
/// the acquire that this undoes was not granted, and will not be if it arrives late.
base::Command release(const ReleaseCall& call);

/// A change of the number that is not the end of a hold. It refers to data of its caller.
struct ChangeCall {
  const LockNames& names;
  std::int64_t permits = 1;
  std::optional<Once> once{};
  Publish publish = Publish::publish;
};
/// release(n) of Redisson, and addPermits(n), which may be below 0: a missing semaphore is created with this number.
/// The reply: how many there are now, perhaps below 0.
base::Command add(const ChangeCall& call);
/// Adds them only to an existing semaphore. The reply is read by wire::decode_release; empty: it is not.
base::Command add_if_there(const ChangeCall& call);
/// Makes a semaphore, for that time or for ever. The reply: 1, or 0 if there is one already.
base::Command set(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives = {});
/// The reply: 1, or 0 if there was none.
base::Command remove(const LockNames& names, const std::optional<Once>& once = {}, Publish publish = Publish::publish);
/// Takes all permits. The reply: how many there were, perhaps below 0.
base::Command drain(const LockNames& names, const std::optional<Once>& once = {});

base::Command available(std::string_view key);  ///< GET: WRONGTYPE shows
/// May be below 0; also 0 if there is no semaphore. Empty: the reply is not a number, so something else is there.
std::optional<std::int64_t> decode_available(const base::Reply& reply);
/// For add, drain, set and remove. Empty: the reply is invalid, or an error.
std::optional<std::int64_t> decode_number(const base::Reply& reply);

}  // namespace holdfast::wire::semaphore
