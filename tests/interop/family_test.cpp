// SPDX-License-Identifier: Apache-2.0
// Others that write the keys of Redisson's locks: what they share with Holdfast, and what they do not.
#include <cstdio>

#include "several_locks.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::family_test {
namespace {

constexpr const char* kUuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

/// In Rust an owner is a UUID alone. Holdfast takes that for somebody's data: it keeps out, and does not wait.
class Family : public Interop {
 protected:
  bool rust() const { return peer.id() == "redisson-rs"; }
  bool holdfast_holds() const { return first_side() == Side::holdfast; }
  bool rust_holds() const { return rust() && !holdfast_holds(); }

  /// What somebody hears who asks once for a lock that the first side has.
  std::string shut() const { return rust_holds() ? "wrong_type" : "no"; }
  static std::string asked(Party& party, const std::string& name) { return party.start_try(name, 0ms).get().word(); }
  /// In Rust a release that has been carried out answers false, like one that has been refused.
  static std::string released(bool rust) { return rust ? "not_owner" : "released"; }
  std::string released_by_holder() const { return released(rust_holds()); }
  std::string released_by_other() const { return released(rust() && holdfast_holds()); }

  static std::string channel(const std::string& name) {
    return "redisson_lock__channel:" + (name.find('{') == std::string::npos ? "{" + name + "}" : name);
  }
  /// Returns when the second side waits: it listens. node-redisson does a moment after it has subscribed, and misses
  /// what comes before: when it has answered something else, it does. In Rust it asks ten times a second instead.
  bool waits(const Pending& waiting, const std::string& name) {
    if (!rust()) {
      if (!listening(channel(name), 1)) return false;
      other().taker().ask({"locked", "anything"});
      return true;
    }
    const long long before = scripts_run();
    return eventually([&] { return scripts_run() > before + 1; }) && !waiting.answered();
  }
  /// The second side's lock(), which is repeated where Holdfast does not wait.
  Answer entered(const std::string& name) {
    Answer answer;
    eventually([&] {
      answer = other().start_lock(name).get();
      return answer.word() != "wrong_type";
    });
    return answer;
  }
};

class FamilyLocks : public Family {};
HOLDFAST_INTEROP(FamilyLocks, both_ways(kFamily));

TEST_P(FamilyLocks, ExcludeEachOther) {
  holder().lock("orders", 20s);
  if (rust_holds()) {
    EXPECT_THROW(other().is_locked("orders"), std::runtime_error);
  } else {
    EXPECT_TRUE(other().is_locked("orders"));
  }
  EXPECT_EQ(asked(other(), "orders"), shut());
  EXPECT_EQ(holder().unlock("orders"), released_by_holder());
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_EQ(asked(other(), "orders"), "yes");
  EXPECT_EQ(asked(holder(), "orders"), rust() && holdfast_holds() ? "wrong_type" : "no");
  EXPECT_EQ(other().unlock("orders"), released_by_other());
}

TEST_P(FamilyLocks, AHeldLockIsAHashOfItsOwnerAndAnExpiry) {
  holder().lock("orders", 20s);
  const auto fields = raw.hgetall("orders");
  ASSERT_EQ(fields.size(), 1U);
  const std::string uuid = kUuid;
  const std::string form = holdfast_holds() ? uuid + ":[0-9]+" : rust() ? uuid : uuid + ":" + uuid;
  EXPECT_THAT(fields.begin()->first, ::testing::MatchesRegex(form));
  EXPECT_EQ(fields.begin()->second, "1");
  EXPECT_THAT(raw.pttl("orders"), AllOf(Gt(10'000), Le(20'000)));
}

TEST_P(FamilyLocks, AReleaseByTheOtherIsRefusedAndLeavesTheLock) {
  holder().lock("orders", 20s);
  const auto owner = raw.hgetall("orders");
  EXPECT_EQ(other().unlock("orders"), "not_owner");
  EXPECT_EQ(raw.hgetall("orders"), owner);
  EXPECT_EQ(holder().unlock("orders"), released_by_holder());
  EXPECT_FALSE(raw.exists("orders"));
}

/// By the message, as the safety poll is far away, and so are the ends of leases. In Rust it is a poll.
TEST_P(FamilyLocks, AWaiterEntersSoonAfterARelease) {
  if (rust_holds()) return absent("Holdfast does not wait for it");
  set("lease_ms", 30s);
  std::vector<double> latencies;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "orders-" + std::to_string(i);
    holder().lock(name);
    const Pending waiting = other().start_lock(name);
    ASSERT_TRUE(waits(waiting, name));
    const Answer released = holder().start_unlock(name).get();
    ASSERT_EQ(released.word(), "released") << released.text;
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    latencies.push_back(std::chrono::duration<double, std::milli>(entered.ended - released.began).count());
    EXPECT_EQ(other().unlock(name), released_by_other());
  }
  std::ranges::sort(latencies);
  const double median = latencies[latencies.size() / 2];
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", median);
  figure("median", text);
  EXPECT_LT(median, rust() ? 300 : 50);
}

