// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/tenure.hpp"

namespace holdfast::engine {

void Tenure::on_granted(TimePoint sent_at) {
  pause_until_ = {};
  if (paused_ && sent_at < released_at_) {  // requested in one write with the release: others had no chance
    paused_ = chance_given_ = false;
    return;
  }
  if (paused_) {
    paused_ = false;
    if (next_skip_ == 1 && pause_ < kLongestPause) {
      pause_ *= 2;  // nobody took it: they may be slow
    } else {
      pause_ = kPause;  // no, they listen but do not want it
      skip_ = next_skip_;
      next_skip_ = std::min(next_skip_ * 2, kMostSkipped);
    }
  }
  if (!chance_given_ && sent_at < released_at_ + kPause) return;
  began_ = sent_at;
  chance_given_ = false;
}

void Tenure::on_other() {
  chance_given_ = true;
  released_at_ = {};
  paused_ = false;
  pause_until_ = {};
  skip_ = 0;
  next_skip_ = 1;
}

void Tenure::on_released(TimePoint now, int others) {
  released_at_ = now;
  others_ = others;
  const bool strangers_listen = others > 0 && strangers(now);
  if (limit_ == Duration{} || (may_pass(now) && !strangers_listen)) return;
  chance_given_ = true;
  if (others == 0) return;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  pause_until_ = now + pause_;
  paused_ = true;
}

}  // namespace holdfast::engine
