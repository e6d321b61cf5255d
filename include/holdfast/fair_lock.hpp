// A lock that is granted in the order in which it was asked for, wire-compatible with Redisson's RFairLock.
#pragma once

#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::fair_lock. As Lock, and those who wait get it in the order in which their first command reached the
/// server: threads, holds and coroutines of all clients, Redisson's among them, each in a place of its own in the queue
/// that the server keeps. It is never passed on inside a client. Who does not wait (`try_lock`, `try_acquire`) gets it
/// only if it is free and nobody is queued, and is not queued itself.
///
/// A waiter keeps its place for as long as it lives, however long the lock is held, and leaves the queue when it stops
/// waiting: at its limit, when cancelled, when its client is closed. What is next and does nothing about a free lock
/// loses its place after a turn (`Config::fair_turn`, 1 s): so long a process that was killed, stopped or cut off keeps
/// the others waiting, from the release on; up to twice as long if its connection is still open and the release was
/// Redisson's or forced. If it goes on later, it is queued again, at the end. A waiter of Redisson's has a turn of 5
/// minutes (its fairLockWaitTimeout), as with Redisson; and so has one of a client without a name
/// (`Config::client_name`), which the server cannot tell from Redisson's. All times are the server's. A lost connection
/// costs no place if it is back within a turn or while the lock is held.
///
/// Errors, waiting, cancellation, threads and re-entry: as Lock. `wrong_type` also if there is something else than a
/// queue at the queue's keys. Not a member of MultiLock or RedLock. Wire cost: for a free lock 1 command to take, 1 to
/// release; a contended wait 2 writes, 1 command when it is its turn, 1 when it ends in vain, and meanwhile one a turn
/// (or each `safety_poll`, if that is less), which keeps the place. On the same name with Lock or Redisson's RLock it
/// is one at a time, but those jump the queue. In a cluster the name needs no brace, or a hash tag. Source:
/// docs/wire.md section 10.
class HOLDFAST_EXPORT FairLock : public KeyLock {
 public:
  /// See BasicLock.
  FairLock with(AcquireOptions defaults) const { return FairLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
