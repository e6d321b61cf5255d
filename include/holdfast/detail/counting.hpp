// SPDX-License-Identifier: Apache-2.0
// What the counting kinds have in common: their operations, and how long they wait. Not for users.
#pragma once

#include <chrono>
#include <cstdint>

namespace holdfast::detail {

/// The operations of semaphores and latches: see their members of these names.
enum class Counting : std::uint8_t {
  init,  // of the semaphore
  add,
  release,
  drain,
  available,
  remove,
  init_leased,  // of the leased semaphore
  add_leased,
  set_total,
  available_leased,
  remove_leased,
  init_latch,  // of the latch
  count_down,
  count,
  remove_latch,
};
constexpr bool changes(Counting what) {
  return what != Counting::available && what != Counting::available_leased && what != Counting::count;
}

/// Rounded up to milliseconds; a value that does not fit becomes the largest one, which means "no limit". Negative
/// values and NaN become zero.
template <class Rep, class Period>
std::chrono::milliseconds limit_of(const std::chrono::duration<Rep, Period>& wait) {
  using Real = std::chrono::duration<double, std::milli>;
  if (Real(wait).count() >= 9e18) return std::chrono::milliseconds::max();
  if (!(Real(wait).count() > 0)) return std::chrono::milliseconds::zero();
  return std::chrono::ceil<std::chrono::milliseconds>(wait);
}
template <class Clock, class Duration>
std::chrono::milliseconds limit_until(const std::chrono::time_point<Clock, Duration>& time) {
  using Real = std::chrono::duration<double, std::milli>;  // does not overflow for time_point::max()
  return limit_of(Real(time.time_since_epoch()) - Real(Clock::now().time_since_epoch()));
}

}  // namespace holdfast::detail
