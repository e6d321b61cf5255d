// A lock whose releases are not published, wire-compatible with Redisson's RSpinLock.
#pragma once

#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::spin_lock. As Lock, at the same key, but without messages: a release publishes nothing, and a waiter
/// subscribes to nothing. It polls instead: after `Config::spin_min` (1 ms), then after twice that
/// (`Config::spin_multiplier`), and so on up to `Config::spin_max` (128 ms), and when the lease is due to end. Those
/// are the values of Redisson's RSpinLock, which is the same lock.
///
/// For a lock that is held briefly and rarely waited for, on a server where messages are expensive (a cluster that
/// sends them to all nodes) or not permitted: the user needs no permission for channels. For anything else use Lock,
/// whose waiters send fewer commands and are notified sooner.
///
/// Inside a client waiters are served first in, first out; only the first polls, and it notices a release by its own
/// client at once. Between clients there is no order: whoever tries just when it is free gets it, so a client that
/// retakes it at once leaves others little chance. The lock is never passed on inside a client.
///
/// Errors, cancellation, threads and re-entry: as Lock; `pipelined_release` has no effect. Not a member of MultiLock or
/// RedLock. Wire cost: for a free lock 1 command to take, 1 to release; a wait 1 for each poll. Lock and Redisson's
/// RLock of the same name exclude it and are excluded by it, but its release does not wake them: they notice it with
/// their `Config::safety_poll`, Redisson's when the lease that they saw is over. Source: docs/wire.md section 2.
class HOLDFAST_EXPORT SpinLock : public KeyLock {
 public:
  /// See BasicLock.
  SpinLock with(AcquireOptions defaults) const { return SpinLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
