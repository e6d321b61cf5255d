// SPDX-License-Identifier: Apache-2.0
// SimpleLock and the locks of the SET NX PX family: redis-py, go-redsync, node redlock.
#include <cstdio>

#include "several_locks.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::simple_test {
namespace {

/// Clients that count in whole milliseconds, and a machine that is busy.
constexpr milliseconds kRounding{5};

class SimpleExclusion : public Counting {
 protected:
  SimpleExclusion() {
    set("kind", "simple");
    set("lease_ms", 30s);
  }
};
HOLDFAST_INTEROP(SimpleExclusion, once(kSimplePeers));

TEST_P(SimpleExclusion, FourProcessesLoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(two_processes_each(1, "counter"));
}

class SimpleLocks : public Interop {
 protected:
  SimpleLocks() { set("kind", "simple"); }

  std::string value(const std::string& name) { return raw.command("GET", name).text; }
  std::string type(const std::string& name) { return raw.command("TYPE", name).text; }
};
HOLDFAST_INTEROP(SimpleLocks, both_ways(kSimplePeers));

TEST_P(SimpleLocks, ExcludeEachOther) {
  holder().lock("orders", 20s);
  EXPECT_TRUE(other().is_locked("orders"));
  EXPECT_TRUE(holder().is_mine("orders"));
  EXPECT_FALSE(other().is_mine("orders"));
  EXPECT_FALSE(other().try_lock("orders"));
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(other().try_lock("orders"));
  EXPECT_FALSE(holder().try_lock("orders"));
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(SimpleLocks, AHeldLockIsAStringWithAnExpiry) {
  holder().lock("orders", 20s);
  EXPECT_EQ(type("orders"), "string");
  EXPECT_THAT(raw.pttl("orders"), AllOf(Gt(10'000), Le(20'000)));
  if (first_side() == Side::holdfast) {
    EXPECT_THAT(value("orders"), ::testing::StartsWith(client_id(holder().taker()) + ":"));
  } else {
    EXPECT_EQ(value("orders"), holder().taker().ask({"token", "1", "orders"}));
  }
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_P(SimpleLocks, AReleaseWithTheWrongTokenIsRefusedAndLeavesTheLock) {
  holder().lock("orders", 20s);
  raw.command("DEL", "orders");
  EXPECT_TRUE(other().try_lock("orders"));
  const std::string token = value("orders");
  EXPECT_EQ(holder().unlock("orders"), first_side() == Side::holdfast ? "was_lost" : "not_owner");
  EXPECT_EQ(value("orders"), token);
  EXPECT_TRUE(other().is_mine("orders"));
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(SimpleLocks, ATryGivesUpWhenItsTimeIsOver) {
  holder().lock("orders", 20s);
  const Answer answer = other().start_try("orders", 600ms).get();
  EXPECT_EQ(answer.word(), "no");
  // redis-py does not begin a pause that would end after the limit.
  EXPECT_THAT(answer.ended - answer.began, AllOf(Ge(500ms), Lt(kPrompt)));
}

TEST_P(SimpleLocks, AHoldThatIsExtendedOutlivesItsLease) {
  holder().lock("orders", first_side() == Side::holdfast ? 0ms : kLease);
  const std::string token = value("orders");
  const Pending waiting = other().start_try("orders", 3 * kLease);
  if (first_side() == Side::peer) {
    // Nothing renews by itself there.
    EXPECT_EQ(holder().taker().ask({"extend", "1", "orders", "20000"}), "yes");
  }
  long long lowest = raw.pttl("orders");
  while (!waiting.answered(1ms)) lowest = std::min(lowest, raw.pttl("orders"));
  EXPECT_EQ(waiting.get().word(), "no");
  EXPECT_EQ(value("orders"), token);
  EXPECT_GT(lowest, kLease.count() / 5);
  EXPECT_EQ(holder().unlock("orders"), "released");
}

TEST_P(SimpleLocks, AKilledHolderIsFollowedWhenItsLeaseEndsAndNotBefore) {
  holder().lock("orders", kLease);
  const Pending waiting = other().start_lock("orders");
  const auto killed = steady_clock::now();
  kill(holder().taker());
  const milliseconds rest(raw.pttl("orders"));
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_GE(entered.ended, killed + rest - kRounding);
  EXPECT_LE(entered.ended, killed + rest + kLease);
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(SimpleLocks, AWaiterEntersSoonAfterARelease) {
  std::vector<double> latencies;
  start_pair();
  for (int i = 0; i < 15; ++i) {
    holder().lock("orders", 20s);
    const Pending waiting = other().start_lock("orders");
    // Long enough that a waiter who asks less and less often is at its slowest.
    EXPECT_FALSE(waiting.answered(400ms));
    const Answer released = holder().start_unlock("orders").get();
    ASSERT_EQ(released.word(), "released") << released.text;
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    latencies.push_back(std::chrono::duration<double, std::milli>(entered.ended - released.began).count());
    EXPECT_EQ(other().unlock("orders"), "released");
  }
  std::ranges::sort(latencies);
  const double median = latencies[latencies.size() / 2];
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", median);
  figure("median", text);
  EXPECT_LT(median, 300);
}

TEST_P(SimpleLocks, ALockOfRedissonsIsLeftAloneByBoth) {
  put_held_lock(raw, "orders");
  const std::string of_holdfast = first_side() == Side::holdfast ? holder().start_try("orders", 0ms).get().word()
                                                                 : other().start_try("orders", 0ms).get().word();
  EXPECT_EQ(of_holdfast, "wrong_type");
  Party& peers = first_side() == Side::peer ? holder() : other();
  EXPECT_EQ(peers.start_try("orders", 0ms).get().word(), "no");
  EXPECT_EQ(type("orders"), "hash");
}

class SimpleQuorums : public SeveralLocks {
 protected:
  SimpleQuorums() {
    set("kind", "red");
    set("over", "simple");
    set("command_timeout_ms", 500ms);
    use_servers(3);
  }
};
HOLDFAST_INTEROP(SimpleQuorums, both_ways({"redsync", "node-redlock"}));

TEST_P(SimpleQuorums, ExcludeEachOther) { expect_exclusion_of_each_other("orders"); }

TEST_P(SimpleQuorums, AreOrdinaryLocksOnAMajority) {
  holder().lock("orders", 20s);
  EXPECT_GE(servers_with("orders"), 2U);
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(eventually([&] { return servers_with("orders") == 0; }));
}

TEST_P(SimpleQuorums, ExcludeEachOtherWhileAServerIsDown) {
  start_pair();
  server_at(2).stop();
  expect_exclusion_of_each_other("orders");
}

TEST_P(SimpleQuorums, LoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(one_process_each("orders", "orders"));
}

}  // namespace
}  // namespace holdfast::test::simple_test
