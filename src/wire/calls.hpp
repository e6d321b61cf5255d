// What the calls of several kinds of locks have in common: what goes into a transition, and what its reply means.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "wire/names.hpp"
#include "wire/owner.hpp"

namespace holdfast::wire {

/// By which a server knows a transition that it has carried out already, where doing it twice would change something
/// twice: for kinds that are not repeatable. Their scripts keep the key, with the outcome, for as long as said here,
/// and repeat the outcome when it comes again.
struct Once {
  std::string key;  ///< `<owner>:<transition>`: the same whenever this one is sent, and no other.
  std::chrono::milliseconds remembered{};  ///< After that it is sent no more.
};
/// Of the one grant that an owner may get, and of its release.
std::string acquired_key(const Owner& owner);
std::string released_key(const Owner& owner);

/// What an acquire is told. It refers to what its caller has, and lives no longer than the call.
struct AcquireCall {
  Names names;
  const Owner& owner;
  std::chrono::milliseconds lease;
  /// If it is busy, ask how many connections listen for its release, where the kind can tell.
  bool count_listeners = false;
  std::optional<Once> once{};  ///< Of a kind that is not repeatable. An acquire that finds it busy is not to be kept.
  Publish publish = Publish::publish;  ///< How those listen who are counted.
  /// Of a kind whose server keeps a queue: for how long one who is next may leave the lock free before it loses its
  /// place. Empty: this owner will not wait, and is not queued.
  std::optional<std::chrono::milliseconds> turn{};
};

/// What a release is told; as above.
struct ReleaseCall {
  Names names;
  const Owner& owner;
  std::optional<Once> once{};  ///< Of a kind that is not repeatable.
  /// With `once`, of an acquire whose outcome is unknown: its key. Only what the server remembers is given back. Empty:
  /// it was granted.
  std::string undoes{};
  /// How it is told. `automatic`, not decided yet: in both ways, as far as the server has them.
  Publish publish = Publish::publish;
  std::chrono::milliseconds turn{};  ///< As AcquireCall's, of the kinds that have one.
};

/// What one says that has it alone and goes on as one of several; as above.
struct ShareCall {
  const LockNames& names;
  const Owner& owner;
  std::chrono::milliseconds lease;
  Publish publish = Publish::publish;
};

/// What one who has waited says when it leaves the queue that a server keeps; as above.
struct LeaveCall {
  Names names;
  const Owner& owner;
  std::chrono::milliseconds turn{};    ///< As it was asked with.
  Publish publish = Publish::publish;  ///< How the next one is told, if that has only waited for this one.
};

/// What a server says when it grants.
struct Grant {
  Owner owner{};                        ///< Empty: who asked. Else what the server calls it, by which it is released.
  std::optional<std::int64_t> token{};  ///< Grows with every grant of this lock.
  std::optional<std::size_t> which{};   ///< Of several of which one was asked for: the index of that.
  std::optional<std::chrono::milliseconds> lease{};  ///< Empty: as long as was asked for.
};

/// Reply of an acquire. Neither granted nor busy: the reply makes no sense, or it is an error.
struct AcquireReply {
  bool granted = false;
  std::optional<std::chrono::milliseconds> busy_for;  ///< Remaining time to live; -1 ms: it has none.
  std::size_t blocker = 0;                            ///< When busy: which of the locks that were asked for.
  std::optional<std::int64_t> listeners{};            ///< When busy, and it was asked for; -1: nobody can tell.
                                                      ///< When granted in shared mode, where the kind can tell.
  std::string holder{};                               ///< With `listeners`; empty: we may not ask.
  Grant grant{};                                      ///< When granted.
};

/// One lock as read back: its holder, empty if it is free, how often that holds it, and as what.
struct Held {
  std::string owner;
  long long count = 0;
  Mode mode = Mode::exclusive;
  std::optional<std::chrono::milliseconds> left{};  ///< Of a lease of its own; empty: it is the lock's.
};

/// A lock whose server keeps a queue, as read back.
struct Line {
  struct Waiter {
    std::string owner;  ///< Whatever stands in the queue.
    /// Until it loses its place if it is not heard of. Empty: it has no deadline.
    std::optional<std::chrono::milliseconds> left{};
  };
  Held holder{};
  std::size_t waiting = 0;  ///< In all; told of are perhaps fewer.
  std::vector<Waiter> first{};
};

/// The scripts of a kind with a key and a channel for each lock.
struct LockScripts {
  const base::Script& acquire;
  const base::Script& acquire_all;  ///< Several locks, all or none.
  const base::Script& release;
  const base::Script& release_all;
  const base::Script& force_release;
};

/// The word by which scripts know a way of telling.
const char* way(Publish publish);
/// What a script is told, behind everything else: nothing where PUBLISH is all.
void add_way(base::Command& command, Publish publish);

base::Command acquire(const LockScripts& scripts, const AcquireCall& call);
base::Command release(const LockScripts& scripts, const ReleaseCall& call);
/// From this owner; without one, from whoever has it. The reply: 1, or 0 if that was nobody.
base::Command force_release(const LockScripts& scripts, const LockNames& names, const std::optional<Owner>& owner,
                            Publish publish);

/// A number of listeners as a server tells it; -1: it cannot be. Valkey 9.1 at times counts trillions, while its table
/// of a channel's listeners grows.
std::int64_t believable(std::int64_t listeners);

AcquireReply decode_acquire(const base::Reply& reply);
/// Released by this call, all of them if there are several: how many clients were told. Empty: it, or one of them, was
/// not this owner's.
std::optional<std::int64_t> decode_release(const base::Reply& reply);

}  // namespace holdfast::wire
