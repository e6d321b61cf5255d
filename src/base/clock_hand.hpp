// SPDX-License-Identifier: Apache-2.0
// Sets the source of the time of the library's clock.
#pragma once

#include <holdfast/export.hpp>

#include "base/clock.hpp"

namespace holdfast::detail {

/// As base::set_hand(), for the library. For holdfast::testing of the same release: a shared one has its own copy of
/// the clock.
HOLDFAST_EXPORT void set_clock(base::ClockHand hand) noexcept;

}  // namespace holdfast::detail
