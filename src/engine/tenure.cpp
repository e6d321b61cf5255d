#include "engine/tenure.hpp"

namespace holdfast::engine {

void Tenure::on_granted(TimePoint sent_at) {
  pause_until_ = {};
  if (paused_) {  // and nobody came: they listen, but do not want it
    skip_ = next_skip_;
    next_skip_ = std::min(next_skip_ * 2, kMostSkipped);
    paused_ = false;
  }
  if (!chance_given_ && sent_at < released_at_ + kPause) return;
  began_ = sent_at;
  chance_given_ = false;
}

void Tenure::on_other() {
  chance_given_ = true;
  paused_ = false;
  pause_until_ = {};
  skip_ = 0;
  next_skip_ = 1;
}

void Tenure::on_released(TimePoint now, bool others) {
  released_at_ = now;
  others_ = others;
  if (limit_ == Duration{} || may_pass(now)) return;
  chance_given_ = true;
  if (!others) return;
  if (skip_ > 0) {
    --skip_;
    return;
  }
  pause_until_ = now + kPause;
  paused_ = true;
}

}  // namespace holdfast::engine