TEST_P(FamilyLocks, ARenewedHoldOutlivesItsLease) {
  if (rust_holds()) return absent("redisson.rs renews no hold whose lease has a second or more");
  holder().lock("orders");
  const auto owner = raw.hgetall("orders");
  const Pending waiting = other().start_lock("orders");
  long long lowest = kLease.count();
  EXPECT_FALSE(eventually(
      [&] {
        lowest = std::min(lowest, raw.pttl("orders"));
        return waiting.answered();
      },
      3 * kLease));
  EXPECT_EQ(raw.hgetall("orders"), owner);
  EXPECT_GT(lowest, kLease.count() / 5);
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(waiting.get().ok);
}

TEST_P(FamilyLocks, AFixedLeaseEndsAndTheOtherEnters) {
  const Answer held = holder().lock("orders", kLease);
  const Answer enters = entered("orders");
  ASSERT_TRUE(enters.ok) << enters.text;
  EXPECT_GE(enters.ended - held.began, kLease);
  EXPECT_LT(enters.ended - held.ended, kLease + kPrompt);
  const auto next = raw.hgetall("orders");
  EXPECT_EQ(holder().unlock("orders"), holdfast_holds() ? "was_lost" : "not_owner");
  EXPECT_EQ(raw.hgetall("orders"), next) << "the late release has left the next one alone";
  EXPECT_EQ(other().unlock("orders"), released_by_other());
}

TEST_P(FamilyLocks, AKilledHolderIsFollowedWhenItsLeaseEndsAndNotBefore) {
  const Standstill still;
  start_pair();
  holder().lock("orders");
  const auto killed = steady_clock::now();
  kill(holder().taker());
  const milliseconds rest(raw.pttl("orders"));
  ASSERT_GT(rest, 0ms);
  const auto looked = steady_clock::now();
  const Answer enters = entered("orders");
  ASSERT_TRUE(enters.ok) << enters.text;
  // Up to 5 ms for the roundings of the server and of this test.
  EXPECT_GE(enters.ended, killed + rest - 5ms);
  EXPECT_LE(enters.ended, looked + kLease + 500ms + still.total());
}

TEST_P(FamilyLocks, AReenteredLockKeepsTheOtherOutUntilTheLastRelease) {
  if (rust_holds()) {
    holder().lock("orders", 20s);
    EXPECT_FALSE(holder().try_lock("orders", 300ms));
    return absent("in redisson.rs a holder that locks once more waits for itself");
  }
  for (int i = 0; i < 3; ++i) holder().lock("orders", 20s);
  EXPECT_EQ(holder().count("orders"), 3);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(holder().unlock("orders"), "still_held");
    EXPECT_EQ(asked(other(), "orders"), "no");
  }
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_EQ(asked(other(), "orders"), "yes");
}

TEST_P(FamilyLocks, AForcedReleaseByTheOtherTakesTheLock) {
  holder().lock("orders");
  if (rust_holds()) {
    EXPECT_THROW(other().force_release("orders"), std::runtime_error);
    EXPECT_TRUE(raw.exists("orders"));
    return absent("Holdfast takes nothing that it does not know");
  }
  EXPECT_TRUE(other().force_release("orders"));
  EXPECT_FALSE(other().force_release("orders"));
  EXPECT_EQ(holder().unlock("orders"), holdfast_holds() ? "was_lost" : "not_owner");
  EXPECT_EQ(asked(other(), "orders"), "yes");
}

