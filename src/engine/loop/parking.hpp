// Where the own thread of a loop waits while callers drive.
#pragma once

#include <condition_variable>

#include "base/clock.hpp"
#include "base/guarded.hpp"

namespace holdfast::engine {

/// For one thread; whoever calls it may be any.
class Parking {
 public:
  /// It is to drive again.
  void want() { call(wanted_); }
  /// It is to look in before its time.
  void nudge() { call(nudged_); }

  /// Waits for so long, or until it is called; not at all if it was called since the last time. True: it is wanted.
  bool wait(base::Duration limit) {
    base::WaitingGuard guard(mutex_);
    guard.wait_for(called_, limit, [this]() HOLDFAST_REQUIRES(mutex_) { return wanted_ || nudged_; });
    nudged_ = false;
    return wanted_;
  }
  /// It drives again.
  void leave() {
    const base::Guard guard(mutex_);
    wanted_ = nudged_ = false;
  }

  /// The thread ends.
  void end() { call(over_); }
  void wait_for_end(base::Duration limit) {
    base::WaitingGuard guard(mutex_);
    guard.wait_for(called_, limit, [this]() HOLDFAST_REQUIRES(mutex_) { return over_; });
  }

 private:
  void call(bool& what) {
    const base::Guard guard(mutex_);
    what = true;
    called_.notify_all();
  }

  base::Mutex mutex_;
  std::condition_variable called_;
  bool wanted_ = false;  // guarded by mutex_, as are the others: clang cannot follow call()
  bool nudged_ = false;
  bool over_ = false;
};

}  // namespace holdfast::engine
