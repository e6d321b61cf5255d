// SPDX-License-Identifier: Apache-2.0
// Messages and attempts that cross the releases of one client.
#include <gtest/gtest.h>

#include "lock/decide/tenure.hpp"

namespace holdfast::engine::release_traffic_test {
namespace {

TEST(ReleaseTrafficTest, TakesEveryMessageForSomebodyElsesWhileNothingIsReleased) {
  ReleaseTraffic traffic;
  EXPECT_FALSE(traffic.may_be_own(1));
  EXPECT_FALSE(traffic.overtakes());
}

TEST(ReleaseTrafficTest, TakesAMessageForEachLockOfEachReleaseForItsOwn) {
  ReleaseTraffic traffic;
  traffic.begin(false);
  traffic.begin(false);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(traffic.may_be_own(2)) << i;
  EXPECT_FALSE(traffic.may_be_own(2));
}

TEST(ReleaseTrafficTest, KnowsFromTheOutcomeWhoseMessageItWas) {
  ReleaseTraffic traffic;
  traffic.begin(false);
  EXPECT_TRUE(traffic.may_be_own(1));
  EXPECT_FALSE(traffic.end(true).others);
  traffic.begin(false);
  EXPECT_TRUE(traffic.may_be_own(1));
  EXPECT_TRUE(traffic.end(false).others) << "nothing of ours was released, so it was somebody else's";
}

TEST(ReleaseTrafficTest, WithoutAMessageThereIsNobodyElse) {
  ReleaseTraffic traffic;
  traffic.begin(false);
  EXPECT_FALSE(traffic.end(false).others);
}

TEST(ReleaseTrafficTest, DecidesAboutMessagesWhenTheLastReleaseHasEnded) {
  ReleaseTraffic traffic;
  traffic.begin(false);
  traffic.begin(false);
  EXPECT_TRUE(traffic.may_be_own(1));
  EXPECT_FALSE(traffic.end(false).others) << "it may be the other's";
  EXPECT_TRUE(traffic.any());
  EXPECT_TRUE(traffic.end(false).others);
  EXPECT_FALSE(traffic.any());
}

TEST(ReleaseTrafficTest, AsksAgainIfAnAttemptOvertookTheRelease) {
  ReleaseTraffic traffic;
  traffic.begin(false);
  EXPECT_TRUE(traffic.overtakes());
  EXPECT_TRUE(traffic.end(true).ask_again);
  traffic.begin(false);
  EXPECT_FALSE(traffic.end(true).ask_again);
}

TEST(ReleaseTrafficTest, GoesFirstUntilItsOutcome) {
  ReleaseTraffic traffic;
  traffic.begin(true);
  EXPECT_TRUE(traffic.goes_first());
  EXPECT_TRUE(traffic.end(true).ask_again);
  EXPECT_FALSE(traffic.goes_first());
}

}  // namespace
}  // namespace holdfast::engine::release_traffic_test
