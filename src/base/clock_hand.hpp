// Whose time the clock of this library shows.
#pragma once

#include "base/clock.hpp"

namespace holdfast::base {

/// As detail::set_clock(), for the code that this is linked into: a shared holdfast::testing has a clock of its own
/// beside that of the library.
void set_hand(detail::ClockHand hand) noexcept;

}  // namespace holdfast::base
