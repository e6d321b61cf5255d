// SPDX-License-Identifier: Apache-2.0
// The spin lock between parties, who learn of a release by asking; and a lock that its own thread cannot take twice.
#include "conformance.hpp"

namespace holdfast::test::spin_test {
namespace {

class SpinLocks : public Conformance {
 protected:
  SpinLocks() { set("kind", "spin"); }
};
HOLDFAST_CONFORMANCE(SpinLocks, kEverySetting);

TEST_P(SpinLocks, ExcludeEachOther) {
  set("lease_ms", 60s);  // outlives a stall of the machine
  a().lock("orders");
  EXPECT_TRUE(a().is_mine("orders"));
  EXPECT_TRUE(b().is_locked("orders"));
  EXPECT_FALSE(b().try_lock("orders"));
  EXPECT_FALSE(b().try_lock("orders", kAWhile));
  EXPECT_EQ(b().unlock("orders"), "not_owner");
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(b().try_lock("orders", kPrompt));
  EXPECT_EQ(b().unlock("orders"), "released");
  EXPECT_TRUE(on_server("orders").empty());
}

TEST_P(SpinLocks, AWaiterEntersSoonAfterAReleaseThoughNobodyListens) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  EXPECT_FALSE(waiting.answered(100ms));
  EXPECT_EQ(site.listeners("orders"), 0);
  const Answer released = a().start_unlock("orders").get();
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released.began, kPrompt);
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(SpinLocks, AWaiterEntersWhenTheLeaseEnds) {
  set("spin_max_ms", 60s);
  set("lease_ms", 60s);  // of the waiter: what is seen here is the end of the other one's
  a().lock("orders", 500ms);
  const Answer entered = b().lock("orders");
  EXPECT_LT(entered.ended - entered.began, kPrompt);
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(SpinLocks, ARenewedOneOutlivesItsLease) {
  a().lock("orders");
  EXPECT_FALSE(b().try_lock("orders", 3 * kLease));
  EXPECT_EQ(a().unlock("orders"), "released");
}

TEST_P(SpinLocks, ACancelledWaiterLeavesNothingBehind) {
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  EXPECT_FALSE(waiting.answered(100ms));
  EXPECT_TRUE(b().cancel(waiting));
  EXPECT_EQ(waiting.get(kPrompt).word(), "cancelled");
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 300ms));
}

TEST_P(SpinLocks, LoseNoUpdate) {
  constexpr int kParties = 8, kEach = 25;
  set("lease_ms", 30s);
  const TempDir folder;
  const std::string file = folder.file("counter");
  std::vector<Pending> work;
  for (std::size_t i = 0; i < kParties; ++i) {
    work.push_back(party(i).start("increment", "counter", {file, std::to_string(kEach), "1"}));
  }
  for (const Pending& task : work) EXPECT_TRUE(task.get(4 * kPatience).ok);
  EXPECT_EQ(read_number(file), kParties * kEach);
}

class NonReentrant : public Conformance {
 protected:
  NonReentrant() { set("kind", "non_reentrant"); }
};
HOLDFAST_CONFORMANCE(NonReentrant, kStdSettings);

TEST_P(NonReentrant, ItsOwnThreadIsRefusedAtOnceAndNobodyElse) {
  a().lock("orders");
  EXPECT_FALSE(a().try_lock("orders"));
  const Answer refused = a().start_lock("orders").get();
  EXPECT_FALSE(refused.ok);
  EXPECT_THAT(refused.text, ::testing::HasSubstr("it holds it already"));
  EXPECT_LT(refused.ended - refused.began, kPrompt);
  EXPECT_EQ(a().count("orders"), 1);
  const Pending waiting = b().start_lock("orders");
  EXPECT_FALSE(waiting.answered(50ms));
  EXPECT_EQ(a().unlock("orders"), "released") << "at the first time";
  EXPECT_TRUE(waiting.get(kPrompt).ok);
  EXPECT_EQ(b().unlock("orders"), "released");
}

}  // namespace
}  // namespace holdfast::test::spin_test
