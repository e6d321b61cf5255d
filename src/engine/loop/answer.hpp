// What a caller of a client's own loop waits for.
#pragma once

#include <atomic>

#include "base/futex.hpp"

namespace holdfast::engine {

/// Set once, by OwnLoop::set.
class Answer {
 public:
  bool is_there() const { return state_.load() == kThere; }
  /// It will not come with the next reply, so its caller need not drive the loop for it. On the loop.
  void comes_late() { late_.store(true, std::memory_order_relaxed); }

 private:
  friend class OwnLoop;
  static constexpr std::uint32_t kOpen = 0, kSleptFor = 1, kThere = 2;

  /// Sleeps until it is there, or for `limit`; perhaps for less.
  void sleep(base::Duration limit) noexcept {
    std::uint32_t seen = kOpen;
    if (state_.compare_exchange_strong(seen, kSleptFor) || seen == kSleptFor) base::sleep_on(state_, kSleptFor, limit);
  }
  /// True: its caller may be asleep and must be woken.
  bool set() noexcept { return state_.exchange(kThere) == kSleptFor; }

  base::Word state_{kOpen};
  std::atomic<bool> late_{false};
  std::atomic<const void*> driver_{nullptr};  // the caller's thread, while it drives
};

}  // namespace holdfast::engine
