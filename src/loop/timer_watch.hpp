// SPDX-License-Identifier: Apache-2.0
// Reports the times that timers are set to, for tests that move time by hand.
#pragma once

#include <holdfast/export.hpp>

#include "base/clock.hpp"

namespace holdfast {

namespace detail {

/// From now on this function is called, on the loop, with each time that the loop's timer is set to; null: no calls, as
/// at the start. For holdfast::testing of the same release.
using TimerWatch = void (*)(base::TimePoint time) noexcept;
HOLDFAST_EXPORT void set_timer_watch(TimerWatch watch) noexcept;

}  // namespace detail

namespace timing {

/// Called by the timer.
void tell_watch(base::TimePoint time) noexcept;

}  // namespace timing
}  // namespace holdfast
