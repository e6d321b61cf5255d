// SPDX-License-Identifier: Apache-2.0
// How long the machine has stood still: virtual ones do so for some seconds now and then, all processes at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace holdfast::test {

/// Watches the clock beside a test. What it saw stand still is no lateness of the product: a limit on a time that was
/// measured is `limit + still.total()`.
class Standstill {
 public:
  std::chrono::milliseconds total() const {
    return lost_.load() + late(last_.load(), std::chrono::steady_clock::now());  // the latter is still to be noticed
  }
  /// At one time.
  std::chrono::milliseconds longest() const {
    return std::max(longest_.load(), late(last_.load(), std::chrono::steady_clock::now()));
  }

 private:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kTick{10};
  static constexpr std::chrono::milliseconds kUsual{30};  // a tick may be so late on a busy machine

  static std::chrono::milliseconds late(Time last, Time now) {
    const auto by = std::chrono::duration_cast<std::chrono::milliseconds>(now - last - kTick);
    return by > kUsual ? by : std::chrono::milliseconds(0);
  }
  void watch(const std::stop_token& stop) {
    sigset_t all;  // which are for others
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(kTick);
      const Time now = std::chrono::steady_clock::now();
      const std::chrono::milliseconds by = late(last_.exchange(now), now);
      lost_ = lost_.load() + by;
      longest_ = std::max(longest_.load(), by);
    }
  }

  std::atomic<std::chrono::milliseconds> lost_{std::chrono::milliseconds(0)};
  std::atomic<std::chrono::milliseconds> longest_{std::chrono::milliseconds(0)};
  std::atomic<Time> last_{std::chrono::steady_clock::now()};
  std::jthread thread_{[this](const std::stop_token& stop) { watch(stop); }};
};

}  // namespace holdfast::test
