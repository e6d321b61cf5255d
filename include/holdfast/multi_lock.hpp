// Several locks as one: all of them, or none.
#pragma once

#include <utility>
#include <vector>

#include <holdfast/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/simple_lock.hpp>

namespace holdfast {

/// Several locks, taken and given back together. Re-entrant for threads if its members are. Never holds some while
/// waiting for others, so no locking order, here or elsewhere, can make it part of a deadlock; but it may wait long if
/// single members are heavily contended.
///
/// Locks of one client are taken with one command, which the server carries out as a whole; in a cluster this applies
/// to locks of one slot, such as names that share a hash tag (`{order}:a`, `{order}:b`). Locks of several slots or
/// clients are requested one slot or client after another, in the order of addresses and slots; if one is taken, those
/// already granted are released, and the next round waits for a wake-up. If the wait fails, the error's cause names a
/// lock that was taken. Others see ordinary locks with the same owner: Redisson's RLock and MultiLock exclude it and
/// are excluded by it. A thread that holds a member on its own must not take the whole: it would wait for itself. With
/// several clients, the one whose address comes first serves the lock with its threads, settings and observer, and
/// releases it when that client is closed. If another client is closed, or its io_context does not run, calls do not
/// block: nothing can be granted (`no_quorum`, whose cause says so), and a hold is lost at its deadline. That client's
/// part of the hold stays for the rest of its lease: releasing it while the hold stands would let somebody else in. So
/// release the hold before closing that client. A lock that is named through two clients of the same server is refused:
/// Error(invalid_argument), detected as for RedLock. Lost as soon as one member is lost; `release()` releases what is
/// left. Re-entry is counted per object and its copies, except that all MultiLocks of the same names of one client and
/// slot are one. Wire cost: for locks of one client and slot as Lock, whatever their number; else 1 command per client
/// and slot.
class HOLDFAST_EXPORT MultiLock : public BasicLock {
 public:
  /// The defaults are those given here; its members' do not apply. Throws Error(invalid_argument) if `members` is
  /// empty, or for options out of range.
  explicit MultiLock(const std::vector<Lock>& members, AcquireOptions defaults = {});
  explicit MultiLock(const std::vector<SimpleLock>& members, AcquireOptions defaults = {});

  /// See BasicLock.
  MultiLock with(AcquireOptions defaults) const { return MultiLock(parts_with(std::move(defaults))); }

 private:
  using BasicLock::BasicLock;
};

}  // namespace holdfast
