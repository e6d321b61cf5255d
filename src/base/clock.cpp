// Nothing else may be defined here: simulated time replaces this file.
#include "base/clock.hpp"

#include <ctime>

namespace holdfast::base {

Clock::time_point Clock::now() noexcept {
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
