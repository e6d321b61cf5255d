// What a caller of a client's own loop waits for.
#pragma once

#include <atomic>
#include <condition_variable>

#include "base/guarded.hpp"

namespace holdfast::engine {

/// Set once, by OwnLoop::set.
class Answer {
 public:
  bool is_there() const { return there_.load(); }
  /// It will not come with the next reply: nothing to drive the loop for. On the loop.
  void comes_late() { late_.store(true, std::memory_order_relaxed); }

 private:
  friend class OwnLoop;
  std::atomic<bool> there_{false};
  std::atomic<bool> late_{false};
  std::atomic<const void*> driver_{nullptr};  // the caller's thread, while it drives
  base::Mutex mutex_;
  std::condition_variable arrived_;
};

}  // namespace holdfast::engine
