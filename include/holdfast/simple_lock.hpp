// The plain lock in common use: SET key token NX PX lease, and compare-and-delete.
#pragma once

#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::simple_lock. Excludes, and is excluded by, every client of this family: redis-py's Lock, go-redsync,
/// node redlock, and programs that send the commands themselves. The same engine as Lock: renewed by
/// compare-and-PEXPIRE, with the same loss signal.
///
/// Not re-entrant: `lock()` by a thread that holds it throws Error(would_deadlock), `try_lock` returns false.
/// Waiting: this family does not announce releases. Holdfast's clients do, on a channel of their own, so among
/// themselves they wake each other as Lock does; because of the others, a waiter also polls, first after
/// `Config::poll_min`, then less and less often, down to once per `Config::poll_max`, and when the key is due to
/// expire. A client that may not subscribe waits by polling alone; one that may not publish leaves the others to poll.
/// Wire cost: as Lock. A name belongs to one kind: a Lock's key is a hash, this one a string, and each fails with
/// `wrong_type` on the other. Other strings cannot be distinguished from locks: see force_release(). Source: the Redis
/// documentation of SET (pattern "a simple locking system").
class HOLDFAST_EXPORT SimpleLock : public KeyLock {
 public:
  /// See BasicLock.
  SimpleLock with(AcquireOptions defaults) const { return SimpleLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
