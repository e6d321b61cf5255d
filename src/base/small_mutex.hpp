// A mutex of four bytes, for objects of which there may be millions.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/guarded.hpp"

namespace holdfast::base {

/// For short critical sections; a thread that has to wait sleeps. (The third of the mutexes in Drepper, "Futexes Are
/// Tricky", 2011.)
class HOLDFAST_CAPABILITY("mutex") SmallMutex {
 public:
  SmallMutex() = default;
  SmallMutex(const SmallMutex&) = delete;
  SmallMutex& operator=(const SmallMutex&) = delete;

  void lock() noexcept HOLDFAST_ACQUIRE() {
    std::int32_t seen = kFree;
    if (state_.compare_exchange_strong(seen, kLocked, std::memory_order_acquire)) return;
    if (seen != kContended) seen = state_.exchange(kContended, std::memory_order_acquire);
    while (seen != kFree) {
      state_.wait(kContended, std::memory_order_relaxed);
      seen = state_.exchange(kContended, std::memory_order_acquire);
    }
  }
  bool try_lock() noexcept HOLDFAST_TRY_ACQUIRE(true) {
    std::int32_t seen = kFree;
    return state_.compare_exchange_strong(seen, kLocked, std::memory_order_acquire);
  }
  void unlock() noexcept HOLDFAST_RELEASE() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) state_.notify_one();
  }

 private:
  static constexpr std::int32_t kFree = 0, kLocked = 1, kContended = 2;
  std::atomic<std::int32_t> state_{kFree};
};

}  // namespace holdfast::base
