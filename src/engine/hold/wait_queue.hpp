// Those of one client who wait for the same lock: first in, first out.
#pragma once

#include "engine/hold/waiter.hpp"

namespace holdfast::engine {

/// Only the waiter at the head asks the server and is woken. Not thread-safe; the target guards it. There may be
/// millions: as small as a pointer.
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

}  // namespace holdfast::engine
