// SPDX-License-Identifier: Apache-2.0
// Those of one client who want the same lock, and what is known of others who do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <holdfast/observer.hpp>

#include "base/guarded.hpp"
#include "kinds/owner.hpp"
#include "lock/decide/acquire_fsm.hpp"
#include "lock/decide/lease.hpp"
#include "lock/decide/tenure.hpp"
#include "lock/runtime/pending.hpp"

namespace holdfast::engine {

/// Somebody of this client who waits for a lock. `post` must not block and is called with the target locked.
class Waiter {
 public:
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  enum class Signal {
    turn,     // at the head of the queue
    wake,     // something has changed in this client, or the connection is new
    message,  // a release was announced on a wake channel
    busy,     // or that somebody has it
    closed,   // the client is closed, or gives everything back
  };
  virtual void post(Signal signal) noexcept = 0;
  /// Is gone without a word: its loop is gone.
  virtual void drop() = 0;
  /// It wants the lock together with others who want it in the same way.
  bool shares() const { return shares_; }
  /// It is in a queue.
  bool is_linked() const { return next != nullptr; }

  // For WaitQueue only: in a circle.
  Waiter* next = nullptr;
  Waiter* previous = nullptr;
  std::size_t alone = 0;  // at the head: how many of the queue do not share

 protected:
  explicit Waiter(bool shares = false) : shares_(shares) {}
  ~Waiter() = default;

 private:
  const bool shares_;
};

/// Those of one client who wait for the same lock: first in, first out. Only the waiter at the head asks the server and
/// is woken. Not thread-safe; the target guards it. There may be millions: as small as a pointer.
class WaitQueue {
 public:
  WaitQueue() = default;
  WaitQueue(const WaitQueue&) = delete;
  WaitQueue& operator=(const WaitQueue&) = delete;

  bool empty() const { return head_ == nullptr; }
  /// Nobody in it wants the lock for himself.
  bool all_share() const { return head_ == nullptr || head_->alone == 0; }

  /// Joins it; posts `turn` to the waiter when it is at the head, perhaps at once.
  void enter(Waiter& waiter);
  /// Leaves it; the next in line, if the head left, gets its turn. Nothing is posted to the waiter afterwards. True if
  /// it was the head. Bears a waiter who is not there.
  bool leave(Waiter& waiter);
  /// To the waiter at the head, if there is one.
  void post(Waiter::Signal signal);
  void post_to_all(Waiter::Signal signal);
  /// Takes the head out, and gives nobody a turn. Null: there is none.
  Waiter* take_head();

 private:
  void take_out(Waiter& waiter);

  Waiter* head_ = nullptr;  // of a circle: behind the last comes the first
};

class Claim;
class Tenancy;

/// A tenancy on which nobody has a claim, kept for the queue.
struct Retained {
  std::shared_ptr<Tenancy> tenancy;
  Pending::Token pending;  // close() waits until somebody has taken it, or has given it back
};

/// What only a lock has that several want: how long it is passed on inside the client, and what is known of the others.
/// Made when it shows that several want it. Kinds whose tenancies cannot be passed on have it with a limit of zero, for
/// what is known of others. Not thread-safe; the target guards it.
struct Contention {
  /// `limit`: of a tenure.
  explicit Contention(Duration limit) : tenure(limit) {}
  std::optional<Retained> take_retained() { return std::exchange(retained, {}); }

