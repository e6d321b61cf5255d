// SPDX-License-Identifier: Apache-2.0
// When a connection over which nothing comes is asked for a sign of life, and when it counts as dead.
#include "redis/connection/health.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace holdfast::redis::health_test {
namespace {

using namespace std::chrono_literals;
using Verdict = Health::Verdict;

TEST(Health, IsLookedAtEveryTenthOfALeaseWithinBounds) {
  EXPECT_EQ(Health::interval(30s), 3s);
  EXPECT_EQ(Health::interval(10ms), 1s);
  EXPECT_EQ(Health::interval(24h), 10s);
}

TEST(Health, IsFineWhileSomethingIsHeard) {
  Health health;
  EXPECT_EQ(health.judge(true), Verdict::well);
  EXPECT_EQ(health.judge(true), Verdict::well);
}

TEST(Health, IsGoneWhenAPingIsNotAnswered) {
  Health health;
  EXPECT_EQ(health.judge(false), Verdict::ping);
  EXPECT_EQ(health.judge(false), Verdict::dead);
}

TEST(Health, IsFineAgainWhenThePingIsAnswered) {
  Health health;
  EXPECT_EQ(health.judge(false), Verdict::ping);
  EXPECT_EQ(health.judge(true), Verdict::well);
  EXPECT_EQ(health.judge(false), Verdict::ping);
}

}  // namespace
}  // namespace holdfast::redis::health_test
