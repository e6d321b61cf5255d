// SPDX-License-Identifier: Apache-2.0
#include "base/clock_hand.hpp"

void holdfast::detail::set_clock(base::ClockHand hand) noexcept { base::set_hand(hand); }
