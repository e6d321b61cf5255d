#include "engine/decide/place.hpp"

#include <algorithm>

namespace holdfast::engine {

void Place::found(std::int64_t others) {
  const int most = static_cast<int>(std::clamp<std::int64_t>(others, 0, kNoLimit / 4));
  if (!known()) {
    ahead_ = most;
    turns_ = 0;
  }
  ahead_ = std::min(ahead_, most + turns_);
}

void Place::guess() {
  if (known()) return;
  found(kNear);
  guessed_ = true;
}

void Place::on_release(TimePoint now) {
  if (released_at_ != TimePoint{}) between_ = now - released_at_;
  released_at_ = now;
  if (now < turn_ends_) return;
  turn_ends_ = now + turn_;
  ++turns_;
}

Duration Place::delay(int limit, bool strangers) {
  const int ahead = std::min(ahead_, limit);
  if (ahead <= 0) return {};
  // Steps of the golden ratio from a random start, so that any run of them is evenly spread.
  chance_ += 0.618033988749895;
  if (chance_ >= 1) chance_ -= 1;
  const auto by_chance = [this](Duration longest) { return std::chrono::duration_cast<Duration>(chance_ * longest); };
  const int place = ahead - turns_;
  const Duration step = strangers ? kStrangersStep : kStep;
  if (guessed_) return by_chance(std::clamp(place, 2, kNear) * step);
  if (place <= -kOverdue) return {};
  if (place <= 0) return (place + kOverdue) * kSmallStep + by_chance(kSmallStep);
  if (place <= kNear) return place * step + by_chance(kSmallStep);
  const Duration pause = std::min(2 * between_, kLongestPause);
  return kNear * step + pause + by_chance(std::min(place - kNear, kMostFar) * kFarStep);
}

void PlaceLimit::on_end(const Place& place) {
  if (place.known()) turns_ = std::max(place.turns() - 1, std::min(turns_, place.ahead()) / 4);
}

}  // namespace holdfast::engine
