// A distributed, re-entrant lock, wire-compatible with Redisson's RLock.
#pragma once

#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::lock. Re-entrant for threads, unless it is made with `{.reentrant = false}`: then it matches Redisson's
/// getNonReentrantLock(), which is the same lock on the wire. Redisson and Holdfast exclude each other on the same
/// name. Wire cost: for a free lock 1 command to take, 1 to release; re-entry 0; a first contended wait 2 writes.
/// Server: Redis >= 6. Source: docs/wire.md sections 2 and 4.
class HOLDFAST_EXPORT Lock : public KeyLock {
 public:
  /// See BasicLock.
  Lock with(AcquireOptions defaults) const { return Lock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
