// Typed calls of the semaphore's transitions (docs/wire.md section 11): a number of permits that belong to nobody. Each
// call that changes something may be given a key by which the server knows it again (Once); without one it must be sent
// only once.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/calls.hpp"

namespace holdfast::wire::semaphore {

/// The channel is the one on which Redisson tells of permits, those of leased semaphores too.
LockNames names(std::string raw_name);

/// As many permits as the owner asks for, at once. Of one semaphore. The reply is read by wire::decode_acquire; busy,
/// it has no time: nobody can tell.
base::Command acquire(const AcquireCall& call);
/// Gives them back, if the semaphore is still there. The reply is read by wire::decode_release; empty: it is not, or
/// what this undoes was not granted, and is not granted any more if it comes late.
base::Command release(const ReleaseCall& call);

/// A change of the number that is not the end of a hold. It refers to what its caller has.
struct ChangeCall {
  const LockNames& names;
  std::int64_t permits = 1;
  std::optional<Once> once{};
  Publish publish = Publish::publish;
};
/// release(n) of Redisson, and addPermits(n), which may be below 0: a semaphore that is not there yet begins with them.
/// The reply: how many there are now, perhaps below 0.
base::Command add(const ChangeCall& call);
/// Adds them only to a semaphore that is there. The reply is read by wire::decode_release; empty: it is not.
base::Command add_if_there(const ChangeCall& call);
/// Makes a semaphore, for that time or for ever. The reply: 1, or 0 if there is one already.
base::Command set(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives = {});
/// Takes all permits that there are. The reply: how many those were, perhaps below 0.
base::Command drain(const LockNames& names, const std::optional<Once>& once = {});

base::Command available(std::string_view key);  ///< GET: WRONGTYPE shows
/// Perhaps below 0; 0 as well if there is no semaphore. Empty: the reply is no number, so something else is there.
std::optional<std::int64_t> decode_available(const base::Reply& reply);
/// Of add, drain and set. Empty: the reply makes no sense, or it is an error.
std::optional<std::int64_t> decode_number(const base::Reply& reply);

}  // namespace holdfast::wire::semaphore
