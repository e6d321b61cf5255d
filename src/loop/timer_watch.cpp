// SPDX-License-Identifier: Apache-2.0
#include "loop/timer_watch.hpp"

#include <atomic>

namespace holdfast {
namespace {

std::atomic<detail::TimerWatch> the_watch{nullptr};

}  // namespace

void detail::set_timer_watch(TimerWatch watch) noexcept { the_watch.store(watch); }

void timing::tell_watch(base::TimePoint time) noexcept {
  if (const detail::TimerWatch watch = the_watch.load(std::memory_order_relaxed)) watch(time);
}

}  // namespace holdfast
