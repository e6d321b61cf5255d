// Sets the source of the clock's time.
#pragma once

#include "base/clock.hpp"

namespace holdfast::base {

/// As detail::set_clock(), for the code that this is linked into: a shared holdfast::testing has its own copy of the
/// clock.
void set_hand(detail::ClockHand hand) noexcept;

}  // namespace holdfast::base
