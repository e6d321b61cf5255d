// A lock whose every grant has a number, wire-compatible with Redisson's RFencedLock.
#pragma once

#include <cstdint>
#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::fenced_lock. As Lock, and each grant has a token: a number larger than those of all grants before it.
/// Pass it along with each write to a store. A store that rejects tokens lower than the highest it has seen (fence.hpp,
/// docs/fencing.md) thus rejects an owner that has lost the lock without noticing.
///
/// The token: `Hold::token()`, or `this_thread().token()`. It stays the same through renewals, and through
/// re-entry, which is counted in the client (Redisson takes a new one for each `lock()`). It may grow by more than one
/// from grant to grant: an acquire whose reply was lost is sent again, and Redisson's re-entry counts too. The lock is
/// never passed on inside a client: every grant comes from the server.
/// The counter is a key of its own, without an expiry, that outlives the lock. It is only as durable as the server's
/// data: if those are lost or rolled back (a restart without persistence, FLUSHDB, a failover without acks, Redisson's
/// `delete()`), tokens start again or repeat.
///
/// Errors, waiting, cancellation and threads: as Lock. `wrong_type` also if the counter's key holds something other
/// than a number. Not a member of MultiLock or RedLock, which have no single counter. Wire cost: as Lock, plus 1 INCR
/// inside the same script; handing it to a waiter in the same client costs a round trip, which it does not with Lock.
/// Redisson's RFencedLock of the same name is the same lock with the same counter. Source: docs/wire.md section 2.
class HOLDFAST_EXPORT FencedLock : public KeyLock {
 public:
  /// The token of the latest grant to anyone, according to the server; 0 if there was none (Redisson: getToken). Not
  /// for stores: by the time it arrives it may be another owner's. 1 command. Throws Error.
  std::int64_t latest_token() const;

  /// See BasicLock.
  FencedLock with(AcquireOptions defaults) const { return FencedLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