TEST_P(FamilyLocks, NamesOfAllKindsMeanTheSameToBoth) {
  for (const std::string name : {"{shop}:orders", "a b", "größe/注文/🔒", "50%"}) {
    SCOPED_TRACE(name);
    holder().lock(name, 20s);
    EXPECT_TRUE(raw.exists(name));
    EXPECT_EQ(asked(other(), name), shut());
    if (rust_holds()) continue;
    const Pending waiting = other().start_lock(name);
    ASSERT_TRUE(waits(waiting, name));
    EXPECT_EQ(holder().unlock(name), "released");
    EXPECT_TRUE(waiting.answered(kPrompt));
    EXPECT_EQ(other().unlock(name), released_by_other());
  }
}

class FamilyExclusion : public Counting {
 protected:
  /// A waiter of node-redisson may miss a message, and sleeps until the lease that it saw is over.
  FamilyExclusion() { set("lease_ms", 3s); }
};
HOLDFAST_INTEROP(FamilyExclusion, once({"node-redisson"}));

TEST_P(FamilyExclusion, FourProcessesLoseNoUpdateAndBothSidesMakeProgress) {
  expect_exclusion_and_progress(two_processes_each(1, "counter"));
}

class NodeRedisson : public Family {};
HOLDFAST_INTEROP(NodeRedisson, std::vector<Pairing>({{"node-redisson", Pairing::First::holdfast}}));

TEST_P(NodeRedisson, ATryGivesUpWhenTheLeaseThatItSawIsOver) {
  holder().lock("orders");
  const Answer gave_up = other().start_try("orders", 25s).get();
  EXPECT_EQ(gave_up.word(), "no");
  EXPECT_LT(gave_up.ended - gave_up.began, kLease + kPrompt);
  EXPECT_EQ(holder().unlock("orders"), "released");
}

/// What an earlier wait has left ends the subscription of the later one.
TEST_P(NodeRedisson, AWaiterMissesTheReleaseIfTheLeaseOfAnEarlierWaitEnds) {
  holder().lock("orders", 1500ms);
  const Pending waited = other().start_lock("orders");
  ASSERT_TRUE(waits(waited, "orders"));
  EXPECT_EQ(holder().unlock("orders"), "released");
  ASSERT_TRUE(waited.get().ok);
  EXPECT_EQ(other().unlock("orders"), "released");
  ASSERT_TRUE(listeners("orders", 0));
  holder().lock("orders", 30s);
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  EXPECT_TRUE(listeners("orders", 0)) << "it has stopped to listen";
  EXPECT_FALSE(waiting.answered()) << "but still waits";
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_FALSE(waiting.answered(1s));
  kill(other().taker());
}

class NodeRedissonWakes : public Family {
 protected:
  /// The peer gives back what Holdfast waits for, and no message of that comes.
  void expect_no_wake(const std::string& name) {
    holder().lock(name, 20s);
    const Pending waiting = other().start_lock(name);
    ASSERT_TRUE(waits(waiting, name));
    EXPECT_EQ(holder().unlock(name), "released");
    EXPECT_FALSE(waiting.answered(500ms)) << "the safety poll is at the end of a minute";
    EXPECT_FALSE(raw.exists(name));
    EXPECT_TRUE(other().cancel(waiting));
  }
};
HOLDFAST_INTEROP(NodeRedissonWakes, std::vector<Pairing>({{"node-redisson", Pairing::First::peer}}));

TEST_P(NodeRedissonWakes, ABraceBehindTheBeginningOfANameMeansAnotherChannel) {
  start_pair();
  Subscriber subscriber(server);
  expect_no_wake("shop:{orders}");
  EXPECT_EQ(subscriber.messages(), (std::vector<Message>{{"redisson_lock__channel:{shop:{orders}}", "0"}}));
}

TEST_P(NodeRedissonWakes, ItsStreamsWakeNobodyElse) {
  set_of_peer("events", "streams");
  expect_no_wake("orders");
  EXPECT_EQ(raw.type("redisson:events"), "stream");
}

/// What it calls by the names of Redisson's other kinds.
class RustRedisson : public SeveralLocks {
 protected:
  RustRedisson() { set("lease_ms", 20s); }
  /// The value, or the error's word.
  static std::string counting(Party& party, const std::string& what, const std::string& name, int number) {
    return party.start("counting", what, {name, std::to_string(number), "0"}).get().word();
  }
  std::vector<Party> parties() {
    std::vector<Party> parties;
    for (Taker* taker : start({Side::peer, Side::holdfast})) parties.emplace_back(*taker, 1);
    return parties;
  }
};
HOLDFAST_INTEROP(RustRedisson, once({"redisson-rs"}));

