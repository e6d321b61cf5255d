// SPDX-License-Identifier: Apache-2.0
// The clock of all leases and waits: steady, and it includes time that the machine was suspended.
#pragma once

#include <chrono>

#include <holdfast/export.hpp>

namespace holdfast::base {

/// A steady clock that keeps running during suspend (CLOCK_BOOTTIME where available): the server's lease runs on while
/// a laptop or a virtual machine sleeps, so the holder's must too.
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

/// From now on Clock::now() returns what this function returns; null: the system's time, as at the start. For the code
/// that this is linked into: see detail::set_clock(). From any thread; existing clients see the time jump.
using ClockHand = TimePoint (*)() noexcept;
void set_hand(ClockHand hand) noexcept;

}  // namespace holdfast::base

namespace holdfast::detail {

/// As base::set_hand(), for the library. For holdfast::testing of the same release: a shared one has its own copy of
/// the clock.
HOLDFAST_EXPORT void set_clock(base::ClockHand hand) noexcept;

}  // namespace holdfast::detail
