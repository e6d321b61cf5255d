// What an acquire is about: a lock, several at once, or a majority. Who is next, who holds it, and how to ask for it.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <holdfast/hold.hpp>

#include "engine/acquire_fsm.hpp"
#include "engine/plan.hpp"
#include "engine/thread_holds.hpp"

namespace holdfast::engine {

class Core;
class HeldLock;

/// Somebody who waits for the lock. `post` must not block and is called with the target locked.
class Waiter {
 public:
  enum class Signal { turn, wake, closed };
  virtual void post(Signal signal) = 0;

 protected:
  ~Waiter() = default;
};

/// Thread-safe by one short mutex, which is never held across a round trip or a callback of the user's.
/// First in, first out: only the waiter at the head of the queue asks the server and is woken.
/// The core that is passed is always the same for one target: the client whose threads and counters serve it.
class Target : public std::enable_shared_from_this<Target> {
 public:
  explicit Target(std::string name) : name_(std::move(name)) {}
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// The caller's name for it.
  const std::string& name() const { return name_; }
  ThreadHolds& threads() { return threads_; }
  const ThreadHolds& threads() const { return threads_; }

  /// Joins the queue; posts `turn` to the waiter when it is at the head, perhaps at once.
  void enter(Waiter& waiter);
  /// Leaves the queue; the next in line, if the head left, gets its turn. Nothing is posted to the waiter afterwards.
  void leave(Waiter& waiter);
  /// Something may have changed: the waiter at the head looks again.
  void wake();
  /// Every waiter is told that the client is closed, and the threads' holds are forgotten.
  void close();

  TargetView view() const;
  void set_holder(const std::shared_ptr<HeldLock>& holder);
  /// Forgets the holder if it is this one, and wakes the queue.
  void clear_holder(const HeldLock* holder);

  virtual const Plan& plan() const = 0;
  /// The server or servers in words, without secrets.
  virtual std::string where(const Core& core) const = 0;
  /// The wake channels are subscribed.
  virtual bool subscribed() const = 0;
  /// While the wake channels are in use, their messages wake the queue. Destroying the use ends it.
  using Use = std::shared_ptr<void>;
  virtual Use begin_use() = 0;

  struct Order {
    wire::Owner owner;
    milliseconds lease{};
    Duration timeout{};
    bool subscribe = false;  // to the wake channels, before the server looks
  };
  using AttemptDone = std::function<void(Attempt)>;
  /// Asks for it once. `done` is called once, on a client's loop.
  virtual void attempt(Core& core, Order order, AttemptDone done) = 0;

  /// A release that goes on until its outcome is known. What is queued before this returns is sent before any later
  /// attempt. `done` is called once, on a client's loop.
  using ReleaseDone = std::function<void(ReleaseOutcome)>;
  virtual void release(Core& core, const wire::Owner& owner, TimePoint deadline, TimePoint give_up,
                       ReleaseDone done) = 0;
  /// Releases an owner that nobody will use: an attempt of unknown outcome, or one that came too late.
  void undo(Core& core, const wire::Owner& owner, milliseconds lease);

  /// What a renewal of one hold found.
  struct Renewed {
    enum class Kind { extended, gone, unanswered };
    Kind kind = Kind::unanswered;
    TimePoint sent_at{};
    std::string cause{};
  };
  using RenewDone = std::function<void(Renewed)>;
  /// The locks of one server whose holds are renewed together with those of others; empty if `renew` does it.
  virtual Plan::Names renewed_in_batches() const = 0;
  virtual void renew(Core& core, const std::shared_ptr<HeldLock>& hold, RenewDone done) = 0;

 private:
  const std::string name_;
  ThreadHolds threads_;

  mutable std::mutex mutex_;
  std::list<Waiter*> queue_;             // guarded by mutex_
  std::weak_ptr<HeldLock> holder_;       // guarded by mutex_
  const HeldLock* holder_id_ = nullptr;  // guarded by mutex_; never dereferenced
};

}  // namespace holdfast::engine
