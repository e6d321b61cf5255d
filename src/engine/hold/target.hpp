// What an acquire is about: a lock, several at once, or a majority. Who is next, who holds it, and how to ask for it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/intrusive/list.hpp>

#include <holdfast/observer.hpp>
#include <holdfast/outcome.hpp>

#include "base/guarded.hpp"
#include "base/small_mutex.hpp"
#include "engine/decide/acquire_fsm.hpp"
#include "engine/decide/tenure.hpp"
#include "engine/hold/holder_query.hpp"
#include "engine/hold/plan.hpp"
#include "engine/hold/thread_holds.hpp"
#include "engine/runtime/pending.hpp"

namespace holdfast::engine {

class Core;
class HeldLock;

/// Somebody who waits for the lock. `post` must not block and is called with the target locked.
class Waiter : public boost::intrusive::list_base_hook<> {
 public:
  enum class Signal {
    turn,     // at the head of the queue
    wake,     // something has changed in this client, or the connection is new
    message,  // a release was told on a wake channel
    closed,
  };
  virtual void post(Signal signal) noexcept = 0;
  /// Is gone without a word: its loop is gone.
  virtual void drop() = 0;

 protected:
  ~Waiter() = default;
};

/// A lock that a caller has released and that is kept at the server for another caller of this client.
struct Kept {
  wire::Owner owner;
  TimePoint sent_at{};  // of the command that extended the lease last
  milliseconds lease{};
  Pending::Token pending;
};

/// What became of a release, and how many listened for it: clients elsewhere, and waiters of this client.
struct Released {
  ReleaseOutcome outcome = ReleaseOutcome::unknown;
  std::int64_t listeners = 0;
};

/// Thread-safe by one short mutex, which is never held across a round trip or a callback of the user's.
/// First in, first out: only the waiter at the head of the queue asks the server and is woken. A caller who comes while
/// a lock is being passed on may overtake the queue, a millisecond long at most (Tenure).
/// The core that is passed is always the same for one target: the client whose threads and counters serve it.
class Target : public std::enable_shared_from_this<Target> {
 public:
  explicit Target(std::string name);
  virtual ~Target();
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// The caller's name for it.
  const std::string& name() const { return name_; }
  /// The holds that belong to threads.
  ThreadHolds& threads();
  ThreadHolds::Entry hold_of(std::uint64_t thread) const;

  /// Joins the queue; posts `turn` to the waiter when it is at the head, perhaps at once.
  void enter(Waiter& waiter);
  /// Leaves the queue; the next in line, if the head left, gets its turn. Nothing is posted to the waiter afterwards.
  /// Returns what was kept for the queue if nobody is left in it: the caller gives it back to the server.
  std::optional<Kept> leave(Waiter& waiter);
  /// Something may have changed: the waiter at the head looks again.
  void wake();
  /// A message came on a wake channel.
  void heard();
  /// Every waiter is told that the client is closed.
  void close();
  /// The loop is gone, and with it all that waits.
  void drop_waiters();
  /// The threads' holds are over.
  void forget_threads();

  TargetView view() const;
  /// The server granted it to the waiter at the head.
  void set_holder(const std::shared_ptr<HeldLock>& holder);
  /// The server said that somebody else has it, perhaps a client that keeps no order.
  void saw_other(bool stranger);
  /// The wait of the waiter at the head is over.
  void waited(const Place& place);
  /// This owner holds it in this client, or it is kept for one who will take it over.
  bool has(const wire::Owner& owner) const;
  /// Forgets the holder if it is this one, and wakes the queue.
  void clear_holder(const HeldLock* holder);

  /// Ends this hold and keeps the lock for the queue, if somebody waits and others are not wronged by it. No round
  /// trip.
  bool keep(Core& core, HeldLock& hold);
  /// Who takes what is kept.
  struct Taker {
    const std::shared_ptr<Core>& core;
    const LeaseTerms& terms;
    const std::function<void(const LostEvent&)>& on_lost;
    bool from_queue = false;  // the waiter at the head
  };
  struct Taken {
    std::shared_ptr<HeldLock> held;  // a new hold of the same owner, armed; or null
    std::optional<Kept> unfit;       // kept, but not for such a hold: the head gives it back to the server
  };
  Taken take_kept(const Taker& taker);
  void give_back(Core& core, Kept kept) noexcept;