  std::optional<Retained> retained;  // only while somebody is queued
  Tenure tenure;
  PlaceLimit place_limit;
  TimePoint release_first_until{};  // while a release goes first (ReleaseTraffic)
  TimePoint busy_until{};           // as published since the latest release
};

struct Released;
class Target;

/// The part of a target that knows who is next here, and who has it. Thread-safe: one mutex guards it, and is never
/// held during a round trip or a callback of the user's. First in, first out: only the waiter at the head of the queue
/// is woken and asks the server. A caller who comes while a lock is being passed on may overtake the queue, for a
/// millisecond at most (Tenure). Not an object of its own, as there may be millions of targets.
class Queue {
 public:
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  void enter(Waiter& waiter);
  /// Returns what was retained for the queue if nobody is left in it: the caller gives it back to the server.
  std::optional<Retained> leave(Waiter& waiter);
  /// Tells every waiter that the client is closed, or gives everything back.
  void end_waits();
  /// The loop is gone, and everyone who waits goes with it.
  void drop_waiters();
  /// A waiter of this queue uses the wake channels until what is returned is destroyed.
  std::shared_ptr<void> listen(const wire::Owner& owner, Waiter& waiter);
  /// A message came on this waiter's own channel.
  void heard_by(Waiter& waiter);
  /// Somebody who waits elsewhere has published that somebody has it, for so long at least. Says nothing of several.
  void heard_busy(milliseconds left);

  /// What somebody sees who asks for this. All of it but `subscribed`, which depends on the waiter.
  TargetView view(const wire::Ask& ask) const;
  /// The server has granted it to the waiter at the head and, if it is shared, has said how many wait for its release.
  void set_tenancy(Tenancy& tenancy, std::int64_t listeners);
  /// The server has said that somebody else has it; `stranger`: a client that keeps no order.
  void saw_other(bool stranger);
  /// The wait of the waiter at the head is over.
  void waited(const Place& place);
  /// This tenancy ends, or has ended: callers of this client need not wait for it any more. Wakes the queue as well.
  /// From any thread.
  void forget(const Tenancy& tenancy);

  /// Ends this claim and retains its tenancy for the queue, if somebody waits and other clients are not treated
  /// unfairly by that. No round trip.
  bool retain(Claim& claim);
  /// Who joins, and as what.
  struct Joining {
    const wire::Ask& ask;
    const LeaseTerms& terms;
    const std::function<void(const LostEvent&)>& on_lost;
    enum class From { queue, newcomer } from;  // `queue`: the waiter at the head
  };
  /// A claim on the tenancy that this client has, if that is retained or can be shared, and fits; else null. No round
  /// trip. A newcomer overtakes those who wait only for a moment, while the lock is being passed on (Tenure).
  std::shared_ptr<Claim> join(const Joining& joining);
  /// What is retained, if it does not fit what the waiter at the head wants, who then gives it back to the server.
  std::optional<Retained> take_retained();

  /// At the latest release, other clients were listening.
  bool others_listened() const;
  /// Before and after a release at the server of what was held until then; the second on the loop.
  void begin_release();
  /// `held_since`: when the lease was last set of what was released.
  void end_release(const Released& released, TimePoint held_since);

 protected:
  void wake_waiters();
  /// A message came on the wake channels.
  void heard_by_all();

 private:
  friend class Target;
  Queue() = default;
  ~Queue() = default;
  Target& target();
  const Target& target() const;
  bool forget_here(const Tenancy& tenancy);
  Contention& contention() HOLDFAST_REQUIRES(mutex_);
  bool can_share(const wire::Ask& ask) const HOLDFAST_REQUIRES(mutex_);
  bool has_claims() const HOLDFAST_REQUIRES(mutex_) {
    return tenancy_ != nullptr && !(contention_ && contention_->retained);
  }
  void post(Waiter::Signal signal) HOLDFAST_REQUIRES(mutex_);
  void wake_head() HOLDFAST_REQUIRES(mutex_);
  void rest() HOLDFAST_REQUIRES(mutex_);
  void other_released() HOLDFAST_REQUIRES(mutex_);

  mutable base::SmallMutex mutex_;
  std::int32_t listening_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // waiters of this queue on the wake channels
  ReleaseTraffic releases_ HOLDFAST_GUARDED_BY(mutex_);
  WaitQueue queue_ HOLDFAST_GUARDED_BY(mutex_);
  // Keeps others of this client from asking the server, or lets them share it; forgotten before it is destroyed.
  Tenancy* tenancy_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<Contention> contention_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engine
