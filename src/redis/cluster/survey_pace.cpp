#include "redis/cluster/survey_pace.hpp"

#include <algorithm>
#include <cmath>

namespace holdfast::redis::cluster {
namespace {

base::Duration times(base::Duration duration, double factor) {
  return std::chrono::duration_cast<base::Duration>(duration * factor);
}

}  // namespace

SurveyPace::SurveyPace(std::uint64_t chance) : random_(chance) {}

base::Duration SurveyPace::some_of(base::Duration longest, double least) {
  return times(longest, std::uniform_real_distribution<>(least, 1)(random_));
}

base::Duration SurveyPace::next_pause(base::TimePoint now) {
  constexpr int kEnough = 10;  // doublings that exceed every limit
  const base::Duration step = kFirst * (1 << std::min(std::max(step_ - 1, 0), kEnough));
  if (now - trouble_began_ >= kFresh) return some_of(std::min(times(step, factor_), kLongest), 0.5);
  return some_of(std::min(times(std::min(step, kLongestAtFirst), factor_), 2 * kLongestAtFirst), 0.5);
}

void SurveyPace::note_trouble(base::TimePoint now) {
  if (calm(now)) {
    trouble_began_ = now;
    step_ = 0;
  }
  last_trouble_ = now;
}

void SurveyPace::on_doubt(base::TimePoint now) {
  note_trouble(now);
  if (!refresh_) return;
  refresh_ = false;
  due_ = std::min(due_, std::max(now + some_of(times(kSpread, factor_), 0), last_end_ + pause_));
}

void SurveyPace::on_ended(base::TimePoint now, bool again) {
  if (again) note_trouble(now);
  if (!calm(now)) ++step_;
  last_end_ = now;
  pause_ = next_pause(now);
  due_ = now + (again ? pause_ : times(some_of(kRefresh, 1.0 / 3), 1.5));
  refresh_ = !again;
}

void SurveyPace::hurry(base::TimePoint now) { due_ = std::min(due_, std::max(now, last_end_ + some_of(kFirst, 0.5))); }

void SurveyPace::set_primaries(std::size_t number) {
  factor_ = std::sqrt(std::max(1.0, static_cast<double>(number) / 3));
}

}  // namespace holdfast::redis::cluster
