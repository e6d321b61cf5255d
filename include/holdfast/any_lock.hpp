// Any one of several locks, and which one it was.
#pragma once

#include <utility>

#include <holdfast/basic_lock.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

/// From Client::any_of: for one of several things that are as good as each other, such as GPUs, ports, test devices or
/// licences.
///
///     holdfast::Hold hold = client.any_of({"gpu:0", "gpu:1", "gpu:2"}).acquire();
///     use(hold.name());   // "gpu:1"
///
/// Each name is an ordinary lock: the result is a Hold of the Lock of that name, which excludes, and is excluded by,
/// anyone who takes that lock alone or in Redisson. The first that is free is taken, in the order given. A caller waits
/// only if none is free, until any of them is released. If the names are in several slots of a cluster, the slots are
/// tried one after another; each client starts with a different one, and a node that does not answer does not block
/// access to locks that are free elsewhere. With a hash tag (`{gpu}:0`) names share a slot.
///
/// Errors, waiting, cancellation and threads as Lock. Not re-entrant: a thread that holds one by `lock()` and tries to
/// lock another gets `would_deadlock`. `wrong_type` if one of the names belongs to something other than a lock. For
/// each list of names, the callers of one client wait in one queue, and only the first sends commands. Wire cost: 1
/// command to take, 1 to release, whatever the number of names; the first wait subscribes to all their channels in the
/// same write. Over several slots: 1 for each slot until one grants, and 1 after a release.
class HOLDFAST_EXPORT AnyLock : public BasicLock {
 public:
  /// See BasicLock.
  AnyLock with(AcquireOptions defaults) const { return AnyLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using BasicLock::BasicLock;
};

}  // namespace holdfast
