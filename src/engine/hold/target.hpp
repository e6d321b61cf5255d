// What an acquire is for: a lock, several at once, or a majority of servers. Who is next, and who holds it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <holdfast/observer.hpp>

#include "base/guarded.hpp"
#include "engine/decide/acquire_fsm.hpp"
#include "engine/decide/tenure.hpp"
#include "engine/hold/acquirable.hpp"
#include "engine/hold/queue.hpp"
#include "engine/hold/tenancy.hpp"
#include "engine/runtime/meter.hpp"
#include "wire/owner.hpp"

namespace holdfast::engine {

// The holds that belong to threads (the std face): which thread has which, in which mode, and how many levels deep.

class Claim;

/// Thread-safe; only a thread itself changes its own entry. There may be millions of these: as small as a pointer until
/// a thread owns a hold.
class ThreadHolds {
 public:
  /// A thread may have it in either mode, or in both.
  struct Who {
    std::uint64_t thread = 0;
    wire::Mode mode = wire::Mode::exclusive;
    friend auto operator<=>(const Who&, const Who&) = default;
  };
  struct Entry {
    std::shared_ptr<Claim> held;
    int count = 0;  // levels of re-entry; zero: the thread does not own the lock
  };

  ThreadHolds() = default;
  ~ThreadHolds();
  ThreadHolds(const ThreadHolds&) = delete;
  ThreadHolds& operator=(const ThreadHolds&) = delete;

  Entry find(Who who) const;
  void own(Who who, std::shared_ptr<Claim> held);
  /// One level deeper; the thread owns the lock.
  void reenter(Who who);
  /// One level up. Returns the entry as it was; at its last level the entry is gone and the caller releases the hold.
  Entry leave_level(Who who);
  void forget_all();

 private:
  struct Table;
  Table& table();

  std::atomic<Table*> table_{nullptr};  // stays once it is there
};

class KeyTarget;
class Runtime;

/// Thread-safe: one mutex guards it, and is never held during a round trip or a callback of the user's.
/// First in, first out: only the waiter at the head of the queue is woken and asks the server. A caller who comes while
/// a lock is being passed on may overtake the queue, for a millisecond at most (Tenure).
class Target : public Acquirable, public std::enable_shared_from_this<Target> {
 public:
  explicit Target(std::string name);
  ~Target() override;

  Target& as_target() final { return *this; }
  const std::string& name() const final { return name_; }
  LockClass lock_class() const final { return lock_class_.load(std::memory_order_relaxed); }
  void set_lock_class(LockClass its_class) { lock_class_.store(its_class, std::memory_order_relaxed); }
  /// Of the client that serves it with threads and counters.
  virtual Runtime& runtime() const = 0;
  /// The holds that belong to threads.
  ThreadHolds& threads() { return threads_; }
  const ThreadHolds& threads() const { return threads_; }

  /// The server keeps a queue of all who wait: each of them asks as soon as it comes, and is told when it is next.
  bool everyone_asks() const { return plan().traits.order == Traits::Order::server; }

  /// How many calls wait for it, as WaitingEvent reports it. On the loop.
  std::uint32_t waiting() const { return waiting_; }
  void begin_wait() { ++waiting_; }
  void end_wait() { --waiting_; }

  // The queue: see WaitQueue.
  void enter(Waiter& waiter);
  /// Returns what was retained for the queue if nobody is left in it: the caller gives it back to the server.
  std::optional<Retained> leave(Waiter& waiter);
  /// Something may have changed: the waiter at the head checks again, or all of them, where each one asks.
  virtual void wake();
  /// This lock is no longer held here, and may be one of several that waiters here want any one of: they check again.
  virtual void on_part_free(const KeyTarget&) {}
  /// A message came on a wake channel: on one that all waiters listen to, or on this waiter's own.
  virtual void heard();
  void heard(Waiter& waiter);
  /// Tells every waiter that the client is closed, or gives everything back.
  void end_waits();
  /// The loop is gone, and everyone who waits goes with it.
  void drop_waiters();
  /// A waiter of this queue uses the wake channels from now on.
  Use listen(const wire::Owner& owner, Waiter& waiter);

  /// What somebody sees who asks for this. All of it but `subscribed`, which depends on the waiter.
  TargetView view(const wire::Ask& ask) const;
  /// The server has granted it to the waiter at the head and, if it is shared, has said how many wait for its release.
  void set_tenancy(Tenancy& tenancy, std::int64_t listeners);
  /// What this grant is of: this target or, where any one of several can be granted, the one that was.
  virtual std::shared_ptr<Target> granted(const wire::Grant&) { return shared_from_this(); }
  /// The server has said that somebody else has it; `stranger`: a client that keeps no order.
  void saw_other(bool stranger);
  /// The wait of the waiter at the head is over.
  void waited(const Place& place);
  /// Wakes the queue as well.
  void forget(const Tenancy& tenancy) final;

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
  /// Releases and withdraws an owner that nobody will use: that of an attempt whose outcome is unknown, or whose grant
  /// came too late. If there is no memory for that, the lease ends it.
  virtual void undo(const wire::Owner& owner, milliseconds lease) noexcept;

 private:
  /// What was held here is no longer held: waiters for any one of several may be waiting for it.
  virtual void tell_unions() noexcept {}
  /// Others want it: what is known of them is to be kept even if nobody here refers to this target for a moment.
  virtual void stay() noexcept {}
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

  const std::string name_;
  std::atomic<LockClass> lock_class_{0};
  std::uint32_t waiting_ = 0;
  ThreadHolds threads_;

  mutable base::SmallMutex mutex_;
  std::int32_t listening_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // waiters of this queue on the wake channels
  ReleaseTraffic releases_ HOLDFAST_GUARDED_BY(mutex_);
  WaitQueue queue_ HOLDFAST_GUARDED_BY(mutex_);
  // Keeps others of this client from asking the server, or lets them share it; forgotten before it is destroyed.
  Tenancy* tenancy_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;
  std::unique_ptr<Contention> contention_ HOLDFAST_GUARDED_BY(mutex_);
};

}  // namespace holdfast::engine
