// SPDX-License-Identifier: Apache-2.0
// Nothing else may be defined here: simulated time replaces this file.
#include "base/clock.hpp"

#include <atomic>
#include <ctime>

namespace holdfast::base {
namespace {

std::atomic<ClockHand> the_hand{nullptr};

}  // namespace

void set_hand(ClockHand hand) noexcept { the_hand.store(hand, std::memory_order_relaxed); }

Clock::time_point Clock::now() noexcept {
  if (const ClockHand hand = the_hand.load(std::memory_order_relaxed)) return hand();
#ifdef CLOCK_BOOTTIME
  constexpr clockid_t kClock = CLOCK_BOOTTIME;
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
#endif
  timespec t{};
  clock_gettime(kClock, &t);
  return time_point(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
}

}  // namespace holdfast::base
