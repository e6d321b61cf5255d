// SPDX-License-Identifier: Apache-2.0
// AnyLock whose names lie in several slots of a cluster: as on one server, and no node that is silent is in the way.
#include <map>

#include "any_of.hpp"
#include "cluster.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::any_lock_cluster_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Nobody finds a release by asking now and then.
class AnyOfSlots : public ClusterTest {
 protected:
  using ClusterTest::ClusterTest;

  RedisServer& node_of(const std::string& name) { return cluster.primary_of(name); }
  bool exists(const std::string& name) { return Raw(node_of(name)).exists(name); }
  void take_all() {
    for (const std::string& name : names_) put_held_lock(Raw(node_of(name)), name);
  }
  /// How often it was asked for this, and whatever else its node serves.
  long long asked(const std::string& name) { return Raw(node_of(name)).calls("evalsha"); }
  /// It has asked everywhere, and listens.
  static bool waits(const Client& client) {
    return eventually([&] { return client.counters().waiting == 1; });
  }

  const std::vector<std::string> names_ = cluster.names_on_each();
  const std::string all_ = names_[0] + ", " + names_[1] + ", " + names_[2];
};

/// A node that stands still is not replaced.
class AnyOneInACluster : public AnyOfSlots {
 protected:
  AnyOneInACluster() : AnyOfSlots({.replicas = 0, .node_timeout = 60s}) {}
};

TEST_F(AnyOneInACluster, TheNamesShareASlot) {
  Client client(config());
  const std::vector<std::string> tagged{"{gpu}:0", "{gpu}:1"};
  Hold first = client.any_lock(tagged).acquire();
  const auto before = client.counters().commands;
  const Hold second = client.any_lock(tagged).acquire();
  EXPECT_EQ(client.counters().commands, before + 1);
  EXPECT_EQ(first.name(), "{gpu}:0");
  EXPECT_EQ(second.name(), "{gpu}:1");
  auto waiter = in_thread([&] { return client.any_lock(tagged).acquire().name(); });
  ASSERT_TRUE(waits(client));
  first.release();
  EXPECT_TRUE(ready(waiter));
}

TEST_F(AnyOneInACluster, EachIsTakenAsTheLockOfItsNameAndNobodyWaitsWhileOneIsFree) {
  Config settings = config();
  settings.lease = 10min;  // nothing is renewed meanwhile
  settings.loss_notice = false;
  Client client(settings);
  Client other(settings);
  const AnyLock any = client.any_lock(names_);
  std::map<std::string, Hold> holds;
  for (std::size_t i = 0; i < names_.size(); ++i) {
    Hold hold = any.acquire();
    const std::string name = hold.name();
    EXPECT_THAT(Raw(node_of(name)).hgetall(name), HeldBy(hold.owner()));
    EXPECT_EQ(other.lock(name).try_acquire(), std::nullopt) << "it is an ordinary lock";
    EXPECT_TRUE(holds.emplace(name, std::move(hold)).second) << name;
  }
  std::map<std::string, long long> before;
  for (const std::string& name : names_) before[name] = asked(name);
  EXPECT_EQ(any.try_acquire(), std::nullopt);
  for (const std::string& name : names_) EXPECT_EQ(asked(name), before[name] + 1) << "once";
  EXPECT_THAT(error_of([&] { return any.acquire({.wait = 20ms}); }),
              IsError(Errc::timed_out, all_, client.node(),
                      AllOf(HasSubstr("none of 3 slots had a free one"), HasSubstr(names_[2]))));
  for (const std::string& name : names_) {
    auto here = in_thread([&] { return any.acquire({.wait = 60s}); });
    ASSERT_TRUE(waits(client));
    for (const std::string& each : names_) before[each] = asked(each);
    EXPECT_EQ(holds.at(name).release(), ReleaseOutcome::released);
    ASSERT_TRUE(ready(here)) << "released in the same client";
    for (const std::string& each : names_) {
      if (each == name) continue;
      EXPECT_EQ(asked(each), before[each]) << "nothing was released there";
    }
    Hold again = here.get();
    EXPECT_EQ(again.name(), name);
    auto there = in_thread([&] { return other.any_lock(names_).acquire({.wait = 60s}); });
    ASSERT_TRUE(waits(other));
    EXPECT_EQ(again.release(), ReleaseOutcome::released);
    ASSERT_TRUE(ready(there)) << "released in another client";
    EXPECT_EQ(there.get().name(), name);
    holds.at(name) = any.acquire({.wait = 60s});
  }
}

