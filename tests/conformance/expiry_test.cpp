// SPDX-License-Identifier: Apache-2.0
// Leases: fixed ones that end, renewed ones that do not, and what the parties are told.
#include "conformance.hpp"

namespace holdfast::test::expiry_test {
namespace {

class Expiry : public Conformance {};
HOLDFAST_CONFORMANCE(Expiry, kEverySetting);

TEST_P(Expiry, WaiterEntersPromptlyWhenAFixedLeaseEnds) {
  const Answer held = a().lock("orders", 2s);
  const Answer entered = b().start_lock("orders").get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_GE(entered.ended - held.began, 2s);
  EXPECT_LT(entered.ended - held.ended, 2s + kPrompt);
}

TEST_P(Expiry, ReleaseAfterTheLeaseEndedSaysSoAndLeavesTheNextOwnerAlone) {
  a().lock("orders", 200ms);
  ASSERT_TRUE(b().try_lock("orders", kPrompt));
  EXPECT_EQ(a().unlock("orders"), "was_lost");
  EXPECT_TRUE(b().is_mine("orders"));
  EXPECT_TRUE(b().is_locked("orders"));
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(Expiry, ReleaseAfterSomeoneElseTookAndReleasedItSaysSo) {
  a().lock("orders", 200ms);
  ASSERT_TRUE(b().try_lock("orders", kPrompt));
  EXPECT_EQ(b().unlock("orders"), "released");
  EXPECT_EQ(a().unlock("orders"), "was_lost");
  EXPECT_EQ(a().unlock("orders"), "not_owner");
}

TEST_P(Expiry, TheHolderIsToldBeforeSomeoneElseCanHaveTheLock) {
  a().lock("orders", 300ms);
  const Pending next = b().start_lock("orders");
  // Asked over and over: the next owner enters after every moment up to which the holder was told to be safe.
  steady_clock::time_point safe_until{};
  while (true) {
    const Answer answer = a().start("valid", "orders").get();
    if (answer.value == "0") break;
    safe_until = answer.began + milliseconds(std::stoll(answer.value));
  }
  EXPECT_TRUE(a().lost("orders"));
  EXPECT_LT(safe_until, next.get().ended);
}

TEST_P(Expiry, TheSignalComesWithoutAnybodyAsking) {
  a().lock("orders", 200ms);
  EXPECT_TRUE(eventually([&] { return a().lost("orders"); }));
  EXPECT_EQ(a().valid_for("orders"), 0ms);
}

TEST_P(Expiry, AFixedLeaseIsNotRenewed) {
  a().lock("orders", kLease);
  EXPECT_TRUE(eventually([&] { return !site.exists("orders"); }, 5 * kLease));
  EXPECT_EQ(a().taker().counter("renewals"), 0U);
}

TEST_P(Expiry, AStoppedServerIsAnErrorAndNotASilentNo) {
  set("patience_ms", 500ms);
  set("command_timeout_ms", 500ms);
  a().lock("warm");
  a().unlock("warm");
  site.server("orders").stop();
  const Answer answer = a().start_try("orders", 10s, 10s).get();
  EXPECT_FALSE(answer.ok);
  EXPECT_EQ(answer.error, "unreachable");
  EXPECT_THAT(answer.text, ::testing::HasSubstr("orders"));
}

class Watchdog : public Conformance {};
HOLDFAST_CONFORMANCE(Watchdog, kFewSettings);

TEST_P(Watchdog, ARenewedLockIsKeptForManyLeases) {
  a().lock("orders");
  const auto owner = on_server("orders");
  ASSERT_EQ(owner.size(), 1U);
  const Pending waiting = b().start_try("orders", 10 * kLease);
  long long lowest = kLease.count();
  EXPECT_FALSE(eventually(
      [&] {
        lowest = std::min(lowest, site.raw("orders").pttl("orders"));
        return on_server("orders") != owner;
      },
      10 * kLease));
  EXPECT_GT(lowest, 0);
  EXPECT_EQ(waiting.get().value, "no");
  EXPECT_GT(a().valid_for("orders"), 0ms);
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 2 * kLease));
}

TEST_P(Watchdog, TheNextOwnerAfterALostOneIsRenewed) {
  a().lock("orders");
  ASSERT_TRUE(b().force_release("orders"));
  b().lock("orders");
  const auto owner = on_server("orders");
  EXPECT_FALSE(eventually([&] { return on_server("orders") != owner; }, 3 * kLease));
  EXPECT_EQ(a().unlock("orders"), "was_lost");
  EXPECT_FALSE(eventually([&] { return on_server("orders") != owner; }, 2 * kLease));
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(Watchdog, AServerRestartedWithoutItsDataLosesTheHoldAndNothingElse) {
  a().lock("orders");
  site.restart("orders", Data::lose);
  EXPECT_TRUE(eventually([&] { return a().lost("orders"); }));
  EXPECT_FALSE(a().is_mine("orders"));
  EXPECT_TRUE(stays_free("orders", kLease));
  EXPECT_EQ(a().unlock("orders"), "was_lost");

  a().lock("orders");
  const auto owner = on_server("orders");
  EXPECT_FALSE(eventually([&] { return on_server("orders") != owner; }, 2 * kLease));
  EXPECT_EQ(a().unlock("orders"), "released");
}

}  // namespace
}  // namespace holdfast::test::expiry_test
