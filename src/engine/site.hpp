// What one client knows of one lock name: its current hold, the queue of its own waiters, and its threads' holds.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "engine/acquire_fsm.hpp"
#include "engine/plan.hpp"
#include "redis/channels.hpp"

namespace holdfast::engine {

class HeldLock;

/// Somebody who waits for the lock. `post` must not block and is called with the site locked.
class Waiter {
 public:
  enum class Signal { turn, wake, closed };
  virtual void post(Signal signal) = 0;

 protected:
  ~Waiter() = default;
};

/// Thread-safe by one short mutex, which is never held across a round trip or a callback of the user's.
/// First in, first out: only the waiter at the head of the queue asks the server and is woken.
class Site : public std::enable_shared_from_this<Site> {
 public:
  Site(std::string name, const std::string& raw_name, const Plan& plan, std::shared_ptr<redis::Channels> channels);
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  const std::string& name() const { return name_; }
  const wire::LockNames& names() const { return names_; }
  const Plan& plan() const { return plan_; }

  /// Joins the queue; posts `turn` to the waiter when it is at the head, perhaps at once.
  void enter(Waiter& waiter);
  /// Leaves the queue; the next in line, if the head left, gets its turn. Nothing is posted to the waiter afterwards.
  void leave(Waiter& waiter);
  /// Something may have changed: the waiter at the head looks again.
  void wake();
  /// Every waiter is told that the client is closed, and the threads' holds are forgotten.
  void close();

  SiteView view() const;
  void set_holder(const std::shared_ptr<HeldLock>& holder);
  /// Forgets the holder if it is this one, and wakes the queue.
  void clear_holder(const HeldLock* holder);

  /// While the wake channel is in use, its messages wake the queue. Returns what end_use takes.
  std::uint64_t begin_use();
  void end_use(std::uint64_t use) { channels_->end_use(names_.channel, use, base::Clock::now()); }

  // --- holds that belong to a thread (the std face); only that thread changes its own entry ---
  struct ThreadHold {
    std::shared_ptr<HeldLock> held;
    int count = 0;  // levels of re-entry; zero: the thread does not own the lock
  };
  ThreadHold find(std::uint64_t thread) const;
  void own(std::uint64_t thread, std::shared_ptr<HeldLock> held);
  /// One level deeper; the thread owns the lock.
  void reenter(std::uint64_t thread);
  /// One level up. Returns the entry as it was; at its last level the entry is gone and the caller releases the hold.
  ThreadHold leave_level(std::uint64_t thread);

 private:
  // Constant after construction.
  const std::string name_;
  const wire::LockNames names_;
  const Plan& plan_;
  const std::shared_ptr<redis::Channels> channels_;

  mutable std::mutex mutex_;
  std::list<Waiter*> queue_;                     // guarded by mutex_
  std::weak_ptr<HeldLock> holder_;               // guarded by mutex_
  const HeldLock* holder_id_ = nullptr;          // guarded by mutex_; never dereferenced
  std::map<std::uint64_t, ThreadHold> threads_;  // guarded by mutex_; dropped by close()
};

}  // namespace holdfast::engine
