#include "base/clock_hand.hpp"

namespace holdfast {

void detail::set_clock(ClockHand hand) noexcept { base::set_hand(hand); }

}  // namespace holdfast
