// Those of one client who wait for the same lock: first in, first out.
#pragma once

#include <cstddef>

#include <boost/intrusive/list.hpp>

#include "engine/hold/waiter.hpp"

namespace holdfast::engine {

/// Only the waiter at the head asks the server and is woken. Not thread-safe; the target guards it.
class WaitQueue {
 public:
  bool empty() const { return waiters_.empty(); }
  /// Nobody in it wants the lock for himself.
  bool all_share() const { return alone_ == 0; }

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
  boost::intrusive::list<Waiter, boost::intrusive::constant_time_size<false>> waiters_;
  std::size_t alone_ = 0;  // of these, how many do not share
};

}  // namespace holdfast::engine
