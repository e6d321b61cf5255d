// SPDX-License-Identifier: Apache-2.0
// Pauses between attempts to connect.
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

#include "redis/connection/health.hpp"

namespace holdfast::redis::backoff_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr double kAlmostOne = 0.9999999;

/// The whole milliseconds of the next `n` pauses.
std::vector<long> pauses(Backoff& backoff, double random, int n) {
  std::vector<long> out;
  for (int i = 0; i < n; ++i) {
    out.push_back(std::chrono::round<std::chrono::milliseconds>(backoff.next(random)).count());
  }
  return out;
}

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff backoff(20ms, 2000ms);
  EXPECT_EQ(pauses(backoff, kAlmostOne, 9), (std::vector<long>{20, 40, 80, 160, 320, 640, 1280, 2000, 2000}));
}

TEST(Backoff, WaitsAtLeastHalfOfEachStep) {
  Backoff backoff(20ms, 2000ms);
  EXPECT_EQ(pauses(backoff, 0, 9), (std::vector<long>{10, 20, 40, 80, 160, 320, 640, 1000, 1000}));
}

TEST(Backoff, SpreadsPausesBetweenHalfAndAll) {
  EXPECT_EQ(Backoff(20ms, 2s).next(0.5), 15ms);
  EXPECT_EQ(Backoff(20ms, 2s).next(0.25), 12500us);
  EXPECT_LT(Backoff(20ms, 2s).next(kAlmostOne), 20ms);
}

TEST(Backoff, BeginsAgainAfterASuccess) {
  Backoff backoff(20ms, 2000ms);
  pauses(backoff, 0, 5);
  backoff.reset();
  EXPECT_EQ(pauses(backoff, 0, 3), (std::vector<long>{10, 20, 40}));
}

TEST(Backoff, StaysWhereItIsWhenFirstAndLimitAreTheSame) {
  Backoff backoff(1ms, 1ms);
  EXPECT_EQ(backoff.next(0), 500us);
  EXPECT_EQ(backoff.next(0), 500us);
}

TEST(Backoff, NeverDoublesBeyondALimitOfTenYears) {
  const std::chrono::milliseconds limit = std::chrono::hours(24 * 365 * 10);
  Backoff backoff(1ms, limit);
  nanoseconds before{};
  for (int i = 0; i < 60; ++i) {
    const nanoseconds pause = backoff.next(0);
    EXPECT_GE(pause, before);
    EXPECT_LE(pause, limit);
    before = pause;
  }
}

}  // namespace
}  // namespace holdfast::redis::backoff_test
