// Who is told of the times that timers are set to: nobody, unless time is moved by hand.
#pragma once

#include <holdfast/export.hpp>

#include "base/clock.hpp"

namespace holdfast {

namespace detail {

/// From now on this function is called with each time at which the one timer of a loop is to ring, on that loop; null:
/// nothing is, as in the beginning. For holdfast::testing, which is of the same release.
using TimerWatch = void (*)(base::TimePoint time) noexcept;
HOLDFAST_EXPORT void set_timer_watch(TimerWatch watch) noexcept;

}  // namespace detail

namespace timing {

/// For the timer.
void tell_watch(base::TimePoint time) noexcept;

}  // namespace timing
}  // namespace holdfast
