// What can be acquired: what is asked of the server, or the servers, about one lock, and who is to hear of its
// tenancies.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/outcome.hpp>

#include "engine/decide/attempt.hpp"
#include "engine/decide/plan.hpp"
#include "engine/hold/holder.hpp"
#include "engine/runtime/meter.hpp"
#include "redis/cluster/slot.hpp"

namespace holdfast::redis {
class Shard;
}

namespace holdfast::engine {

class Runtime;
class Target;
class Tenancy;

/// Whoever keeps what was granted: renews it in time, and notices when its time is over. The watchdog, as holds know
/// it, and those who hand holds over to it. Of one client.
class Keeper {
 public:
  /// Checks and renews this hold from now on. If it is armed already: it is due at another time now. From any thread.
  virtual void arm(const std::shared_ptr<Tenancy>& hold) = 0;
  /// From here on the hold is neither checked nor renewed, whatever is under way. False: it was not armed. From any
  /// thread.
  virtual bool disarm(Tenancy& hold) = 0;
  /// Checks this hold at once, since what it has just learned makes it due. On the loop.
  virtual void look_now(const std::shared_ptr<Tenancy>& hold) = 0;

 protected:
  ~Keeper() = default;
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
  bool subscribe = false;  // to the owner's wake channels, before the server looks
  Acks acks{};             // a grant without them is not_durable
  bool waits = false;      // if it is busy: a server that keeps a queue takes the owner in
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

/// Whoever calls these keeps the client alive that serves the lock. `done` is called once, on that client's loop.
class Acquirable {
 public:
  Acquirable() = default;
  virtual ~Acquirable() = default;
  Acquirable(const Acquirable&) = delete;
  Acquirable& operator=(const Acquirable&) = delete;

  /// The caller's name for it.
  virtual const std::string& name() const = 0;
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
  /// While those channels are in use, the listener hears their messages. Destroying the use ends it.
  using Use = std::shared_ptr<void>;
  using Listener = std::function<void()>;
  virtual Use begin_use(const wire::Owner& waiter, const Listener& listener) = 0;

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

  /// By which its acquires and holds are measured; 0 until it is set. From any thread.
  virtual LockClass lock_class() const = 0;
  /// The watchdog of the client that serves it.
  virtual Keeper& keeper() const = 0;
  /// This tenancy ends, or has ended: callers of this client need not wait for it any more. From any thread.
  virtual void forget(const Tenancy& tenancy) = 0;
  /// With its queue, for those who end a tenancy: the tenancy itself knows no more of it than this class.
  virtual Target& as_target() = 0;
};

}  // namespace holdfast::engine
