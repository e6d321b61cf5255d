// SPDX-License-Identifier: Apache-2.0
// What an acquire is for: a lock, several at once, or a majority of servers. What is asked of the server about it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include "kinds/owner.hpp"
#include "kinds/plan.hpp"
#include "lock/decide/attempt.hpp"
#include "lock/decide/lease.hpp"
#include "lock/queue/holder.hpp"
#include "lock/queue/queue.hpp"
#include "lock/runtime/reporter.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::redis {
class Shard;
}

namespace holdfast::engine {

class Claim;
class KeyTarget;
class Runtime;
class Tenancy;

// The holds that belong to threads (the std face): which thread has which, in which mode, and how many levels deep.

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

/// What became of a release, and how many listened for it: clients elsewhere, and waiters of this client.
struct Released {
  ReleaseOutcome outcome = ReleaseOutcome::unknown;
  std::int64_t listeners = 0;
};

/// One acquire command.
struct Order {
  wire::Owner owner;
  milliseconds lease{};
  Duration timeout{};
  bool subscribe = false;     // to the owner's wake channels, before the server looks
  Acks acks{};                // a grant without them is not_durable
  bool waits = false;         // if it is busy: a server that keeps a queue takes the owner in
  bool publish_busy = false;  // if it is busy: all who listen are told, where the kind can do that
};

/// What a renewal of one hold found.
struct Renewed {
  enum class Kind { extended, gone, unanswered };
  Kind kind = Kind::unanswered;
  TimePoint sent_at{};
  std::string cause{};
  std::uint32_t acks_era = 0;  // extended, and confirmed, if the hold wants acks
};

using AttemptDone = std::function<void(Attempt)>;
using ReleaseDone = std::function<void(const Released&)>;
using RenewDone = std::function<void(Renewed)>;

/// Where the renewal of a tenancy shares a command with those of others.
struct BatchPlace {
  redis::Shard* shard = nullptr;
  std::uint16_t slot = 0;  // one command is for one
  std::size_t locks = 0;   // how many of them it is of
};

/// A lock, or several as one: its names, and what is asked of the server, or the servers, about it. Whoever calls these
/// keeps the client alive that serves the lock. `done` is called once, on that client's loop.
class Target : public Queue, public std::enable_shared_from_this<Target> {
 public:
  explicit Target(std::string name);
  virtual ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// The caller's name for it.
  const std::string& name() const { return name_; }
  virtual const Plan& plan() const = 0;
  /// How many locks of one server it is of: so many messages a release has.
  virtual std::size_t locks() const = 0;
  /// The server or servers in words, without secrets.
  virtual std::string where() const = 0;

  /// Which acks count by now: those of this era. From any thread.
  virtual std::uint32_t acks_era() const = 0;

  /// It, or a part of it, is on this server.
  virtual bool stands_on(const redis::Shard& shard) const = 0;
  /// It, or a part of it, is of this client and in one of these slots.
  virtual bool lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const = 0;

  /// The channels on which a waiter of this owner is woken are subscribed.
  virtual bool subscribed(const wire::Owner& waiter) const = 0;
  /// While those channels are in use, the listener hears their messages: of a release or, with a time, that somebody
  /// has it for so long. Destroying the use ends it.
  using Use = std::shared_ptr<void>;
  using Busy = std::optional<milliseconds>;
  using Listener = std::function<void(Busy)>;
  virtual Use begin_use(const wire::Owner& waiter, const Listener& listener) = 0;

  /// Those that it is held on.
  virtual void add_keys(std::vector<std::shared_ptr<KeyTarget>>& to) = 0;

  /// Asks for it once.
  virtual void attempt(Order order, AttemptDone done) = 0;
  /// A release that goes on until its outcome is known, of what was ours until `deadline` (or perhaps kNeverOurs). What
  /// is queued before this returns is sent before any later attempt.
  virtual void release(const wire::Owner& owner, TimePoint deadline, TimePoint give_up, ReleaseDone done) = 0;
  /// For kinds whose server keeps a queue. Takes an owner that has asked, and waits no more, out of that.
  /// Goes on in the background, as an undo does, until a server has answered or a lease is over: then the server, whose
  /// queue must not wait for ever for clients that have died, is left to find out by itself.
  virtual void withdraw(const wire::Owner&, milliseconds) noexcept {}
  /// Who has it: see `engine::ask_holder`. `done` may run on another client's loop, or never if that client is gone.
  virtual void ask_holder(HolderDone done) = 0;

