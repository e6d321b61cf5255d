// SPDX-License-Identifier: Apache-2.0
#include "chaos/heartbeat.hpp"

#include <algorithm>
#include <sched.h>

#include "support/shared_clock.hpp"

namespace holdfast::test::chaos {

std::vector<Standstill> merged(std::vector<Standstill> all) {
  std::ranges::sort(all, {}, &Standstill::began);
  std::vector<Standstill> apart;
  for (const Standstill& each : all) {
    if (apart.empty() || apart.back().ended < each.began) {
      apart.push_back(each);
    } else {
      apart.back().ended = std::max(apart.back().ended, each.ended);
    }
  }
  return apart;
}

Heartbeat::Heartbeat() {
  cpu_set_t ours;
  if (sched_getaffinity(0, sizeof(ours), &ours) != 0) return;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &ours)) threads_.emplace_back([this, i](const std::stop_token& stop) { beat(stop, i); });
  }
}

std::vector<Standstill> Heartbeat::stop() {
  threads_.clear();
  return merged(std::move(found_));
}

void Heartbeat::beat(const std::stop_token& stop, int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_setaffinity(0, sizeof(one), &one);
  while (!stop.stop_requested()) {
    const Microseconds due = shared_clock() + std::chrono::microseconds(kBeat).count();
    std::this_thread::sleep_for(kBeat);
    const Microseconds now = shared_clock();
    if (now - due < std::chrono::microseconds(kLate).count()) continue;
    const std::lock_guard guard(mutex_);
    found_.push_back({due, now});
  }
}

}  // namespace holdfast::test::chaos
