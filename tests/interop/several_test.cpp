// SPDX-License-Identifier: Apache-2.0
// Locks of several members between Holdfast and Redisson: MultiLock, all of them; RedLock, a majority of servers.
#include "several_locks.hpp"

namespace holdfast::test::several_test {
namespace {

class MultiLocks : public SeveralLocks {
 protected:
  MultiLocks() { set("kind", "multi"); }
};
HOLDFAST_INTEROP(MultiLocks, both_ways(kRedissons));

TEST_P(MultiLocks, ExcludeEachOther) { expect_exclusion_of_each_other("a,b,c"); }

TEST_P(MultiLocks, ExcludeEachOtherOverThreeServers) {
  use_servers(3);
  expect_exclusion_of_each_other("a,b,c");
}

TEST_P(MultiLocks, OneCommonMemberIsEnough) {
  holder().lock("a,b,c");
  for (const char* names : {"a", "b", "c", "x,b", "c,x"}) EXPECT_FALSE(other().try_lock(names)) << names;
  EXPECT_FALSE(raw.exists("x"));
  EXPECT_TRUE(other().try_lock("x,y"));
  EXPECT_EQ(holder().unlock("a,b,c"), "released");
  EXPECT_TRUE(other().try_lock("z,b", kPrompt));
}

TEST_P(MultiLocks, EachMemberIsAnOrdinaryLock) {
  holder().lock("a,b,c");
  for (const char* name : {"a", "b", "c"}) {
    const auto fields = raw.hgetall(name);
    ASSERT_EQ(fields.size(), 1U);
    EXPECT_THAT(fields.begin()->first, ::testing::StartsWith(client_id(holder().taker()) + ":"));
    EXPECT_EQ(fields.begin()->second, "1");
    EXPECT_THAT(raw.pttl(name), AllOf(Gt(10'000), Le(30'000)));
  }
}

TEST_P(MultiLocks, AWaiterForAllEntersWhenTheLastIsReleased) {
  holder().lock("b");
  const Pending waiting = other().start_lock("a,b,c");
  ASSERT_TRUE(listeners("b", 1));
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock("b"), "released");
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released, kPrompt);
}

TEST_P(MultiLocks, OppositeOrdersLoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(one_process_each("a,b", "b,a"));
}

class RedLocks : public SeveralLocks {
 protected:
  RedLocks() {
    set("kind", "red");
    set("command_timeout_ms", 500ms);
    use_servers(3);
  }
};
HOLDFAST_INTEROP(RedLocks, both_ways(kRedissons));

TEST_P(RedLocks, ExcludeEachOther) { expect_exclusion_of_each_other("orders"); }

TEST_P(RedLocks, AreOrdinaryLocksOnAMajority) {
  holder().lock("orders");
  EXPECT_GE(servers_with("orders"), 2U);
  EXPECT_EQ(holder().unlock("orders"), "released");
  // A majority has answered when the release returns; the last server may be a moment behind.
  EXPECT_TRUE(eventually([&] { return servers_with("orders") == 0; }));
}

TEST_P(RedLocks, ExcludeEachOtherWhileAServerIsDown) {
  start_pair();
  server_at(2).stop();
  expect_exclusion_of_each_other("orders");
}

TEST_P(RedLocks, LoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(one_process_each("orders", "orders"));
}

}  // namespace
}  // namespace holdfast::test::several_test
