// Several locks as one: all of them, or none.
#pragma once

#include <vector>

#include <holdfast/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/simple_lock.hpp>

namespace holdfast {

/// Several locks, taken and given back together. Re-entrant in its thread face if its members are. Never holds some
/// while it waits for others, so no order of locking, here or elsewhere, can make it part of a deadlock; but it can be
/// kept waiting for long where single members are wanted often.
///
/// Locks of one client are taken with one command, which the server carries out as a whole. Locks of several clients
/// are asked for one client after another, in the order of their addresses; if one is taken, those already had are
/// given back, and the next round waits for a wake. When it waits in vain, the error's cause names a lock that was
/// taken.
/// Others see ordinary locks with the same owner: Redisson's RLock and MultiLock exclude it and are excluded.
/// A thread that holds a member by itself must not take the whole: it would wait for itself.
/// Of several clients the one whose address comes first serves it with its threads, settings and observer, and gives it
/// back when it is closed; a client that was closed before it leaves its own part to the lease. So release first.
/// Lost as soon as one member is lost; `release()` gives back what is left. Re-entry counts per object and its copies,
/// except that all MultiLocks of the same names of one client are one.
/// Wire cost: for locks of one client as Lock, whatever their number; else 1 command per client.
class HOLDFAST_EXPORT MultiLock : public BasicLock {
 public:
  /// Throws Error(invalid_argument) if there is no lock.
  explicit MultiLock(const std::vector<Lock>& members, AcquireOptions defaults = {});
  explicit MultiLock(const std::vector<SimpleLock>& members, AcquireOptions defaults = {});
};

}  // namespace holdfast
