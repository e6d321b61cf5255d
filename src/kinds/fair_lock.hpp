// SPDX-License-Identifier: Apache-2.0
// Typed calls of the fair lock's transitions (docs/wire.md section 2). Its hash, renewal and holder queries are the
// plain lock's; the queue is its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kinds/calls.hpp"

namespace holdfast::wire::fair {

/// How long a Redisson waiter that is next may leave the lock free, as written into its deadline: its
/// `fairLockWaitTimeout`, unless changed.
inline constexpr std::chrono::milliseconds kRedissonsTurn{300'000};

/// Redisson's keys: the waiters in order; and until when each keeps its place without sending anything.
std::string queue(std::string_view key);
std::string deadlines(std::string_view key);
/// The channel is the lock's; messages to a single waiter have wake_channel().
LockNames names(std::string raw_name);
/// The channel on which only this waiter is notified that it is its turn.
std::string wake_channel(const LockNames& names, const Owner& waiter);

/// For one lock. If busy, the owner is queued, provided the call has a turn; the reply's time is that of the lock, or
/// of another's turn. Who is queued is told how many wait, as if they were listeners.
base::Command acquire(const AcquireCall& call);
/// The reply is read by wire::decode_release.
base::Command release(const ReleaseCall& call);
/// The reply: 1, or 0 if it was not in the queue.
base::Command leave(const LeaveCall& call);
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner = {},
                            Publish publish = Publish::publish);

/// Who has it and who waits for it: the first waiters, up to this many.
base::Command line(std::string_view key, std::size_t most);

/// Empty if it is free and nobody waits, or the reply is invalid.
Line decode_line(const base::Reply& reply);

}  // namespace holdfast::wire::fair
