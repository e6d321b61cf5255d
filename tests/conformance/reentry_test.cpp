// SPDX-License-Identifier: Apache-2.0
// Re-entry: a thread that holds the lock takes it again, as often as it likes and without a command.
#include "conformance.hpp"

namespace holdfast::test::reentry_test {
namespace {

class Reentry : public Conformance {};
HOLDFAST_CONFORMANCE(Reentry, kStdSettings);

TEST_P(Reentry, TwoSuccessfulTriesNeedTwoUnlocks) {
  ASSERT_TRUE(a().try_lock("orders"));
  ASSERT_TRUE(a().try_lock("orders"));
  EXPECT_EQ(a().unlock("orders"), "still_held");
  EXPECT_FALSE(b().try_lock("orders"));
  EXPECT_TRUE(a().is_mine("orders"));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(b().try_lock("orders"));
}

TEST_P(Reentry, EveryWayOfTakingCountsTheSameHold) {
  EXPECT_EQ(a().count("orders"), 0);
  a().lock("orders");
  EXPECT_EQ(a().count("orders"), 1);
  ASSERT_TRUE(a().try_lock("orders"));
  EXPECT_EQ(a().count("orders"), 2);
  ASSERT_TRUE(a().try_lock("orders", 1s));
  EXPECT_EQ(a().count("orders"), 3);
  EXPECT_EQ(b().count("orders"), 0);
  a().unlock("orders");
  EXPECT_EQ(a().count("orders"), 2);
  a().unlock("orders");
  EXPECT_EQ(a().count("orders"), 1);
  a().unlock("orders");
  EXPECT_EQ(a().count("orders"), 0);
}

TEST_P(Reentry, CostsNoCommand) {
  set("lease_ms", 60s);
  a().lock("{orders}warm-up");
  a().unlock("{orders}warm-up");
  a().lock("orders");
  Monitor monitor(site.server("orders"));
  for (int i = 0; i < 10; ++i) a().lock("orders");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(a().unlock("orders"), "still_held");
  EXPECT_EQ(monitor.count("orders"), 0U);
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_EQ(monitor.count("orders"), 1U);
}

TEST_P(Reentry, IsNotSeenOnTheServer) {
  a().lock("orders");
  const auto once = on_server("orders");
  a().lock("orders");
  EXPECT_EQ(on_server("orders"), once);
  ASSERT_EQ(once.size(), 1U);
  EXPECT_EQ(once.begin()->second, "1");
}

TEST_P(Reentry, PartialUnlocksKeepTheExplicitLease) {
  set("lease_ms", 60s);
  for (int i = 0; i < 3; ++i) a().lock("orders", 10s);
  a().unlock("orders");
  a().unlock("orders");
  EXPECT_THAT(b().remaining("orders").value_or(0ms), AllOf(Gt(5s), Le(10s)));
  EXPECT_EQ(a().unlock("orders"), "released");
}

TEST_P(Reentry, OfAnExpiredLockIsRefusedUntilTheThreadLetsGo) {
  a().lock("orders", 100ms);
  ASSERT_TRUE(b().try_lock("orders", kPrompt));
  EXPECT_EQ(a().start_lock("orders").get().error, "lost");
  EXPECT_EQ(b().unlock("orders"), "released");
  EXPECT_EQ(a().start_lock("orders").get().error, "lost");
  EXPECT_EQ(a().unlock("orders"), "was_lost");
  a().lock("orders");
  EXPECT_EQ(a().unlock("orders"), "released");
}

TEST_P(Reentry, MixedWithRenewalKeepsTheLockUntilTheLastUnlock) {
  a().lock("orders");
  for (int i = 0; i < 3; ++i) {
    a().lock("orders");
    EXPECT_FALSE(eventually([&] { return !site.exists("orders"); }, kLease));
    EXPECT_EQ(a().unlock("orders"), "still_held");
    EXPECT_FALSE(eventually([&] { return !site.exists("orders"); }, kLease));
  }
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", kLease));
}

TEST_P(Reentry, LeavesNoTraceThatStopsTheRenewalOfTheNextOwner) {
  a().lock("orders");
  a().lock("orders");
  a().unlock("orders");
  a().unlock("orders");
  b().lock("orders");
  const auto owner = on_server("orders");
  EXPECT_FALSE(eventually([&] { return on_server("orders") != owner; }, 10 * kLease));
  EXPECT_TRUE(b().is_mine("orders"));
}

class OneHold : public Conformance {};
constexpr Setting kHoldFaces[] = {{Setting::Parties::threads, Setting::Face::hold},
                                  {Setting::Parties::threads, Setting::Face::async}};
HOLDFAST_CONFORMANCE(OneHold, kHoldFaces);

TEST_P(OneHold, AcquiringAgainWaitsForTheFirst) {
  a().lock("orders");
  EXPECT_FALSE(a().try_lock("orders"));
  EXPECT_FALSE(a().try_lock("orders", kAWhile));
  EXPECT_EQ(a().unlock("orders"), "released");
}

}  // namespace
}  // namespace holdfast::test::reentry_test
