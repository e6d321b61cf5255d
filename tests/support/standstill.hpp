// SPDX-License-Identifier: Apache-2.0
// How long the machine has stood still: virtual ones do so for some seconds now and then, or one of their processors
// does, with whatever runs there.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <deque>
#include <sched.h>
#include <thread>

namespace holdfast::test {

/// Watches the clock beside a test, on the first processors. What it saw stand still is no lateness of the product: a
/// limit on a time that was measured is `limit + still.total()`.
class Standstill {
 public:
  Standstill() {
    cpu_set_t mine;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    for (int i = 0; i < CPU_SETSIZE && watches_.size() < kMost; ++i) {
      if (CPU_ISSET(i, &mine)) watches_.emplace_back(i);
    }
  }

  std::chrono::milliseconds total() const { return most(&Watch::lost); }
  /// At one time.
  std::chrono::milliseconds longest() const { return most(&Watch::longest); }

 private:
  using Time = std::chrono::steady_clock::time_point;
  using Length = std::chrono::milliseconds;
  static constexpr Length kTick{10};
  static constexpr Length kUsual{30};  // a tick may be so late on a busy machine
  static constexpr std::size_t kMost = 4;

  static Length late(Time last, Time now) {
    const auto by = std::chrono::duration_cast<Length>(now - last - kTick);
    return by > kUsual ? by : Length(0);
  }

  /// On one processor.
  class Watch {
   public:
    explicit Watch(int processor)
        : thread_([this, processor](const std::stop_token& stop) {
            sigset_t all;  // which are for others
            sigfillset(&all);
            pthread_sigmask(SIG_BLOCK, &all, nullptr);
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(processor, &one);
            sched_setaffinity(0, sizeof one, &one);
            watch(stop);
          }) {}

    Length lost() const { return lost_.load() + since(); }
    Length longest() const { return std::max(longest_.load(), since()); }

   private:
    Length since() const { return late(last_.load(), std::chrono::steady_clock::now()); }  // is still to be noticed
    void watch(const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(kTick);
        const Time now = std::chrono::steady_clock::now();
        const Length by = late(last_.exchange(now), now);
        lost_ = lost_.load() + by;
        longest_ = std::max(longest_.load(), by);
      }
    }

    std::atomic<Length> lost_{Length(0)}, longest_{Length(0)};
    std::atomic<Time> last_{std::chrono::steady_clock::now()};
    std::jthread thread_;
  };

  Length most(Length (Watch::*of)() const) const {
    Length found{0};
    for (const Watch& each : watches_) found = std::max(found, (each.*of)());
    return found;
  }

  std::deque<Watch> watches_;
};

}  // namespace holdfast::test
