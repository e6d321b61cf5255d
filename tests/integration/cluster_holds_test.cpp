// SPDX-License-Identifier: Apache-2.0
// What is held in a cluster: renewals by slot, slots that move, acks, notices of loss, releases that were forgotten.
#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "kinds/read_write_lock.hpp"
#include "lock/decide/recent_releases.hpp"
#include "support/held_lock.hpp"
#include "support/listen.hpp"

namespace holdfast::test::cluster_holds_test {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

/// Far less than a third of the leases here.
constexpr milliseconds kAtOnce = 5s;

class ClusterHolds : public ClusterTest {
 protected:
  static bool all_stand(std::deque<Hold>& holds) {
    return std::ranges::all_of(holds, [](Hold& hold) { return hold.valid_for() > 0ms; });
  }
};

/// A client that gets hardly any processor time loses them all, which is right but shows nothing: so not more, and not
/// for a shorter lease.
TEST_F(ClusterHolds, ThousandsAreRenewedSlotBySlot) {
  Config settings = config();
  settings.lease = 15s;
  Client client(settings);
  std::deque<Hold> holds;
  constexpr int kHolds = 5'000;
  for (int i = 0; i < kHolds; ++i) holds.push_back(client.lock("orders:" + std::to_string(i)).acquire());
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 2 * kHolds; }, 60s));
  EXPECT_TRUE(all_stand(holds));
  EXPECT_THAT(log->details("lost"), IsEmpty()) << "suspect: " << testing::PrintToString(log->details("suspect"));
  for (RedisServer* const each : cluster.primaries()) {
    EXPECT_EQ(Raw(*each).info("errorstats", "errorstat_CROSSSLOT"), "") << "a command was for several slots";
  }
  holds.clear();
  EXPECT_TRUE(eventually([&] { return client.counters().released == kHolds; }));
}

TEST_F(ClusterHolds, WhatIsDueFirstIsRenewedFirst) {
  Config settings = config();
  settings.lease = 3s;
  settings.renewal_batch = 1;
  Client client(settings);
  RedisServer& node = *cluster.primaries().front();
  std::vector<std::string> names;
  for (int i = 0; i < 5; ++i) names.push_back(name_on(node, i));
  std::ranges::sort(names, std::greater(), [&](const std::string& name) { return cluster.slot_of(name); });
  Monitor monitor(node);
  std::deque<Hold> holds;
  for (const std::string& name : names) holds.push_back(client.lock(name).acquire());
  ASSERT_TRUE(eventually([&] { return client.counters().renewals >= names.size(); }));
  std::map<std::string, int> set;
  std::vector<std::string> renewed;
  for (const MonitorLine& line : monitor.lines(Lines::from_scripts)) {
    if (line.args.front() == "PEXPIRE" && ++set[line.args.at(1)] == 2) renewed.push_back(line.args.at(1));
  }
  EXPECT_EQ(renewed, names) << "whatever their slots";
}

/// They were taken further apart than what is renewed together elsewhere.
TEST_F(ClusterHolds, OfOneSlotSoonShareTheirCommands) {
  Config settings = config();
  settings.lease = 3s;
  Client client(settings);
  RedisServer& node = *cluster.primaries().front();
  Raw raw(node);
  const std::string tag = "{" + name_on(node) + "}";
  std::deque<Hold> holds;
  for (int i = 0; i < 3; ++i) {
    holds.push_back(client.lock(tag + std::to_string(i)).acquire());
    std::this_thread::sleep_for(250ms);
  }
  ASSERT_TRUE(eventually([&] { return client.counters().renewals >= 6; }));
  const long long commands = raw.calls("evalsha"), renewals = raw.calls("pexpire");
  ASSERT_TRUE(eventually([&] { return raw.calls("pexpire") >= renewals + 9; }));
  EXPECT_LE(raw.calls("evalsha") - commands, 4);
  EXPECT_TRUE(all_stand(holds));
}

