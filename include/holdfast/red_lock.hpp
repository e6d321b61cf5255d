// One lock on several independent servers, of which a majority must grant it (Redlock).
#pragma once

#include <utility>
#include <vector>

#include <holdfast/export.hpp>
#include <holdfast/multi_lock.hpp>

namespace holdfast {

/// A lock that needs a majority of N independent servers (not replicas of each other): survives the loss of any
/// minority. Re-entrant for threads if its members are.
///
/// All servers are asked at the same time, each given `Config::node_timeout`; the lock is granted when a majority has
/// granted it and time is left: valid_for = lease - elapsed - 1 % - 2 ms, counted from before the first send. Otherwise
/// it is released everywhere. Two callers that ask at the same moment may both fail; each retries after a short random
/// delay. Renewals need a majority too; a server of the minority that has lost the lock, for example in a restart, is
/// then asked to take it again.
/// Others see an ordinary lock on each server: Redisson's RedLock over the same servers or, with SimpleLocks,
/// go-redsync and node redlock exclude it and are excluded by it.
/// If it is refused because too few servers answer, Error(no_quorum) carries each server's vote in `cause()`. For what
/// happens when a server restarts empty, and how to avoid it, see docs/guarantees.md.
/// The first client serves it with its threads, settings and observer, and it ends with that client. Another client
/// that is closed, or whose io_context does not run, counts as a server that is down. The same server under two
/// addresses would have two votes: Error(invalid_argument), detected by the servers' run ids (INFO, once per
/// connection; undetected without permission for it). So the first grant waits for every server that answers in time.
/// Re-entry is counted, and local waiters queue, per object and its copies: make one and copy it. Wire cost: 1 command
/// per server to take and 1 to give back; the time of the slowest server of the fastest majority. Source: the Redis
/// documentation of distributed locks (Redlock).
class HOLDFAST_EXPORT RedLock : public BasicLock {
 public:
  /// One lock per server; the servers are those of the locks' clients, so each must come from a client of its own.
  /// Members that are MultiLocks must each be of one client, and of one slot if that is of a cluster. The
  /// defaults are those given here; its members' do not apply. Throws Error(invalid_argument).
  explicit RedLock(const std::vector<Lock>& members, AcquireOptions defaults = {});
  explicit RedLock(const std::vector<SimpleLock>& members, AcquireOptions defaults = {});
  explicit RedLock(const std::vector<MultiLock>& members, AcquireOptions defaults = {});

  /// See BasicLock.
  RedLock with(AcquireOptions defaults) const { return RedLock(parts_with(std::move(defaults))); }

 private:
  using BasicLock::BasicLock;
};

}  // namespace holdfast