  /// At the latest release somebody else was there.
  bool others_listened() const;
  /// Around a release at the server, of what was held until then; the second on the loop.
  void begin_release();
  /// `held_since`: the server's grant of what was released.
  void end_release(const Released& released, TimePoint held_since);

  virtual const Plan& plan() const = 0;
  /// The server or servers in words, without secrets.
  virtual std::string where(const Core& core) const = 0;
  /// The wake channels are subscribed.
  virtual bool subscribed() const = 0;
  /// While the wake channels are in use, their messages wake the queue. Destroying the use ends it.
  using Use = std::shared_ptr<void>;
  virtual Use begin_use() = 0;
  /// The same for a waiter of this target's own queue.
  Use listen();

  struct Order {
    wire::Owner owner;
    milliseconds lease{};
    Duration timeout{};
    bool subscribe = false;  // to the wake channels, before the server looks
  };
  using AttemptDone = std::function<void(Attempt)>;
  /// Asks for it once. `done` is called once, on the loop.
  virtual void attempt(Core& core, Order order, AttemptDone done) = 0;

  /// A release that goes on until its outcome is known. What is queued before this returns is sent before any later
  /// attempt. `done` is called once, on the loop.
  using ReleaseDone = std::function<void(const Released&)>;
  virtual void release(Core& core, const wire::Owner& owner, TimePoint deadline, TimePoint give_up,
                       ReleaseDone done) = 0;
  /// Releases an owner that nobody will use: an attempt of unknown outcome, or one that came too late. Without memory
  /// for it, its lease ends it.
  void undo(Core& core, const wire::Owner& owner, milliseconds lease) noexcept;

  /// Who has it: see `engine::ask_holder`. `done` may run on another client's loop, or never if that client is gone.
  virtual void ask_holder(Core& core, HolderDone done) = 0;

  /// What a renewal of one hold found.
  struct Renewed {
    enum class Kind { extended, gone, unanswered };
    Kind kind = Kind::unanswered;
    TimePoint sent_at{};
    std::string cause{};
  };
  using RenewDone = std::function<void(Renewed)>;
  /// How many locks of one server are renewed together with those of other holds; zero if `renew` does it.
  virtual std::size_t batched_locks() const = 0;
  virtual void add_renewals(std::vector<wire::Renewal>& to, const wire::Owner& owner) const = 0;
  virtual void renew(Core& core, const std::shared_ptr<HeldLock>& hold, RenewDone done) = 0;

 private:
  /// What only a lock has that several want; it is made when that shows.
  struct Busy {
    explicit Busy(Duration handoff) : tenure(handoff) {}
    boost::intrusive::list<Waiter> behind;  // the queue, without its head
    std::optional<Kept> kept;               // only while somebody is queued
    Tenure tenure;
    PlaceLimit place_limit;
  };
  /// As the client is configured.
  virtual Duration handoff() const = 0;
  /// Others want it: what is known of them is to last although nobody here may refer to this for a moment.
  virtual void stay() noexcept {}
  Busy& busy() HOLDFAST_REQUIRES(mutex_);
  void wake_head() HOLDFAST_REQUIRES(mutex_);
  void rest() HOLDFAST_REQUIRES(mutex_);
  void other_released() HOLDFAST_REQUIRES(mutex_);

  const std::string name_;

  mutable base::SmallMutex mutex_;
  std::int32_t releasing_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // releases at the server under way
  std::int32_t listening_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // waiters of this queue on the wake channels
  std::int32_t unclaimed_ HOLDFAST_GUARDED_BY(mutex_) = 0;  // messages meanwhile that may be those releases' own
  TimePoint release_first_ HOLDFAST_GUARDED_BY(mutex_){};   // until then nobody asks before a release's outcome
  bool overtaken_ HOLDFAST_GUARDED_BY(mutex_) = false;      // an attempt came to the server before our release
  Waiter* head_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;      // of the queue
  HeldLock* holder_ HOLDFAST_GUARDED_BY(mutex_) = nullptr;  // its destructor clears it
  std::unique_ptr<Busy> busy_ HOLDFAST_GUARDED_BY(mutex_);
  std::unique_ptr<ThreadHolds> threads_ HOLDFAST_GUARDED_BY(mutex_);  // stays once it is there
};

}  // namespace holdfast::engine
