// A lock whose every grant has a number, wire-compatible with Redisson's RFencedLock.
#pragma once

#include <cstdint>
#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::fenced_lock. As Lock, and each grant has a token: a number larger than those of all grants before it.
/// Whoever writes to a store hands it along, and a store that refuses what is lower than the highest that it has seen
/// (fence.hpp, docs/fencing.md) refuses an owner that has lost the lock and does not know yet.
///
/// The token: `Hold::token()`, or `this_thread().token()`. It stays the same through renewals, and through
/// re-entry, which is counted in the client (Redisson takes a new one for each `lock()`). It may grow by more than one
/// from grant to grant: an acquire whose reply was lost is sent again, and Redisson's re-entry counts too. The lock is
/// never passed on inside a client, so a release is always followed by a grant of the server's.
/// The counter is a key of its own, without an expiry, that outlives the lock. It is only as durable as the server's
/// data: if those are lost or rolled back (a restart without persistence, FLUSHDB, a failover without acks, Redisson's
/// `delete()`), tokens begin anew or come again.
///
/// Errors, waiting, cancellation and threads: as Lock. `wrong_type` also if there is something else than a number at
/// the counter's key. Not a member of MultiLock or RedLock, which have no one counter. Wire cost: as Lock, and 1 INCR
/// inside the same script; a waiter in the same client costs a round trip that with Lock it would not. Redisson's
/// RFencedLock of the same name is the same lock with the same counter. Source: docs/wire.md section 2.
class HOLDFAST_EXPORT FencedLock : public KeyLock {
 public:
  /// The token of the latest grant, to whomever, as the server has it; 0 if there has been none (Redisson: getToken).
  /// Not for stores: it may be another owner's by the time it arrives. 1 command. Throws Error.
  std::int64_t latest_token() const;

  /// See BasicLock.
  FencedLock with(AcquireOptions defaults) const { return FencedLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
