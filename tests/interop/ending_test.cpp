// SPDX-License-Identifier: Apache-2.0
// Holders and waiters that end without a word, or fall asleep: the other side goes on, not too early and not too late.
#include <csignal>

#include "interop.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::ending_test {
namespace {

class Endings : public Interop {};
HOLDFAST_INTEROP(Endings, both_ways(kRedissons));

TEST_P(Endings, AKilledHolderIsFollowedWhenItsLeaseEndsAndNotBefore) {
  const Standstill still;
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  const auto killed = steady_clock::now();
  kill(holder().taker());
  const milliseconds rest(raw.pttl("orders"));
  const auto looked = steady_clock::now();
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  // Up to 5 ms for the roundings of the server and of this test.
  EXPECT_GE(entered.ended, killed + rest - 5ms);
  EXPECT_LE(entered.ended, looked + kLease + 500ms + still.total());
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(Endings, AKilledWaiterLeavesNothingBehind) {
  holder().lock("orders");
  other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  kill(other().taker());
  ASSERT_TRUE(listeners("orders", 0));
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", kLease));
}

TEST_P(Endings, AHolderThatIsClosedEndsCleanlyAndTheOtherEnters) {
  // Holdfast gives back what it holds; Redisson leaves it to the lease.
  const bool gives_back = first_side() == Side::holdfast;
  if (gives_back) set("lease_ms", 30s);
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  const auto closed = steady_clock::now();
  holder().taker().ask({"close"});
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - closed, gives_back ? kPrompt : kLease + kPrompt);
  EXPECT_EQ(holder().taker().finish(), ExitStatus{});
}

TEST_P(Endings, AHolderThatSleptTooLongDoesNotDisturbTheNext) {
  holder().lock("orders");
  holder().taker().signal(SIGSTOP);
  const Answer entered = other().start_lock("orders").get();
  ASSERT_TRUE(entered.ok) << entered.text;
  holder().taker().signal(SIGCONT);
  EXPECT_EQ(holder().unlock("orders"), first_side() == Side::holdfast ? "was_lost" : "not_owner");
  EXPECT_TRUE(other().is_mine("orders"));
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(Endings, AWaiterEntersAfterAllConnectionsWereCut) {
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  ASSERT_GE(raw.command("CLIENT", "KILL", "SKIPME", "yes").integer, 3);
  // The release goes over a new connection, and its message may not be heard. Redisson may also lose the release, and
  // says so; since it then renews no longer, the lock is free when its lease ends.
  const std::string outcome = holder().unlock("orders");
  if (first_side() == Side::holdfast) {
    EXPECT_EQ(outcome, "released");
  }
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(Endings, AServerThatForgetsTheLockLetsTheOtherIn) {
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  raw.flushall();
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_EQ(holder().unlock("orders"), first_side() == Side::holdfast ? "was_lost" : "not_owner");
  EXPECT_EQ(other().unlock("orders"), "released");
}

}  // namespace
}  // namespace holdfast::test::ending_test