TEST_F(ClusterHolds, WhatMovesIsSuspectUntilItsNewServerHasAnswered) {
  Client client(config());
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  const std::string name = name_on(from);
  Hold moved = client.lock(name).acquire();
  Hold stays = client.lock(name_on(to)).acquire();
  const auto renewals = client.counters().renewals;
  const int slot = cluster.slot_of(moved.name());
  cluster.move_slots(slot, slot, to);
  client.lock("{" + moved.name() + "}:other").acquire().release();  // hears of it
  EXPECT_TRUE(log->wait_for("suspect"));
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > renewals; }, kAtOnce));
  EXPECT_TRUE(eventually([&] { return moved.state() == HoldState::held; }, kAtOnce));
  EXPECT_THAT(log->details("suspect", moved.name()), Each(HasSubstr("its slot is served by another server")));
  EXPECT_EQ(log->count("suspect", stays.name()), 0U);
  EXPECT_EQ(moved.release(), ReleaseOutcome::released);
  EXPECT_FALSE(Raw(to).exists(name));
}

/// What is told of slots is told within some 20 ms. Each client has its first map here.
TEST_F(ClusterHolds, AreNotMadeSuspectByTheFirstMap) {
  for (int i = 0; i < 10; ++i) {
    Client client(config());
    const Hold hold = client.lock("orders:" + std::to_string(i)).acquire();
    EXPECT_FALSE(log->wait_for("suspect", 1, 100ms)) << hold.name();
  }
}

/// Half of the keys are at each of the two nodes for a while: one command for all of the slot could not be carried out.
TEST_F(ClusterHolds, KeysOfASlotThatIsOnItsWayAreRenewedOneByOne) {
  Config settings = config();
  settings.lease = 3s;
  Client client(settings);
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  const std::string tag = "{" + name_on(from) + "}";
  std::deque<Hold> holds;
  for (int i = 0; i < 20; ++i) holds.push_back(client.lock(tag + std::to_string(i)).acquire());
  const int slot = cluster.slot_of(tag);
  cluster.begin_move(slot, to);
  EXPECT_EQ(cluster.move_keys(slot, to, 10), 10U);
  const auto renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 4 * holds.size(); }));
  EXPECT_TRUE(all_stand(holds));
  cluster.end_move(slot, to);
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 8 * holds.size(); }));
  EXPECT_TRUE(all_stand(holds));
  EXPECT_EQ(client.counters().lost, 0U) << testing::PrintToString(log->details("lost", holds.front().name()));
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

/// What is not at the server that carries out a release may be at the other one.
TEST_F(ClusterHolds, OfReadersWhoseKeysAreAtTwoServersStand) {
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  const std::string name = name_on(from);
  std::deque<Client> clients;
  std::vector<Hold> holds;
  for (int i = 0; i < 3; ++i) {
    holds.push_back(
        clients.emplace_back(config()).read_write_lock(name).reader().acquire({.lease = holdfast::fixed(90s)}));
  }
  const auto move = [&](const Hold& hold) {
    return cluster.move_key(wire::read_write::hold_key(name, hold.owner()), to);
  };
  cluster.begin_move(cluster.slot_of(name), to);
  ASSERT_TRUE(move(holds[2]));
  EXPECT_EQ(holds[0].release(), ReleaseOutcome::released) << "where the slot comes from";
  EXPECT_EQ(Raw(from).command("HLEN", name).integer, 3);
  ASSERT_TRUE(cluster.move_key(name, to));
  EXPECT_EQ(holds[2].release(), ReleaseOutcome::released) << "where it goes to";
  cluster.end_move(cluster.slot_of(name), to);
  EXPECT_EQ(Raw(to).command("HEXISTS", name, holds[1].owner()).integer, 1);
  Client writer(config());
  const MaybeHold none = writer.read_write_lock(name).writer().try_acquire();
  EXPECT_FALSE(none);
  EXPECT_EQ(holds[1].release(), ReleaseOutcome::released);
  EXPECT_FALSE(Raw(to).exists(name));
}

