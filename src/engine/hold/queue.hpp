// Those of one client who want the same lock, and what is known of others who do.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "engine/decide/acquire_fsm.hpp"
#include "engine/decide/tenure.hpp"
#include "engine/runtime/pending.hpp"

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
};

}  // namespace holdfast::engine
