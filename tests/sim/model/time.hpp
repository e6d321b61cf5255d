// SPDX-License-Identifier: Apache-2.0
// The time and the chance that models run on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "base/clock.hpp"

namespace holdfast::test {

class Time {
 public:
  using Event = std::function<void()>;
  /// What an event is known by: its time, and the order of those at the same time.
  using Id = std::pair<base::TimePoint, std::uint64_t>;

  Time() = default;
  virtual ~Time() = default;
  Time(const Time&) = delete;
  Time& operator=(const Time&) = delete;

  virtual base::TimePoint now() const = 0;
  virtual Id at(base::TimePoint time, Event event) = 0;
  Id after(base::Duration time, Event event) { return at(now() + time, std::move(event)); }
  /// False: it has happened.
  virtual bool cancel(const Id& id) = 0;
  /// Uniform, both ends included.
  virtual base::Duration between(base::Duration least, base::Duration most) = 0;
  /// A digit of a server's id, from 0 to 15.
  virtual std::size_t digit() {
    return static_cast<std::size_t>(between(base::Duration(0), base::Duration(15)).count());
  }
};

}  // namespace holdfast::test
