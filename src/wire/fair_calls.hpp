// Typed calls of the fair lock's transitions (docs/wire.md section 2). Its hash is the plain lock's, and so are its
// renewal and the questions about its holder; the queue is its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/calls.hpp"

namespace holdfast::wire::fair {

/// How long a waiter of Redisson's that is next may leave a free lock; it has written that into its deadline: its
/// `fairLockWaitTimeout`, unless changed.
inline constexpr std::chrono::milliseconds kRedissonsTurn{300'000};

/// Redisson's keys: those who wait, in order; and until when each of them keeps its place unheard.
std::string queue(std::string_view key);
std::string deadlines(std::string_view key);
/// The channel is the lock's; nobody is told anything on it alone.
LockNames names(std::string raw_name);
/// On which this waiter, and no other, is told that it is its turn.
std::string wake_channel(const LockNames& names, const Owner& waiter);

/// Of one lock. Busy, it is queued, if the call has a turn; the time of the reply is that of the lock, or of another's
/// turn. Nobody is counted.
base::Command acquire(const AcquireCall& call);
/// The reply is read by wire::decode_release.
base::Command release(const ReleaseCall& call);
/// The reply: 1, or 0 if it was not in the queue.
base::Command leave(const LeaveCall& call);
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);

/// Who has it and who waits for it: the first of them, at most so many.
base::Command line(std::string_view key, std::size_t most);

/// Nobody, if it is free and nobody waits, or the reply makes no sense.
Line decode_line(const base::Reply& reply);

}  // namespace holdfast::wire::fair