TEST_F(ClusterHolds, AreWatchedAtTheirNewServer) {
  Config settings = config();
  settings.lease = 60s;
  Client client(settings);
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  Hold renewed = client.lock(name_on(from, 0)).acquire();
  Hold fixed = client.lock(name_on(from, 1)).acquire({.lease = holdfast::fixed(60s)});
  ASSERT_TRUE(eventually([&] { return client.counters().watched >= 2; }));
  for (const Hold* hold : {&renewed, &fixed}) {
    const int slot = cluster.slot_of(hold->name());
    cluster.move_slots(slot, slot, to);
    client.lock("{" + hold->name() + "}:other").acquire().release();  // hears of it
  }
  ASSERT_TRUE(eventually([&] { return client.counters().watched >= 4; }));
  ASSERT_TRUE(eventually([&] { return renewed.state() == HoldState::held; }));
  EXPECT_EQ(client.counters().lost, 0U) << "MOVED is no loss";
  const auto watches = [&] { return std::atoll(Raw(to).info("stats", "tracking_total_keys").c_str()); };
  ASSERT_TRUE(eventually([&] { return watches() == 2; }));
  for (Hold* hold : {&renewed, &fixed}) {
    Raw(to).command("DEL", hold->name());
    EXPECT_TRUE(eventually([token = hold->lost_token()] { return token.stop_requested(); }, kAtOnce)) << hold->name();
  }
}

/// What was released before RecentReleases::kWindow is not repeated: a turn that takes as long shows nothing.
TEST_F(ClusterHolds, ThatWereReleasedAtAPrimaryWhichWasReplacedAreReleasedAtItsSuccessor) {
  Client client(config());
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  std::string name;
  bool in_time = false;
  for (int turn = 0; turn < 20 && !in_time; ++turn) {
    name = name_on(from, turn);
    Hold hold = client.lock(name).acquire();
    const std::string owner = hold.owner();
    const auto released_at = base::Clock::now();
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    put_held_lock(Raw(from), name, owner);  // as a replica that was promoted without the release
    put_held_lock(Raw(from), "{" + name + "}:others");
    const int slot = cluster.slot_of(name);
    cluster.move_slots(slot, slot, to);
    client.lock("{" + name + "}:other").acquire().release();  // hears of it, unless a notice has told it
    in_time = base::Clock::now() - released_at < engine::RecentReleases::kWindow;
  }
  ASSERT_TRUE(in_time);
  EXPECT_TRUE(eventually([&] { return !Raw(to).exists(name); }));
  EXPECT_TRUE(Raw(to).exists("{" + name + "}:others")) << "all keys have moved";
}

TEST_F(ClusterHolds, AreConfirmedByTheReplicasOfTheirOwnPrimary) {
  Client client(config());
  std::deque<Hold> holds;
  for (RedisServer* primary : cluster.primaries()) {
    holds.push_back(client.lock(name_on(*primary)).acquire({.acks = Acks::all()}));
  }
  for (const Hold& hold : holds) EXPECT_GT(hold.durable_for(), 0ms) << hold.name();
  RedisServer& to = *cluster.primaries().back();
  Hold& moved = holds.front();
  const int slot = cluster.slot_of(moved.name());
  const auto waits = client.counters().acks_waits;
  cluster.move_slots(slot, slot, to);                               // of which a notice may already tell it
  client.lock("{" + moved.name() + "}:other").acquire().release();  // hears of it
  EXPECT_TRUE(eventually([&] { return client.counters().acks_waits > waits; }, kAtOnce));
  EXPECT_TRUE(eventually([&] { return moved.durable_for() > 0ms; }, kAtOnce)) << "confirmed anew";
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

/// The grant comes by ASK, and its acks have to as well.
TEST_F(ClusterHolds, AreConfirmedWhileTheirSlotIsOnItsWay) {
  Client client(config());
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  const std::string name = name_on(from);
  const int slot = cluster.slot_of(name);
  cluster.begin_move(slot, to);
  Hold hold = client.lock(name).acquire({.wait = 20s, .acks = Acks::all()});
  EXPECT_GT(hold.durable_for(), 0ms);
  EXPECT_EQ(log->count("unknown"), 0U) << "and be told once";
  cluster.end_move(slot, to);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(ClusterHolds, WithAcksSurviveAFailover) {
  Client client(config());
  RedisServer& primary = *cluster.primaries().front();
  Hold hold = client.lock(name_on(primary)).acquire({.acks = Acks::all()});
  cluster.failover(primary, Failover::force);
  cluster.wait_until_settled();
  EXPECT_TRUE(eventually([&] { return hold.durable_for() > 0ms && hold.state() == HoldState::held; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::cluster_holds_test
