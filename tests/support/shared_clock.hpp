// SPDX-License-Identifier: Apache-2.0
// The clock of records and histories.
#pragma once

#include <ctime>

namespace holdfast::test {

/// Microseconds of the clock that all processes of a machine share; 0: never.
using Microseconds = long long;

/// CLOCK_BOOTTIME, the library's own clock: it counts the time that the machine was suspended.
inline Microseconds shared_clock() {
#ifdef CLOCK_BOOTTIME
  constexpr clockid_t kClock = CLOCK_BOOTTIME;
#else
  constexpr clockid_t kClock = CLOCK_MONOTONIC;
#endif
  timespec now{};
  clock_gettime(kClock, &now);
  return now.tv_sec * 1'000'000LL + now.tv_nsec / 1000;
}

}  // namespace holdfast::test
