// SPDX-License-Identifier: Apache-2.0
#include "loop/alarm.hpp"

#include <utility>

namespace holdfast::timing {

using base::Clock;
using base::TimePoint;

namespace {

/// Before all others.
constexpr TimePoint kAtOnce{};

}  // namespace

Alarm::Alarm(Schedule& schedule, std::function<void()> ring, AtClose at_close)
    : schedule_(schedule), ring_(std::move(ring)), at_close_(at_close) {}

Alarm::~Alarm() { cancel(); }

void Alarm::set(TimePoint time, std::shared_ptr<void> keep) noexcept {
  if (time == TimePoint::max()) return cancel();
  keep_.swap(keep);
  if (is_set()) schedule_.remove(*this);
  time_ = schedule_.closed_ && at_close_ == AtClose::rings ? kAtOnce : time;
  schedule_.add(*this);
}

void Alarm::set_after(base::Duration time, std::shared_ptr<void> keep) noexcept {
  set(Clock::now() + time, std::move(keep));
}

void Alarm::set_by(TimePoint time) noexcept {
  if (is_set() ? time < time_ : time != TimePoint::max()) set(time, std::move(keep_));
}

void Alarm::cancel() noexcept {
  if (!is_set()) return;
  schedule_.remove(*this);
  const std::shared_ptr<void> kept = std::move(keep_);  // releasing it may destroy this alarm
}

Schedule::Schedule(const boost::asio::any_io_executor& executor)
    : executor_(executor), timer_(executor, [this] { on_time(); }) {}

Schedule::~Schedule() { drop_all(); }

void Schedule::add(Alarm& alarm) noexcept {
  alarms_.insert(alarm);
  note_next();
  timer_.wait_until(alarms_.begin()->time_);
}

/// The timer may fire too early after that, which is cheaper than moving it with every alarm.
void Schedule::remove(Alarm& alarm) noexcept {
  alarms_.erase(alarms_.iterator_to(alarm));
  note_next();
}

void Schedule::note_next() noexcept {
  const TimePoint next = alarms_.empty() ? TimePoint::max() : alarms_.begin()->time_;
  next_.store(next.time_since_epoch().count(), std::memory_order_relaxed);
  if (closed_ && alarms_.empty()) timer_.rest();
}

/// Rings the alarms that are due now; if they set others for a past time, those ring the next time.
void Schedule::on_time() {
  struct SetTimer {
    Schedule& schedule;
    ~SetTimer() {
      if (!schedule.alarms_.empty()) schedule.timer_.wait_until(schedule.alarms_.begin()->time_);
    }
  };
  const SetTimer at_the_end{*this};
  const TimePoint now = Clock::now();
  std::size_t due = 0;
  for (auto next = alarms_.begin(); next != alarms_.end() && next->time_ <= now; ++next) ++due;
  for (; due > 0 && !alarms_.empty() && alarms_.begin()->time_ <= now; --due) {
    Alarm& first = *alarms_.begin();
    remove(first);
    const std::shared_ptr<void> kept = std::move(first.keep_);
    first.ring_();
  }
}

void Schedule::close() noexcept {
  if (std::exchange(closed_, true)) return;
  timer_.rest();
  for (auto next = alarms_.begin(); next != alarms_.end();) {
    Alarm& alarm = *next++;
    if (alarm.at_close_ == Alarm::AtClose::rings) alarm.set(kAtOnce, std::move(alarm.keep_));
  }
  if (!alarms_.empty()) timer_.wait_until(alarms_.begin()->time_);
}

void Schedule::drop_all() noexcept {
  while (!alarms_.empty()) alarms_.begin()->cancel();
}

}  // namespace holdfast::timing
