// SPDX-License-Identifier: Apache-2.0
// One side sees what the other does with a lock: who has it, for how long, how often, and that it was taken away.
#include "interop.hpp"

namespace holdfast::test::sharing_test {
namespace {

class Sharing : public Interop {};
HOLDFAST_INTEROP(Sharing, both_ways(kRedissons));

TEST_P(Sharing, AHeldLockIsSeenByTheOther) {
  EXPECT_FALSE(other().is_locked("orders"));
  holder().lock("orders", 20s);
  EXPECT_TRUE(other().is_locked("orders"));
  EXPECT_FALSE(other().is_mine("orders"));
  EXPECT_TRUE(holder().is_mine("orders"));
  EXPECT_FALSE(other().try_lock("orders"));
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_FALSE(other().is_locked("orders"));
  EXPECT_TRUE(other().try_lock("orders"));
}

TEST_P(Sharing, AFixedLeaseIsSeenByTheOther) {
  EXPECT_EQ(other().remaining("orders"), std::nullopt);
  holder().lock("orders", 20s);
  const auto remaining = other().remaining("orders");
  ASSERT_TRUE(remaining.has_value());
  EXPECT_THAT(*remaining, AllOf(Gt(10s), Le(20s)));
}

TEST_P(Sharing, AReleaseByTheOtherIsRefusedAndLeavesTheLock) {
  holder().lock("orders", 20s);
  EXPECT_EQ(other().unlock("orders"), "not_owner");
  EXPECT_TRUE(holder().is_mine("orders"));
  EXPECT_EQ(holder().unlock("orders"), "released");
}

TEST_P(Sharing, ATryGivesUpWhenItsTimeIsOver) {
  holder().lock("orders", 20s);
  const Answer answer = other().start_try("orders", 600ms).get();
  EXPECT_EQ(answer.word(), "no");
  EXPECT_THAT(answer.ended - answer.began, AllOf(Ge(590ms), Lt(kPrompt)));
}

TEST_P(Sharing, AReenteredLockKeepsTheOtherOutUntilTheLastRelease) {
  for (int i = 0; i < 3; ++i) holder().lock("orders", 20s);
  EXPECT_EQ(holder().count("orders"), 3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(holder().unlock("orders"), "still_held");
    EXPECT_FALSE(other().try_lock("orders"));
  }
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(other().try_lock("orders"));
}

TEST_P(Sharing, AForcedReleaseByTheOtherIsNoticedByTheHolder) {
  holder().lock("orders");
  EXPECT_TRUE(other().force_release("orders"));
  EXPECT_FALSE(other().force_release("orders"));
  if (first_side() == Side::holdfast) {
    EXPECT_TRUE(eventually([&] { return holder().lost("orders"); }));
    EXPECT_EQ(holder().unlock("orders"), "was_lost");
  } else {
    EXPECT_EQ(holder().unlock("orders"), "not_owner");
  }
  EXPECT_TRUE(other().try_lock("orders"));
}

class Leases : public Interop {};
HOLDFAST_INTEROP(Leases, both_ways(kRedissons));

TEST_P(Leases, ARenewedHoldOutlivesItsLease) {
  holder().lock("orders");
  const auto owner = raw.hgetall("orders");
  const Pending waiting = other().start_try("orders", 4 * kLease);
  long long lowest = kLease.count();
  while (!waiting.answered(1ms)) lowest = std::min(lowest, raw.pttl("orders"));
  EXPECT_EQ(waiting.get().word(), "no");
  EXPECT_EQ(raw.hgetall("orders"), owner);
  EXPECT_GT(lowest, kLease.count() / 5);
  figure("lowest time to live", std::to_string(lowest) + " of " + std::to_string(kLease.count()) + " ms");
  EXPECT_EQ(holder().unlock("orders"), "released");
}

TEST_P(Leases, AFixedLeaseEndsAndTheOtherEnters) {
  const Answer held = holder().lock("orders", 2 * kLease);
  const Answer entered = other().start_lock("orders").get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_GE(entered.ended - held.began, 2 * kLease);
  EXPECT_LT(entered.ended - held.ended, 3 * kLease);
  // The first holder's release comes too late, says so, and leaves the next one alone.
  EXPECT_EQ(holder().unlock("orders"), first_side() == Side::holdfast ? "was_lost" : "not_owner");
  EXPECT_TRUE(other().is_mine("orders"));
  EXPECT_EQ(other().unlock("orders"), "released");
}

}  // namespace
}  // namespace holdfast::test::sharing_test
