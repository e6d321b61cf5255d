// SPDX-License-Identifier: Apache-2.0
// What the calls of several kinds of locks have in common: what goes into a transition, and what its reply means.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "kinds/owner.hpp"

namespace holdfast::wire {

/// Names of keys and channels, put together as Redisson does (docs/wire.md section 1). Each kind has its own prefixes.
/// The key and the channel of one lock, derived once.
struct LockNames {
  std::string key;
  std::string channel;
};

/// For one lock, or several that are taken together.
using Names = std::span<const LockNames>;

/// `prefix:{name}`, or `prefix:name` if the name has a `{` itself.
std::string prefixed(std::string_view prefix, std::string_view name);
/// `{name}:suffix`, or `name:suffix` if the name has a `{` itself.
std::string suffixed(std::string_view name, std::string_view suffix);

/// The key under which a server remembers an operation on `name` (Once); no other client knows it. It is in the slot of
/// `name`, unless that has a `}` and no tag, as `a}b`: no other key can share the slot of such a name, and a cluster
/// refuses its scripts, as CROSSSLOT, before they change anything.
std::string once_key(std::string_view name, std::string_view operation);

/// Lets a server recognise a transition that it has already carried out, for kinds that are not repeatable. Their
/// scripts store this key with the outcome for the time given here, and return the same outcome if the transition is
/// sent again.
struct Once {
  std::string key;  ///< `<owner>:<transition>`: the same each time this transition is sent, and unique to it.
  std::chrono::milliseconds remembered{};  ///< After that it is no longer sent.
};
/// The keys for the one grant that an owner may get, and for its release.
std::string acquired_key(const Owner& owner);
std::string released_key(const Owner& owner);

/// The parameters of an acquire. It refers to data of its caller and is only valid during the call.
struct AcquireCall {
  Names names;
  const Owner& owner;
  std::chrono::milliseconds lease;
  /// If it is busy, also ask how many connections listen for its release, where the kind supports that.
  bool count_listeners = false;
  std::optional<Once> once{};          ///< For kinds that are not repeatable. The busy outcome is not stored.
  Publish publish = Publish::publish;  ///< How the counted listeners subscribe.
  /// For kinds whose server keeps a queue: how long the next waiter may leave the lock free before it loses its place.
  /// Empty: this owner will not wait, and is not queued.
  std::optional<std::chrono::milliseconds> turn{};
  /// With `count_listeners`: if it is busy, also publish to them that it is (docs/wire.md), where the kind supports
  /// that.
  bool publish_busy = false;
};

/// The parameters of a release; lifetime as above.
struct ReleaseCall {
  Names names;
  const Owner& owner;
  std::optional<Once> once{};  ///< For kinds that are not repeatable.
  /// With `once`, after an acquire of unknown outcome: that acquire's key. Then only a grant that the server remembers
  /// is released. Empty: it was granted.
  std::string undoes{};
  /// How it is published. `automatic` (not decided yet): in both ways, as far as the server has them.
  Publish publish = Publish::publish;
  std::chrono::milliseconds turn{};  ///< As AcquireCall's, for the kinds that have one.
};

/// The parameters for turning an exclusive owner into a shared one; lifetime as above.
struct ShareCall {
  const LockNames& names;
  const Owner& owner;
  std::chrono::milliseconds lease;
  Publish publish = Publish::publish;
};

/// The parameters for leaving a server's queue; lifetime as above.
struct LeaveCall {
  Names names;
  const Owner& owner;
  std::chrono::milliseconds turn{};    ///< The same as in the acquire.
  Publish publish = Publish::publish;  ///< How the next waiter is notified, if it only waited for this one.
};

/// The contents of a grant.
struct Grant {
  Owner owner{};  ///< Empty: the requested one. Otherwise its name at the server, for the release.
  std::optional<std::int64_t> token{};               ///< Grows with every grant of this lock.
  std::optional<std::size_t> which{};                ///< If any one of several was requested: its index.
  std::optional<std::chrono::milliseconds> lease{};  ///< Empty: as requested.
};

/// Reply of an acquire. Neither granted nor busy: the reply is invalid, or an error.
struct AcquireReply {
  bool granted = false;
  std::optional<std::chrono::milliseconds> busy_for;  ///< Remaining time to live; -1 ms: it has none.
  std::size_t blocker = 0;                            ///< When busy: which of the requested locks.
  std::optional<std::int64_t> listeners{};            ///< When busy and requested; -1: unknown.
                                                      ///< When granted in shared mode, where the kind reports it.
  std::string holder{};                               ///< With `listeners`; empty: not permitted.
  bool unset = false;                                 ///< When busy: nobody has set how many permits there are.
  std::optional<std::int64_t> in_all{};  ///< When busy: only so many permits there are, also if all are free.
  Grant grant{};                         ///< When granted.
};

/// One lock as read back: its holder (empty if free), how many times it holds the lock, and in which mode.
struct Held {
  std::string owner;
  long long count = 0;
  Mode mode = Mode::exclusive;
  std::optional<std::chrono::milliseconds> left{};  ///< Of its own lease; empty: it has the lock's.
};

/// A lock whose server keeps a queue, as read back.
struct Line {
  struct Waiter {
    std::string owner;  ///< The text of the queue's entry.
    /// Until it loses its place if it sends nothing. Empty: it has no deadline.
    std::optional<std::chrono::milliseconds> left{};
  };
  Held holder{};
  std::size_t waiting = 0;  ///< In all; `first` may have fewer.
  std::vector<Waiter> first{};
};

/// The script with the key, followed by those under which the server remembers what is done once, and what that undoes;
/// reserves room for this many arguments.
base::Command with_once(const base::Script& script, std::string_view key, const std::optional<Once>& once,
                        std::string_view undoes, std::size_t arguments);
/// The argument for how long, in ms; 0: nothing is remembered.
std::string remembered(const std::optional<Once>& once);

/// The same call with its first key only: its script then does without the others.
base::Command with_first_key(const base::Command& command);

/// The scripts of a kind with a key and a channel for each lock.
struct LockScripts {
  const base::Script& acquire;
  const base::Script& acquire_all;  ///< Several locks, all or none.
  const base::Script& release;
  const base::Script& release_all;
  const base::Script& force_release;
};

/// Those who listen to releases that are published so are counted as listeners of a sharded channel.
bool sharded(Publish publish);
/// The scripts' word for a way of publishing.
const char* way(Publish publish);
/// Appends that word as a script's last argument; nothing for plain PUBLISH.
void add_way(base::Command& command, Publish publish);

/// All names in the keys of one script. Listeners are counted on the first one's channel.
base::Command acquire(const base::Script& script, const AcquireCall& call);
base::Command release(const base::Script& script, const ReleaseCall& call);
/// For one lock, or all of several, where nobody is counted.
base::Command acquire(const LockScripts& scripts, const AcquireCall& call);
base::Command release(const LockScripts& scripts, const ReleaseCall& call);
/// From this owner; without one, from any owner. The reply: 1, or 0 if it was not held.
base::Command force_release(const LockScripts& scripts, const LockNames& names, const std::optional<Owner>& owner,
                            Publish publish);

/// Checks the number of listeners that a server reports; -1: impossible. Valkey 9.1 sometimes reports trillions while
/// its table of a channel's listeners grows.
std::int64_t believable(std::int64_t listeners);

AcquireReply decode_acquire(const base::Reply& reply);
/// How many clients were notified, if this call released the lock, or all of several. Empty: it, or one of them, was
/// not this owner's.
std::optional<std::int64_t> decode_release(const base::Reply& reply);

// ---- renewals of many holds of one kind with one command ----

struct Renewal {
  std::string key;
  std::string owner;
  Mode mode = Mode::exclusive;
};

/// The kind's script, with all keys, the lease and the owner of each.
base::Command renew(const base::Script& script, const std::vector<Renewal>& renewals, std::chrono::milliseconds lease);

/// For each requested renewal: true if extended. Empty if the reply does not fit the call.
std::vector<bool> decode_renew(const base::Reply& reply, std::size_t asked);

/// For a connection that is notified, once, when a key that it has read changes (CLIENT TRACKING): a transaction that
/// renews without such a notice and then reads the keys, so that the next change by anyone is reported. The number of
/// its commands.
constexpr std::size_t kUntoldCommands = 6;
void add_untold(std::vector<base::Command>& to, base::Command renewal, std::vector<std::string> keys);
/// The same without a renewal, to check that all of it is permitted.
constexpr std::size_t kUntoldTrial = 4;
void add_untold_trial(std::vector<base::Command>& to);
/// From these replies, the one to the renewal; for a trial, that of its last step. Null: nothing was executed.
const base::Reply* untold_reply(std::span<const base::Reply> replies);

}  // namespace holdfast::wire
