// SPDX-License-Identifier: Apache-2.0
// Apart from what else a test sets: a simulation has its own clock, and must not be linked with the library's.
#include "base/clock.hpp"

void holdfast::detail::set_clock(base::ClockHand hand) noexcept { base::set_hand(hand); }