  /// Empty: its renewals are its own affair, and `renew` makes them.
  virtual std::optional<BatchPlace> batch_place() const { return {}; }
  /// Those of a tenancy that has such a place.
  virtual void add_renewals(std::vector<wire::Renewal>&, const wire::Owner&) const {}
  /// To this lease: the tenancy's own, unless it is left or extended.
  virtual void renew(const std::shared_ptr<Tenancy>& hold, milliseconds lease, RenewDone done) = 0;
  /// The server, or each server, is to report when a key of this hold is changed: see LossWatch. On the loop of the
  /// client that serves the hold.
  virtual void watch(const std::shared_ptr<Tenancy>& hold) = 0;
  /// The key that is watched for this one of its own locks.
  virtual std::string watched_key(std::size_t) const { return {}; }

  /// Whoever has it alone has it together with others from now on, without a moment in between. The outcome is that of
  /// a renewal. For kinds that can do this.
  virtual void share(const wire::Owner&, milliseconds, Duration, const RenewDone& done) {
    done({Renewed::Kind::unanswered, {}, {}});
  }

  // Of the client that serves it, with threads and counters.
  virtual Runtime& runtime() const = 0;
  /// Its watchdog checks and renews this hold from now on. If it is armed already: it is due at another time now. From
  /// any thread.
  virtual void arm(const std::shared_ptr<Tenancy>& hold) = 0;
  /// From here on the hold is neither checked nor renewed, whatever is under way. False: it was not armed. From any
  /// thread.
  virtual bool disarm(Tenancy& hold) = 0;
  /// Checks this hold at once, since what it has just learned makes it due. On the loop.
  virtual void look_now(const std::shared_ptr<Tenancy>& hold) = 0;

  /// What the server has granted to this client: neither the queue nor the watchdog knows it any more once nobody
  /// refers to it.
  std::shared_ptr<Tenancy> make_tenancy(std::shared_ptr<Runtime> client, const wire::Owner& owner, wire::Ask ask,
                                        TimePoint sent_at, const LeaseTerms& terms,
                                        const std::function<void(const LostEvent&)>& on_lost,
                                        std::unique_ptr<const wire::Grant> grant = nullptr,
                                        std::uint32_t acked_era = 0);
  /// What this grant is of: this target or, where any one of several can be granted, the one that was.
  virtual std::shared_ptr<Target> granted(const wire::Grant&) { return shared_from_this(); }
  /// Releases and withdraws an owner that nobody will use: that of an attempt whose outcome is unknown, or whose grant
  /// came too late. If there is no memory for that, the lease ends it.
  virtual void undo(const wire::Owner& owner, milliseconds lease) noexcept;

  /// Something may have changed: the waiter at the head checks again, or all of them, where each one asks.
  virtual void wake() { wake_waiters(); }
  /// A message came on a wake channel that all waiters listen to.
  virtual void heard() { heard_by_all(); }
  /// This lock is no longer held here, and may be one of several that waiters here want any one of: they check again.
  virtual void on_part_free(const KeyTarget&) {}
  /// The server keeps a queue of all who wait: each of them asks as soon as it comes, and is told when it is next.
  bool everyone_asks() const { return plan().traits.order == Traits::Order::server; }
  /// How many calls wait for it, as WaitingEvent reports it. On the loop.
  std::uint32_t waiting() const { return waiting_; }
  void begin_wait() { ++waiting_; }
  void end_wait() { --waiting_; }

  /// By which its acquires and holds are measured; 0 until it is set. From any thread.
  LockClass lock_class() const { return lock_class_.load(std::memory_order_relaxed); }
  void set_lock_class(LockClass its_class) { lock_class_.store(its_class, std::memory_order_relaxed); }
  /// The holds that belong to threads.
  ThreadHolds& threads() { return threads_; }
  const ThreadHolds& threads() const { return threads_; }

 private:
  friend class Queue;
  /// What was held here is no longer held: waiters for any one of several may be waiting for it.
  virtual void tell_unions() noexcept {}
  /// Others want it: what is known of them is to be kept even if nobody here refers to this target for a moment.
  virtual void stay() noexcept {}

  const std::string name_;
  std::atomic<LockClass> lock_class_{0};
  std::uint32_t waiting_ = 0;
  ThreadHolds threads_;
};

}  // namespace holdfast::engine
