// SPDX-License-Identifier: Apache-2.0
#include "chaos/heartbeat.hpp"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/shared_clock.hpp"

namespace holdfast::test::chaos::heartbeat_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(Standstills, ThatOverlapAreOne) {
  EXPECT_THAT(merged({}), IsEmpty());
  EXPECT_THAT(merged({{40, 50}, {10, 20}, {15, 30}, {16, 17}}), ElementsAre(Standstill{10, 30}, Standstill{40, 50}));
}

// Of a machine that runs; of one that does not, what is found lies within the time.
TEST(Heartbeats, FindNothingButTheTimeBetween) {
  const Microseconds began = shared_clock();
  Heartbeat heartbeat;
  std::this_thread::sleep_for(3 * Heartbeat::kBeat);
  for (const Standstill& each : heartbeat.stop()) {
    EXPECT_GE(each.began, began);
    EXPECT_LE(each.ended, shared_clock());
    EXPECT_GE(each.ended - each.began, std::chrono::microseconds(Heartbeat::kLate).count());
  }
}

}  // namespace
}  // namespace holdfast::test::chaos::heartbeat_test
