// SPDX-License-Identifier: Apache-2.0
// The plain lock between two parties: taking, giving back, and what each of them sees.
#include "conformance.hpp"

namespace holdfast::test::lock_test {
namespace {

class PlainLock : public Conformance {};
HOLDFAST_CONFORMANCE(PlainLock, kEverySetting);

TEST_P(PlainLock, CanBeTakenAndGivenBackTwiceInARow) {
  for (int i = 0; i < 2; ++i) {
    a().lock("orders");
    EXPECT_EQ(a().unlock("orders"), "released");
  }
  EXPECT_TRUE(on_server("orders").empty());
}

TEST_P(PlainLock, IsSeenAsLockedByEverybodyExactlyWhileItIsHeld) {
  EXPECT_FALSE(a().is_locked("orders"));
  EXPECT_FALSE(b().is_locked("orders"));
  a().lock("orders");
  EXPECT_TRUE(a().is_locked("orders"));
  EXPECT_TRUE(b().is_locked("orders"));
  a().unlock("orders");
  EXPECT_FALSE(a().is_locked("orders"));
  EXPECT_FALSE(b().is_locked("orders"));
}

TEST_P(PlainLock, IsMineOnlyForItsOwnerAndOnlyWhileHeld) {
  EXPECT_FALSE(a().is_mine("orders"));
  a().lock("orders");
  EXPECT_TRUE(a().is_mine("orders"));
  EXPECT_FALSE(b().is_mine("orders"));
  EXPECT_EQ(a().count("orders"), 1);
  EXPECT_EQ(b().count("orders"), 0);
  a().unlock("orders");
  EXPECT_FALSE(a().is_mine("orders"));
  EXPECT_FALSE(b().is_mine("orders"));
  EXPECT_EQ(a().count("orders"), 0);
}

TEST_P(PlainLock, IsValidForItsOwnerOnly) {
  a().lock("orders");
  EXPECT_GT(a().valid_for("orders"), 0ms);
  EXPECT_LE(a().valid_for("orders"), kLease);
  EXPECT_FALSE(a().lost("orders"));
  EXPECT_EQ(b().valid_for("orders"), 0ms);
  a().unlock("orders");
  EXPECT_EQ(a().valid_for("orders"), 0ms);
}

TEST_P(PlainLock, TryFailsWhileHeldByAnotherAndSucceedsAfterwards) {
  ASSERT_TRUE(a().try_lock("orders"));
  EXPECT_FALSE(b().try_lock("orders"));
  EXPECT_FALSE(b().try_lock("orders", kAWhile));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(b().try_lock("orders"));
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(PlainLock, ReleaseByAnotherPartyIsRefusedAndLeavesTheLock) {
  EXPECT_EQ(a().unlock("orders"), "not_owner");
  a().lock("orders");
  EXPECT_EQ(b().unlock("orders"), "not_owner");
  EXPECT_TRUE(a().is_mine("orders"));
  EXPECT_TRUE(b().is_locked("orders"));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_EQ(a().unlock("orders"), "not_owner");
}

TEST_P(PlainLock, WaiterEntersPromptlyWhenTheHolderReleases) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  ASSERT_TRUE(waits(waiting, "orders"));
  const Answer released = a().start_unlock("orders").get();
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released.began, kPrompt);
  EXPECT_TRUE(b().is_mine("orders"));
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(PlainLock, LocksOfDifferentNamesAreIndependent) {
  a().lock("orders");
  EXPECT_TRUE(b().try_lock("invoices"));
  EXPECT_TRUE(a().is_mine("orders"));
  EXPECT_FALSE(a().is_mine("invoices"));
  EXPECT_EQ(b().unlock("invoices"), "released");
  EXPECT_TRUE(a().is_locked("orders"));
}

TEST_P(PlainLock, AnyBytesAreANameAndTheKeyIsThatName) {
  const std::string names[] = {"two words", "line\nbreak", std::string("nul\0byte", 8), "{tag}:x",
                               "a{b",       "50%",         "\xc3\xa4\xe2\x82\xac",      "\xff\xfe"};
  for (const std::string& name : names) {
    SCOPED_TRACE(::testing::PrintToString(name));
    a().lock(name);
    EXPECT_EQ(on_server(name).size(), 1U);
    EXPECT_FALSE(b().try_lock(name));
    const Pending waiting = b().start_lock(name);
    EXPECT_FALSE(waiting.answered(20ms));
    EXPECT_EQ(a().unlock(name), "released");
    EXPECT_TRUE(waiting.get(kPrompt).ok);
    EXPECT_EQ(b().unlock(name), "released");
  }
}

TEST_P(PlainLock, ReportsTheRemainingTimeToLive) {
  set("lease_ms", 30s);
  EXPECT_EQ(a().remaining("orders"), std::nullopt);
  a().lock("orders", 1h);
  EXPECT_THAT(b().remaining("orders").value_or(0ms), AllOf(Gt(1h - 5s), Le(1h)));
  a().unlock("orders");
  EXPECT_EQ(a().remaining("orders"), std::nullopt);
  a().lock("orders");
  EXPECT_THAT(b().remaining("orders").value_or(0ms), AllOf(Gt(30s - 5s), Le(30s)));
  EXPECT_THAT(a().valid_for("orders"), AllOf(Gt(30s - 5s), Lt(30s)));
}

TEST_P(PlainLock, ForceReleaseFreesARenewedLock) {
  EXPECT_FALSE(b().force_release("orders"));
  a().lock("orders");
  EXPECT_TRUE(b().force_release("orders"));
  EXPECT_FALSE(a().is_locked("orders"));
  EXPECT_FALSE(b().force_release("orders"));
}

TEST_P(PlainLock, AHolderLearnsOfAForceReleaseAndDoesNotBringTheLockBack) {
  a().lock("orders");
  ASSERT_TRUE(b().force_release("orders"));
  EXPECT_TRUE(eventually([&] { return a().lost("orders"); }, 5 * kLease));
  EXPECT_EQ(a().valid_for("orders"), 0ms);
  EXPECT_FALSE(a().is_mine("orders"));
  EXPECT_TRUE(stays_free("orders", 2 * kLease));
  EXPECT_EQ(a().unlock("orders"), "was_lost");
}

TEST_P(PlainLock, ForceReleaseWakesAWaiter) {
  // A waiter of the holder's own client enters when the holder has learnt of it, with its next renewal.
  if (GetParam().parties != Setting::Parties::threads) set("lease_ms", 60s);
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  ASSERT_TRUE(waits(waiting, "orders"));
  const auto forced = steady_clock::now();
  ASSERT_TRUE(party(2).force_release("orders"));
  EXPECT_LT(waiting.get().ended - forced, kPrompt);
  EXPECT_TRUE(b().is_mine("orders"));
  EXPECT_EQ(a().unlock("orders"), "was_lost");
  EXPECT_TRUE(b().is_locked("orders"));
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(PlainLock, ManyPartiesAllGetTheirTurn) {
  std::vector<Pending> turns;
  for (std::size_t i = 0; i < 15; ++i) {
    turns.push_back(party(i).start_lock("orders"));
    party(i).start_unlock("orders");
  }
  for (const Pending& turn : turns) EXPECT_TRUE(turn.get().ok);
  EXPECT_TRUE(eventually([&] { return !site.exists("orders"); }));
}

class TwoClients : public Conformance {};
HOLDFAST_CONFORMANCE(TwoClients, kClientSettings);

TEST_P(TwoClients, ClosingAClientGivesItsRenewedLockBackAtOnce) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  ASSERT_TRUE(waits(waiting, "orders"));
  const auto closed = steady_clock::now();
  a().taker().ask({"close"});
  EXPECT_LT(waiting.get().ended - closed, kPrompt);
  EXPECT_EQ(a().valid_for("orders"), 0ms);
}

TEST_P(TwoClients, ALockLeftByAClosedClientIsFreeWithinItsLease) {
  set("on_close", "leave");
  const std::uint64_t before = (a().lock("orders"), a().taker().counter("renewals"));
  ASSERT_TRUE(eventually([&] { return a().taker().counter("renewals") > before; }));
  a().taker().ask({"close"});
  EXPECT_TRUE(site.exists("orders"));
  long long left = kLease.count();
  EXPECT_TRUE(eventually([&] {
    const long long now = site.raw("orders").pttl("orders");
    EXPECT_LE(now, left) << "it was renewed";
    return (left = now) < 0;
  }));
  EXPECT_TRUE(b().try_lock("orders", kPrompt));
}

TEST_P(TwoClients, AClosedClientEndsItsWaitsAndLeavesNothing) {
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  ASSERT_TRUE(waits(waiting, "orders"));
  b().taker().ask({"close"});
  EXPECT_EQ(waiting.get().error, "closed");
  EXPECT_EQ(b().start_lock("orders").get().error, "closed");
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 2 * kLease));
}

}  // namespace
}  // namespace holdfast::test::lock_test
