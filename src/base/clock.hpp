// The clock of all leases and waits: steady, and it also counts the time that the machine was suspended.
#pragma once

#include <chrono>

namespace holdfast::base {

/// A steady clock that goes on during suspend (CLOCK_BOOTTIME where there is one): the server's lease runs on while a
/// laptop or a virtual machine sleeps, so the holder's must too.
struct Clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

using TimePoint = Clock::time_point;
using Duration = Clock::duration;

}  // namespace holdfast::base
