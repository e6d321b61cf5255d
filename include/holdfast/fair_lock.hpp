// A lock that is granted in order of request, wire-compatible with Redisson's RFairLock.
#pragma once

#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::fair_lock. As Lock, but waiters get it in the order in which their first command reached the server.
/// The server keeps one queue for the threads, holds and coroutines of all clients, Redisson's included. It is never
/// passed on inside a client. A caller that does not wait (`try_lock`, `try_acquire`) gets it only if it is free and
/// nobody is queued, and is not queued itself.
///
/// A waiter keeps its place for as long as it lives, however long the lock is held, and leaves the queue when it stops
/// waiting: at its limit, when cancelled, when its client is closed. A waiter that is next and does not take the free
/// lock loses its place after a turn (`Config::fair_turn`, 1 s). That is how long a process that was killed, stopped or
/// cut off delays the others, counted from the release; up to twice as long if its connection is still open and the
/// release was Redisson's or forced. If it resumes later, it is queued again at the end. A waiter of Redisson's has a
/// turn of 5 minutes (its fairLockWaitTimeout), as with Redisson; so has a waiter of a client without a name
/// (`Config::client_name`), which the server cannot distinguish from Redisson's. All times are the server's. A lost
/// connection costs no place if it is back within a turn or while the lock is held.
///
/// Errors, waiting, cancellation, threads and re-entry: as Lock. `wrong_type` also if the queue's keys hold something
/// other than a queue. Not a member of MultiLock or RedLock. Wire cost: for a free lock 1 command to take, 1 to
/// release; a contended wait 2 writes, 1 command when it is its turn, 1 when it ends without the lock, and meanwhile
/// one per turn (or per `safety_poll`, if that is less) to keep the place. Lock and Redisson's RLock of the same name
/// exclude it and are excluded by it, but they jump the queue. In a cluster the name needs no brace, or a hash tag.
/// Source: docs/wire.md section 10.
class HOLDFAST_EXPORT FairLock : public KeyLock {
 public:
  /// See BasicLock.
  FairLock with(AcquireOptions defaults) const { return FairLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
