// SPDX-License-Identifier: Apache-2.0
// Who waits in a cluster is woken: in whichever way releases are told, and while slots move.
#include <optional>
#include <string>

#include "cluster.hpp"
#include "support/held_lock.hpp"
#include "support/listen.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::cluster_wake_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string channel_of(const std::string& name) {
  return "redisson_lock__channel:" + (name.find('{') == name.npos ? "{" + name + "}" : name);
}

/// Nobody finds a release by asking now and then: who is not woken misses the tests' limits.
class ClusterWake : public ClusterTest, public testing::WithParamInterface<Publish> {
 protected:
  ClusterWake() : ClusterTest({.replicas = 0}) {}
  void SetUp() override {
    const bool wants_shards = GetParam() == Publish::spublish || GetParam() == Publish::both;
    if (wants_shards && !has_shards()) GTEST_SKIP() << "it has no SPUBLISH";
  }

  Config waking(Publish how) {
    Config made = config();
    made.timing.safety_poll = 10min;
    made.lease = 10min;  // nor by waiting for its end
    made.publish = how;
    return made;
  }
  static bool has_shards() { return server_like_redis(7, 0); }
  static bool sharded(Publish how) { return how != Publish::publish && has_shards(); }
  static bool plain(Publish how) { return how == Publish::publish || how == Publish::both || !has_shards(); }
  /// So many listen to the channel at this node.
  static long long listeners(const RedisServer& node, const std::string& channel, bool sharded) {
    const Reply reply = Raw(node).command("PUBSUB", sharded ? "SHARDNUMSUB" : "NUMSUB", channel);
    return reply.is_error() ? -1 : reply.elements.at(1).integer;
  }
  static bool listened_to(const RedisServer& node, const std::string& name, Publish how) {
    return (!sharded(how) || listeners(node, channel_of(name), true) == 1) &&
           (!plain(how) || listeners(node, channel_of(name), false) == 1);
  }
  /// A hold of somebody else's, who gives it back when told to.
  static void take_as_peer(const RedisServer& node, const std::string& name) {
    Raw raw(node);
    put_held_lock(raw, name);
    raw.command("PEXPIRE", name, 600'000);
  }

  RedisServer& first() { return *cluster.primaries().front(); }
  RedisServer& last() { return *cluster.primaries().back(); }
};

class InEachWay : public ClusterWake {};
INSTANTIATE_TEST_SUITE_P(Ways, InEachWay,
                         testing::Values(Publish::automatic, Publish::publish, Publish::spublish, Publish::both),
                         [](const auto& way) {
                           return std::string(way.param == Publish::automatic  ? "auto"
                                              : way.param == Publish::publish  ? "publish"
                                              : way.param == Publish::spublish ? "spublish"
                                                                               : "both");
                         });

TEST_P(InEachWay, AWaiterIsWokenWhereverItsLockIs) {
  Client holder(waking(GetParam()));
  Client waiter(waking(GetParam()));
  for (RedisServer* primary : cluster.primaries()) {
    const std::string name = name_on(*primary);
    Hold held = holder.lock(name).acquire();
    auto woken = in_thread([&] { return waiter.lock(name).acquire().release(); });
    EXPECT_TRUE(eventually([&] { return listened_to(*primary, name, GetParam()); }));
    EXPECT_EQ(held.release(), ReleaseOutcome::released);
    ASSERT_EQ(woken.wait_for(kPatience), std::future_status::ready);
    EXPECT_EQ(woken.get(), ReleaseOutcome::released);
  }
  EXPECT_EQ(waiter.counters().safety_poll_wakes, 0U);
}

TEST_P(InEachWay, ThoseOfASimpleLockAreWokenToo) {
  Config patient = waking(GetParam());
  patient.kinds.poll_min = patient.kinds.poll_max = 10min;
  Client holder(waking(GetParam()));
  Client waiter(patient);
  const std::string name = name_on(last());
  Hold held = holder.simple_lock(name).acquire();
  auto woken = in_thread([&] { return waiter.simple_lock(name).acquire().release(); });
  const std::string channel = "holdfast_simple_lock__channel:{" + name + "}";
  EXPECT_TRUE(eventually([&] { return listeners(last(), channel, sharded(GetParam())) == 1; }));
  EXPECT_EQ(held.release(), ReleaseOutcome::released);
  ASSERT_EQ(woken.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(woken.get(), ReleaseOutcome::released);
}

TEST_P(InEachWay, APeerThatPublishesSoIsHeard) {
  Client waiter(waking(GetParam()));
  const std::string name = name_on(first());
  for (const bool by_spublish : {false, true}) {
    if (by_spublish ? !sharded(GetParam()) : !plain(GetParam())) continue;
    take_as_peer(first(), name);
    auto woken = in_thread([&] { return waiter.lock(name).acquire().release(); });
    EXPECT_TRUE(eventually([&] { return listened_to(first(), name, GetParam()); }));
    Raw(first()).command("DEL", name);
    // PUBLISH reaches all nodes, wherever it is said.
    Raw(by_spublish ? first() : last()).command(by_spublish ? "SPUBLISH" : "PUBLISH", channel_of(name), "0");
    ASSERT_EQ(woken.wait_for(kPatience), std::future_status::ready);
    EXPECT_EQ(woken.get(), ReleaseOutcome::released);
  }
}

TEST_P(InEachWay, APeerThatListensSoHears) {
  Client client(waking(GetParam()));
  const std::string name = name_on(first());
  const std::string channel = channel_of(name);
  Subscriber plain_peer(last(), {channel});
  std::optional<Subscriber> sharded_peer;
  if (has_shards()) sharded_peer.emplace(first(), std::vector{channel}, Heard::sharded);
  client.lock(name).acquire().release();
  if (plain(GetParam())) {
    EXPECT_TRUE(plain_peer.wait_for(1));
  }
  if (sharded_peer) {
    EXPECT_EQ(sharded_peer->messages().size(), sharded(GetParam()) ? 1U : 0U);
  }
  if (!plain(GetParam())) {
    EXPECT_THAT(plain_peer.messages(), IsEmpty());
  }
}

TEST_P(InEachWay, AForcedReleaseWakes) {
  Client holder(waking(GetParam()));
  Client waiter(waking(GetParam()));
  const std::string name = name_on(last());
  for (const bool by_owner : {false, true}) {
    const Hold held = holder.lock(name).acquire();
    auto woken = in_thread([&] { return waiter.lock(name).acquire().release(); });
    EXPECT_TRUE(eventually([&] { return listened_to(last(), name, GetParam()); }));
    // Its first command: it does not know the cluster yet.
    Client other(waking(GetParam()));
    EXPECT_TRUE(by_owner ? other.lock(name).force_release(held.owner()) : other.lock(name).force_release());
    ASSERT_EQ(woken.wait_for(kPatience), std::future_status::ready);
    EXPECT_EQ(woken.get(), ReleaseOutcome::released);
  }
}

TEST_P(InEachWay, ALockWhoseChannelLiesElsewhereWakes) {
  const std::string name = "odd}name";
  RedisServer& node = cluster.primary_of(name);
  ASSERT_NE(cluster.slot_of(name), cluster.slot_of(channel_of(name)));
  Client holder(waking(GetParam()));
  Client waiter(waking(GetParam()));
  Hold held = holder.lock(name).acquire();
  auto woken = in_thread([&] { return waiter.lock(name).acquire().release(); });
  EXPECT_TRUE(eventually([&] { return listeners(node, channel_of(name), false) == 1; }));
  EXPECT_EQ(held.release(), ReleaseOutcome::released);
  ASSERT_EQ(woken.wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(woken.get(), ReleaseOutcome::released);
}

TEST_P(InEachWay, AWaiterWhoseSlotMovesHearsOfTheReleaseAtItsNewNode) {
  Client holder(waking(GetParam()));
  Client waiter(waking(GetParam()));
  const std::string name = name_on(first());
  const int slot = cluster.slot_of(name);
  Hold held = holder.lock(name).acquire();
  auto woken = in_thread([&] { return waiter.lock(name).acquire({.wait = 20s}).release(); });
  EXPECT_TRUE(eventually([&] { return listened_to(first(), name, GetParam()); }));
  RedisServer& to = last();
  cluster.move_slots(slot, slot, to);
  if (sharded(GetParam())) {
    EXPECT_TRUE(eventually([&] { return listeners(to, channel_of(name), true) == 1; })) << "sunsubscribe wakes it";
  }
  EXPECT_EQ(held.release(), ReleaseOutcome::released);
  EXPECT_EQ(woken.get(), ReleaseOutcome::released);
  EXPECT_EQ(waiter.counters().safety_poll_wakes, 0U);
}

TEST_P(InEachWay, AReleaseAtTheNextNodeWakesWhoHasSubscribedAtThePresentOne) {
  Client holder(waking(GetParam()));
  Client waiter(waking(GetParam()));
  RedisServer& from = first();
  RedisServer& to = last();
  for (const bool forced : {false, true}) {
    const std::string name = name_on(from, forced ? 1 : 0);
    const int slot = cluster.slot_of(name);
    Hold held = holder.lock(name).acquire();
    auto woken = in_thread([&] { return waiter.lock(name).acquire({.wait = 20s}); });
    EXPECT_TRUE(eventually([&] { return listened_to(from, name, GetParam()); }));
    cluster.begin_move(slot, to);
    EXPECT_EQ(cluster.move_keys(slot, to), 1U);
    if (forced) {
      EXPECT_TRUE(Client(waking(GetParam())).lock(name).force_release());
    } else {
      EXPECT_EQ(held.release(), ReleaseOutcome::released);
    }
    Hold got = woken.get();
    cluster.end_move(slot, to);
    EXPECT_EQ(got.release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(waiter.counters().safety_poll_wakes, 0U);
}

TEST_P(InEachWay, AWaiterAtTheNextNodeIsWokenThere) {
  Client holder(waking(GetParam()));
  Client waiter(waking(GetParam()));
  RedisServer& from = first();
  RedisServer& to = last();
  const std::string name = name_on(from);
  const int slot = cluster.slot_of(name);
  cluster.begin_move(slot, to);
  Hold held = holder.lock(name).acquire();  // by ASK
  auto woken = in_thread([&] { return waiter.lock(name).acquire(); });
  EXPECT_TRUE(eventually([&] { return listened_to(to, name, GetParam()); }));
  EXPECT_EQ(held.release(), ReleaseOutcome::released);
  ASSERT_EQ(woken.wait_for(kPatience), std::future_status::ready);
  Hold got = woken.get();
  cluster.end_move(slot, to);
  EXPECT_EQ(got.release(), ReleaseOutcome::released);
  EXPECT_EQ(waiter.counters().safety_poll_wakes, 0U);
}

TEST_P(InEachWay, IdleChannelsAreLeft) {
  Config settings = waking(GetParam());
  settings.timing.subscription_linger = 20ms;
  Client holder(settings);
  Client waiter(settings);
  const std::string name = name_on(first());
  Hold held = holder.lock(name).acquire();
  auto woken = in_thread([&] { return waiter.lock(name).acquire().release(); });
  EXPECT_TRUE(eventually([&] { return listened_to(first(), name, GetParam()); }));
  held.release();
  woken.get();
  EXPECT_TRUE(eventually([&] {
    return listeners(first(), channel_of(name), true) <= 0 && listeners(first(), channel_of(name), false) == 0;
  }));
  waiter.ping();
  EXPECT_TRUE(waiter.lock(name).try_acquire()) << "replies are in step";
}

}  // namespace
}  // namespace holdfast::test::cluster_wake_test