/// Nobody tells of it.
TEST_F(AnyOneInACluster, TheEndOfALeaseOfAnyOfThemIsWaitedFor) {
  take_all();
  Raw(node_of(names_[1])).command("PEXPIRE", names_[1], 1000);
  Client client(config());
  auto waiter = in_thread([&] { return client.any_lock(names_).acquire({.wait = 60s}); });
  ASSERT_TRUE(ready(waiter, 20s)) << "the others stay";
  EXPECT_EQ(waiter.get().name(), names_[1]);
}

TEST_F(AnyOneInACluster, OfManyCallersEachHasANameOfItsOwn) {
  const Client one(config()), other(config()), third(config());
  expect_a_name_for_each({&one, &one, &one, &other, &other, &other, &third, &third, &third}, names_, 60s);
  for (const std::string& name : names_) EXPECT_FALSE(exists(name));
}

TEST_F(AnyOneInACluster, ANodeThatIsSilentKeepsNobodyFromWhatIsFreeElsewhere) {
  Client client(config());
  client.ping();
  put_held_lock(Raw(node_of(names_[1])), names_[1]);
  RedisServer& silent = node_of(names_[0]);
  silent.freeze();
  const AnyLock any = client.any_lock(names_);
  Hold hold;
  for (std::size_t i = 0; i < names_.size(); ++i) {  // each slot is the first to be asked, once
    hold.release();
    MaybeHold found = any.try_acquire();
    ASSERT_TRUE(found);
    hold = *std::move(found);
    EXPECT_EQ(hold.name(), names_[2]);
  }
  auto waiter = in_thread([&] { return client.any_lock(names_).acquire({.wait = 60s}); });
  ASSERT_TRUE(waits(client)) << "the silent one was asked, and may have granted it";
  EXPECT_TRUE(client.lock(names_[1]).force_release());
  ASSERT_TRUE(ready(waiter));
  EXPECT_EQ(waiter.get().name(), names_[1]);
  silent.thaw();
  Hold last = client.any_lock({names_[0], names_[2]}).acquire({.wait = 15s});
  EXPECT_EQ(last.name(), names_[0]) << "what was granted without a word has been given back";
  EXPECT_EQ(last.release(), ReleaseOutcome::released);
  EXPECT_FALSE(exists(names_[0]));
}

TEST_F(AnyOneInACluster, AnAcquireThatIsGivenUpIsUndone) {
  Client client(config());
  client.ping();
  take_all();
  RedisServer& silent = node_of(names_[0]);
  Raw(silent).command("DEL", names_[0]);
  silent.freeze();
  std::stop_source stop;
  auto given_up =
      in_thread([&] { return error_of([&] { return client.any_lock(names_).acquire({.stop = stop.get_token()}); }); });
  ASSERT_TRUE(waits(client));
  stop.request_stop();
  ASSERT_TRUE(ready(given_up));
  EXPECT_EQ(given_up.get()->code(), code(Errc::cancelled));
  silent.thaw();
  EXPECT_EQ(client.lock(names_[0]).acquire({.wait = 20s}).release(), ReleaseOutcome::released);
  EXPECT_FALSE(exists(names_[0]));
  EXPECT_TRUE(exists(names_[1]) && exists(names_[2])) << "what is somebody else's stays";
}

