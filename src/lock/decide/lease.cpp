// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/lease.hpp"

#include <utility>

namespace holdfast::engine {

std::optional<TimePoint> Look::on_changed(TimePoint now, milliseconds lease) {
  if (std::exchange(open_, true)) return std::nullopt;
  if (now - asked_at_ > 2 * pause_) {
    pause_ = kShortestPause;
    return now;
  }
  return std::max(now, asked_at_ + take_pause(lease));
}

void Look::on_asked(TimePoint now) { asked_at_ = now; }

TimePoint Look::on_open(TimePoint now, milliseconds lease) {
  open_ = true;
  return now + take_pause(lease);
}

Duration Look::take_pause(milliseconds lease) {
  return std::exchange(pause_, std::min(2 * pause_, longest_pause(lease)));
}

}  // namespace holdfast::engine
