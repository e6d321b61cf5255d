// SPDX-License-Identifier: Apache-2.0
// Whether the machine itself runs: a virtual one may be kept from some of its processors for seconds.
#pragma once

#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "judges/story.hpp"

namespace holdfast::test::chaos {

/// Those that overlap are one.
std::vector<Standstill> merged(std::vector<Standstill> all);

/// On each processor a thread that sleeps, and looks how late it wakes.
class Heartbeat {
 public:
  static constexpr std::chrono::milliseconds kBeat{50}, kLate{250};

  Heartbeat();
  std::vector<Standstill> stop();

 private:
  void beat(const std::stop_token& stop, int processor);

  std::mutex mutex_;
  std::vector<Standstill> found_;  // guarded by it
  std::vector<std::jthread> threads_;
};

}  // namespace holdfast::test::chaos