TEST_F(AnyOneInACluster, ASlotThatMovesIsFollowed) {
  take_all();
  Client client(config());
  auto waiter = in_thread([&] { return client.any_lock(names_).acquire({.wait = 120s}); });
  ASSERT_TRUE(waits(client));
  const int slot = cluster.slot_of(names_[0]);
  RedisServer& to = node_of(names_[1]);
  cluster.move_slots(slot, slot, to);
  Client other(config());
  EXPECT_TRUE(other.lock(names_[0]).force_release());
  ASSERT_TRUE(ready(waiter));
  const Hold hold = waiter.get();
  EXPECT_EQ(hold.name(), names_[0]);
  EXPECT_TRUE(Raw(to).exists(names_[0]));
}

TEST_F(AnyOneInACluster, WhatIsNoLockIsRefusedAndACloseEndsAWait) {
  Client client(config());
  take_all();
  Raw(node_of(names_[0])).command("SET", names_[0], "somebody's own");
  EXPECT_THAT(error_of([&] { return client.any_lock(names_).acquire({.wait = 60s}); }),
              IsError(Errc::wrong_type, all_, client.node(), AllOf(HasSubstr(names_[0]), HasSubstr("WRONGTYPE"))));
  auto waiter = in_thread([&] { return error_of([&] { return client.any_lock({names_[1], names_[2]}).acquire(); }); });
  ASSERT_TRUE(waits(client));
  client.close();
  ASSERT_TRUE(ready(waiter));
  EXPECT_EQ(waiter.get()->code(), code(Errc::closed));
}

TEST_F(AnyOneInACluster, APrimaryThatIsKilledKeepsNobodyFromWhatIsReleasedElsewhere) {
  take_all();
  Client client(config());
  auto waiter = in_thread([&] { return client.any_lock(names_).acquire({.wait = 120s}); });
  ASSERT_TRUE(waits(client));
  node_of(names_[0]).kill();
  const Timed told = timed_error_of([&] { return client.any_lock(names_).acquire({.wait = 500ms}); });
  ASSERT_TRUE(told.error);
  EXPECT_EQ(told.error->code(), code(Errc::timed_out)) << told.error->what() << " and the others are taken";
  EXPECT_LT(told.took, 10s);
  EXPECT_FALSE(ready(waiter, 0ms));
  EXPECT_TRUE(client.lock(names_[1]).force_release());
  ASSERT_TRUE(ready(waiter));
  EXPECT_EQ(waiter.get().name(), names_[1]);
}

TEST_F(AnyOneInACluster, OfWhichAllPrimariesAreKilledWhoWaitsIsToldWhenItsPatienceEnds) {
  take_all();
  Config settings = config();
  settings.timing.patience = settings.timing.command_timeout = 1s;
  settings.timing.safety_poll = 200ms;
  Client client(settings);
  auto waiter = in_thread([&] { return error_of([&] { return client.any_lock(names_).acquire(); }); });
  ASSERT_TRUE(waits(client));
  for (std::size_t i = 0; i < cluster.nodes(); ++i) cluster.node(i).kill();
  ASSERT_TRUE(ready(waiter, 20s));
  const std::optional<Error> error = waiter.get();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::unreachable)) << error->what();
  EXPECT_EQ(error->key(), all_);
}

using AnyOneWithReplicas = AnyOfSlots;

TEST_F(AnyOneWithReplicas, WhoWaitsWhileAPrimaryIsKilledHearsItsSuccessor) {
  for (const std::string& name : names_) {
    Raw primary(node_of(name));
    put_held_lock(primary, name);
    EXPECT_EQ(primary.command("WAIT", 1, 60'000).integer, 1);
  }
  Client client(config()), other(config());
  auto waiter = in_thread([&] { return client.any_lock(names_).acquire({.wait = 120s}); });
  ASSERT_TRUE(waits(client));
  RedisServer& dead = node_of(names_[0]);
  dead.kill();
  cluster.failover(dead, Failover::takeover);  // at once: how long nodes take to find it out is not the point
  EXPECT_FALSE(ready(waiter, 0ms));
  EXPECT_TRUE(other.lock(names_[0]).force_release()) << "the successor has it";
  ASSERT_TRUE(ready(waiter));
  EXPECT_EQ(waiter.get().name(), names_[0]);
}

}  // namespace
}  // namespace holdfast::test::any_lock_cluster_test