TEST_P(RustRedisson, AHoldIsNotRenewedAndItsEndIsNotNoticed) {
  set("lease_ms", 1s);
  std::vector<Party> each = parties();
  each[0].lock("orders");
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }, kPrompt));
  each[1].lock("orders");
  EXPECT_TRUE(each[0].is_mine("orders")) << "it believes so";
  EXPECT_TRUE(each[1].is_mine("orders"));
}

TEST_P(RustRedisson, AReleaseIsAnnouncedToNobody) {
  std::vector<Party> each = parties();
  Subscriber subscriber(server);
  each[0].lock("orders");
  each[0].unlock("orders");
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_THAT(subscriber.messages(), ::testing::IsEmpty());
}

TEST_P(RustRedisson, AFairLockFailsInsteadOfWaiting) {
  set("kind", "fair");
  std::vector<Party> each = parties();
  each[1].lock("orders", 20s);
  EXPECT_EQ(each[0].start_lock("orders").get().word(), "failed");
  EXPECT_EQ(each[1].unlock("orders"), "released");
  EXPECT_FALSE(each[0].try_lock("orders")) << "without a wait it does not even ask";
  each[0].lock("orders");
  EXPECT_EQ(each[1].start_try("orders", 0ms).get().word(), "wrong_type");
}

TEST_P(RustRedisson, AReadWriteLockIsLeftWithoutAnEnd) {
  set("kind", "read_write");
  std::vector<Party> each = parties();
  each[0].start_lock("read:orders").get();
  each[0].start_lock("stock").get();
  for (const std::string name : {"orders", "stock"}) {
    SCOPED_TRACE(name);
    const long long years = 100LL * 365 * 24 * 3600 * 1000;
    EXPECT_TRUE(raw.exists(name));
    EXPECT_THAT(raw.pttl(name), ::testing::AnyOf(-1, Gt(years)));
    EXPECT_EQ(each[1].start_try("read:" + name, 0ms).get().word(), "wrong_type");
    EXPECT_EQ(each[1].start_try(name, 0ms).get().word(), "wrong_type");
  }
}

TEST_P(RustRedisson, ASemaphoreIsNotOurs) {
  std::vector<Party> each = parties();
  EXPECT_EQ(counting(each[1], "semaphore.set", "orders", 3), "yes");
  EXPECT_EQ(counting(each[0], "semaphore.try", "orders", 3), "failed");
  EXPECT_EQ(counting(each[0], "semaphore.try", "stock", 3), "failed") << "not even alone";
  EXPECT_EQ(counting(each[1], "semaphore.available", "orders", 0), "3");
}

TEST_P(RustRedisson, ALatchIsNotOurs) {
  std::vector<Party> each = parties();
  EXPECT_EQ(counting(each[1], "latch.set", "orders", 2), "yes");
  EXPECT_EQ(counting(each[0], "latch.count", "orders", 2), "0");
  EXPECT_EQ(counting(each[0], "latch.set", "stock", 2), "no") << "not even alone";
  EXPECT_EQ(counting(each[1], "latch.count", "orders", 0), "2");
}

TEST_P(RustRedisson, AMultiLockIsMadeOfLocksAndDoesNotWait) {
  set("kind", "multi");
  std::vector<Party> each = parties();
  each[0].lock("a,b");
  EXPECT_EQ(raw.hgetall("a").size(), 1U);
  EXPECT_EQ(each[1].start_try("b,c", 0ms).get().word(), "wrong_type");
  each[0].unlock("a,b");
  each[1].lock("b,c", 20s);
  EXPECT_EQ(each[0].start_lock("a,b").get().word(), "failed");
  EXPECT_FALSE(raw.exists("a"));
}

TEST_P(RustRedisson, ARedLockIsAnOrdinaryLockOnEveryServer) {
  set("kind", "red");
  use_servers(3);
  std::vector<Party> each = parties();
  each[0].lock("orders");
  EXPECT_EQ(servers_with("orders"), 3U);
  EXPECT_NE(each[1].start_try("orders", 0ms).get().word(), "yes");
  each[0].unlock("orders");
  EXPECT_EQ(servers_with("orders"), 0U);
  each[1].lock("orders", 20s);
  EXPECT_FALSE(each[0].try_lock("orders"));
}

}  // namespace
}  // namespace holdfast::test::family_test
