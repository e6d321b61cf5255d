// SPDX-License-Identifier: Apache-2.0
// What the server holds and hears while either side has a lock: the contract of docs/wire.md, seen from outside.
#include "interop.hpp"

namespace holdfast::test::wire_test {
namespace {

class OnTheServer : public Interop {
 protected:
  static std::string channel(const std::string& name) {
    const bool tagged = name.find('{') != std::string::npos;
    return "redisson_lock__channel:" + (tagged ? name : "{" + name + "}");
  }

  std::vector<std::string> keys() {
    std::vector<std::string> names;
    for (const Reply& key : raw.command("KEYS", "*").elements) names.push_back(key.text);
    return names;
  }
};
HOLDFAST_INTEROP(OnTheServer, both_ways(kRedissons));

TEST_P(OnTheServer, AHeldLockIsAHashOfItsOwnerAndAnExpiry) {
  holder().lock("orders", 20s);
  EXPECT_EQ(raw.type("orders"), "hash");
  const auto fields = raw.hgetall("orders");
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_THAT(fields.begin()->first, ::testing::MatchesRegex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]+"));
  EXPECT_THAT(fields.begin()->first, ::testing::StartsWith(client_id(holder().taker()) + ":"));
  EXPECT_EQ(fields.begin()->second, "1");
  EXPECT_THAT(raw.pttl("orders"), AllOf(Gt(10'000), Le(20'000)));
}

TEST_P(OnTheServer, AReleaseLeavesNothingThatStays) {
  start_pair();
  raw.flushall();
  holder().lock("orders", 20s);
  EXPECT_THAT(keys(), ::testing::ElementsAre("orders"));
  EXPECT_EQ(holder().unlock("orders"), "released");
  // Redisson keeps the result of an unlock, in case that is repeated, and deletes it afterwards. Some version forgets
  // to.
  eventually([&] { return keys().empty(); }, 500ms);
  const std::vector<std::string> left = keys();
  for (const std::string& key : left) {
    EXPECT_THAT(key, ::testing::StartsWith("redisson_unlock_latch:{orders}:"));
    EXPECT_THAT(raw.pttl(key), AllOf(Ne(-1), Le(60'000)));
  }
  figure("keys left half a second later", std::to_string(left.size()));
}

TEST_P(OnTheServer, ReentryIsCountedByRedissonAndNotByHoldfast) {
  for (const char* count : {"1", "2", "3"}) {
    holder().lock("orders", 20s);
    EXPECT_EQ(raw.hgetall("orders").begin()->second, first_side() == Side::peer ? count : "1");
  }
}

TEST_P(OnTheServer, OnlyAReleaseIsPublished) {
  start_pair();
  Subscriber subscriber(server);
  const std::vector<Message> released{{channel("orders"), "0"}};
  holder().lock("orders", 20s);
  EXPECT_FALSE(other().try_lock("orders"));
  EXPECT_THAT(subscriber.messages(), ::testing::IsEmpty());
  holder().unlock("orders");
  EXPECT_EQ(subscriber.messages(), released);
  subscriber.clear();
  holder().lock("orders", 20s);
  holder().force_release("orders");
  EXPECT_EQ(subscriber.messages(), released);
  subscriber.clear();
  holder().force_release("orders");
  holder().lock("orders", 50ms);
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  EXPECT_NE(holder().unlock("orders"), "released");
  EXPECT_THAT(subscriber.messages(), ::testing::IsEmpty());
}

TEST_P(OnTheServer, ScriptsTouchTheLockItsChannelAndALatchAlone) {
  start_pair();
  Monitor monitor(server);
  holder().lock("orders", 20s);
  EXPECT_FALSE(other().try_lock("orders"));
  holder().unlock("orders");
  std::set<std::string> latches;
  for (const MonitorLine& line : monitor.lines(Lines::from_scripts)) {
    ASSERT_GE(line.args.size(), 2U) << line.text;
    const std::string& key = line.args[1];
    if (key.starts_with("redisson_unlock_latch:{orders}:")) {
      latches.insert(key);
    } else {
      EXPECT_THAT(key, ::testing::AnyOf("orders", channel("orders"))) << line.text;
    }
  }
  // A result that is kept for a repeated unlock; older versions have none.
  const bool latched = first_side() == Side::peer && peer.can("unlock_latch");
  EXPECT_EQ(latches.size(), latched ? 1U : 0U);
}

TEST_P(OnTheServer, NamesOfAllKindsMeanTheSameToBoth) {
  for (const std::string name : {"{shop}:orders", "shop:{orders}", "a b", "größe/注文/🔒", "a%20b", "50%"}) {
    SCOPED_TRACE(name);
    holder().lock(name);
    EXPECT_TRUE(raw.exists(name));
    EXPECT_FALSE(other().try_lock(name));
    Subscriber subscriber(server, {channel(name)});
    const Pending waiting = other().start_try(name, 20s);
    ASSERT_TRUE(listening(channel(name), 2));
    EXPECT_EQ(holder().unlock(name), "released");
    EXPECT_TRUE(subscriber.wait_for(1));
    EXPECT_EQ(waiting.get().word(), "yes");
    EXPECT_EQ(other().unlock(name), "released");
  }
}

TEST_P(OnTheServer, ANamePrefixIsANameMapper) {
  if (lacks("name_prefix", "NameMapper")) return;
  set("name_prefix", "shop:");
  set("lease_ms", 30s);
  holder().lock("orders");
  EXPECT_TRUE(raw.exists("shop:orders"));
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("shop:orders", 1));
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock("orders"), "released");
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released, kPrompt);
}

}  // namespace
}  // namespace holdfast::test::wire_test
