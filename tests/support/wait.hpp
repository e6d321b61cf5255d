// SPDX-License-Identifier: Apache-2.0
// Waiting for something to become true, instead of sleeping and hoping.
#pragma once

#include <chrono>
#include <thread>

namespace holdfast::test {

/// The limit of waits that are expected to end at once; generous, since machines under load stall.
inline constexpr std::chrono::milliseconds kPatience = std::chrono::seconds(30);

/// Asks every millisecond until the predicate is true (returns true) or the limit is over (returns its last answer).
template <class Predicate>
bool eventually(Predicate&& predicate, std::chrono::milliseconds limit = kPatience) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!predicate()) {
    if (std::chrono::steady_clock::now() >= end) return static_cast<bool>(predicate());
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace holdfast::test
