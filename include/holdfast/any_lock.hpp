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
/// Each name is an ordinary lock: what is granted is a Hold of the Lock of that name, and whoever takes that alone, or
/// in Redisson, excludes it and is excluded by it. The first that is free is taken, in the order given. A caller waits
/// only if none is free, and for the release of any. Of names in several slots of a cluster one slot is asked after
/// another, each client beginning with another one, and a node that does not answer keeps nobody from what is free
/// elsewhere; with a hash tag (`{gpu}:0`) they share a slot.
///
/// Errors, waiting, cancellation and threads as Lock. Not re-entrant: a thread that has one by `lock()`, and asks for
/// another, is told that it would wait for itself (`would_deadlock`). `wrong_type` if something else than a lock has
/// one of the names. Callers of one client wait in one line, for each list of names, of whom the first asks the server.
/// Wire cost: 1 command to take, 1 to release, whatever the number of names; a first wait subscribes to all their
/// channels, with the same write. Over several slots: 1 for each slot until one grants, and 1 after a release.
class HOLDFAST_EXPORT AnyLock : public BasicLock {
 public:
  /// See BasicLock.
  AnyLock with(AcquireOptions defaults) const { return AnyLock(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using BasicLock::BasicLock;
};

}  // namespace holdfast
