// SPDX-License-Identifier: Apache-2.0
// The library's machines as bytes that spin compares, stores and restores. Each stands at a fixed place.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"

namespace holdfast::model {

/// Microseconds of a model, which begin long after the clock's zero: that means "never" in places.
inline base::TimePoint at(int time) { return base::TimePoint(std::chrono::hours(1) + std::chrono::microseconds(time)); }
inline std::chrono::milliseconds length(int time) { return std::chrono::milliseconds(time / 1000); }

/// The first step of so many microseconds at which that time has come.
inline int steps_until(base::TimePoint until, int step) {
  return static_cast<int>((std::chrono::ceil<std::chrono::microseconds>(until - at(0)).count() + step - 1) / step);
}

template <class Machine, std::size_t room>
Machine& machine_at(char* rooms, int which) {
  static_assert(sizeof(Machine) <= room && alignof(Machine) <= 8 && room % 8 == 0);
  return *std::launder(reinterpret_cast<Machine*>(rooms + static_cast<std::size_t>(which) * room));
}

template <std::size_t room>
void clear(char* rooms, int which) {
  std::memset(rooms + static_cast<std::size_t>(which) * room, 0, room);
}

/// What lies between its members is zero as well, so that equal machines are equal bytes (with -fno-lifetime-dse).
template <class Machine, std::size_t room, class... Args>
void make(char* rooms, int which, Args&&... args) {
  clear<room>(rooms, which);
  new (rooms + static_cast<std::size_t>(which) * room) Machine(std::forward<Args>(args)...);
}

}  // namespace holdfast::model
