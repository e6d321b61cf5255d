// SPDX-License-Identifier: Apache-2.0
// What is of several nodes: MultiLock over slots, RedLock over clusters, list and ping.
#include <atomic>
#include <deque>
#include <future>

#include "cluster.hpp"
#include "support/counter.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::cluster_groups_test {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

class ClusterGroups : public ClusterTest {
 protected:
  /// One on each primary.
  std::vector<std::string> names() {
    std::vector<std::string> names;
    for (RedisServer* primary : cluster.primaries()) names.push_back(name_on(*primary));
    return names;
  }
  bool exists(const std::string& name) { return Raw(cluster.primary_of(name)).exists(name); }
};

TEST_F(ClusterGroups, OfSeveralSlotsAreTakenAllOrNone) {
  Client mine(config());
  Client other(config());
  const std::vector<std::string> three = names();
  MultiLock lock = mine.multi_lock(three);
  Hold theirs = other.lock(three[1]).acquire();
  EXPECT_EQ(lock.try_acquire(), std::nullopt);
  const auto error = error_of([&] { return lock.acquire({.wait = 300ms}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::timed_out)) << error->what();
  EXPECT_THAT(error->cause(), HasSubstr(three[1]));
  EXPECT_EQ(error->node(), mine.node());
  EXPECT_TRUE(eventually([&] { return !exists(three[0]) && !exists(three[2]); }));
  auto waiting = in_thread([&] { return lock.acquire(); });
  EXPECT_EQ(theirs.release(), ReleaseOutcome::released);
  Hold hold = waiting.get();
  for (const std::string& name : three) EXPECT_TRUE(exists(name)) << name;
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  for (const std::string& name : three) EXPECT_FALSE(exists(name)) << name;
}

/// What was taken ahead of it is given back, and told, which is no reason to ask again.
TEST_F(ClusterGroups, OfWhichOneIsTakenAreAskedForSeldom) {
  Client mine(config());
  Client other(config());
  const std::vector<std::string> three = names();
  const Hold theirs = other.lock(three[2]).acquire();
  EXPECT_EQ(mine.multi_lock(three).try_acquire({.wait = 2s}), std::nullopt);
  EXPECT_LT(Raw(cluster.primary_of(three[0])).calls("hset"), 10);
}

TEST_F(ClusterGroups, OfOneSlotAreOneCommand) {
  Client client(config());
  MultiLock lock = client.multi_lock({"{orders}:a", "{orders}:b", "{orders}:c"});
  lock.acquire().release();
  const auto before = client.counters().commands;
  lock.acquire().release();
  EXPECT_LE(client.counters().commands, before + 2);
}

TEST_F(ClusterGroups, AreRenewedAndLostAsAWholeAndGivenBackOnClose) {
  Config settings = config();
  settings.lease = 3s;
  const std::vector<std::string> three = names();
  Client client(settings);
  Hold hold = client.multi_lock(three).acquire();
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 3; }));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_TRUE(client.lock(three[2]).force_release());
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_TRUE(eventually([&] { return !exists(three[0]) && !exists(three[1]); }));
  Hold open = client.multi_lock(three).acquire({.wait = 20s});
  client.close();
  for (const std::string& name : three) EXPECT_FALSE(exists(name)) << name;
}

TEST_F(ClusterGroups, WithCommonMembersExcludeEachOtherAndNeverWaitForEver) {
  const std::vector<std::string> three = names();
  Counter counter;
  {
    std::deque<Client> clients;
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 4; ++i) {
      Client& client = clients.emplace_back(config());
      threads.emplace_back([&, i] {
        std::vector<std::string> mine{three[i % 3], three[1], three[(i + 2) % 3]};
        MultiLock lock = client.multi_lock(mine);
        for (int round = 0; round < 25; ++round) {
          Hold hold = lock.acquire({.wait = 120s});
          counter.increment();
        }
      });
    }
  }
  EXPECT_EQ(counter.calls(), 100);
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_GT(lost_without_a_lock(4, 25), 0) << "or nothing could have been seen";
}

TEST_F(ClusterGroups, AreListedFromAllPrimaries) {
  Client client(config());
  std::vector<std::string> held;
  std::deque<Hold> holds;
  for (int i = 0; i < 30; ++i) holds.push_back(client.lock(held.emplace_back("orders:" + std::to_string(i))).acquire());
  std::vector<std::string> found;
  for (const LockInfo& info : client.list("orders:*")) {
    found.push_back(info.name);
    ASSERT_TRUE(info.holder);
    EXPECT_EQ(info.holder->connection, Holder::Connection::open) << info.name;
  }
  EXPECT_THAT(found, UnorderedElementsAreArray(held));
}

TEST_F(ClusterGroups, SayNothingOfAHolderThatMayBeConnectedElsewhere) {
  Client client(config());
  const std::string name = name_on(*cluster.primaries().front());
  std::string owner;
  {
    Client gone(config());
    Hold hold = gone.lock(name).acquire();
    owner = hold.owner();
    hold.release();
  }
  put_held_lock(Raw(cluster.primary_of(name)), name, owner);
  const LockInfo info = client.lock(name).info(InfoDetail::holder);
  ASSERT_TRUE(info.holder);
  EXPECT_EQ(info.holder->connection, Holder::Connection::unknown);
}

/// Whoever is notified of the moves looks through all targets, and may be the last to refer to one.
TEST_F(ClusterGroups, ComeAndGoWhileSlotsMove) {
  Client client(config());
  const std::vector<std::string> three = names();
  Hold renewed = client.lock(three[0]).acquire();
  std::atomic<bool> over{false};
  std::vector<std::future<void>> drop;
  for (int i = 0; i < 2; ++i) {
    drop.push_back(in_thread([&] {
      while (!over.load()) client.multi_lock(three);
    }));
  }
  const int slot = cluster.slot_of(name_on(*cluster.primaries()[1], 1));
  for (int i = 0; i < 40; ++i) cluster.move_slots(slot, slot, *cluster.primaries()[i % 2 == 0 ? 0 : 1]);
  EXPECT_TRUE(client.lock(three[0]).is_locked());
  over.store(true);
  for (std::future<void>& each : drop) EXPECT_TRUE(ready(each));
  EXPECT_EQ(renewed.release(), ReleaseOutcome::released);
}

TEST_F(ClusterGroups, PingAsksAllPrimariesAndNamesTheOneThatFails) {
  Config settings = config();
  settings.timing.command_timeout = 1s;
  settings.timing.patience = 1s;
  Client client(settings);
  client.ping();
  RedisServer& silent = *cluster.primaries().back();
  silent.freeze();
  const auto error = error_of([&] {
    client.ping();
    return 0;
  });
  silent.thaw();
  ASSERT_TRUE(error);
  EXPECT_THAT(error->node(), HasSubstr(std::to_string(silent.port()))) << error->what();
}

TEST(RedLockOverClusters, NeedsAMajorityOfThemAndCountsEachOnce) {
  std::deque<Cluster> clusters;
  for (int i = 0; i < 3; ++i) clusters.emplace_back(ClusterOptions{.primaries = 1, .replicas = 0});
  std::deque<Client> clients;
  std::vector<Lock> locks;
  for (Cluster& each : clusters) {
    Config settings = quick_config(each.url());
    settings.lease = 30s;
    locks.push_back(clients.emplace_back(settings).lock("orders"));
  }
  RedLock lock(locks);
  Hold hold = lock.acquire({.wait = 20s});
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  clusters.back().node(0).stop();
  EXPECT_EQ(lock.acquire({.wait = 30s}).release(), ReleaseOutcome::released) << "two of three are a majority";

  Client& again = clients.emplace_back(quick_config(clusters.front().url()));
  RedLock twice({locks[0], again.lock("orders"), locks[1]});
  std::optional<Error> error;
  EXPECT_TRUE(eventually([&] { return (error = error_of([&] { return twice.acquire({.wait = 20s}); })).has_value(); }));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::invalid_argument)) << error->what();
  EXPECT_THAT(error->cause(), HasSubstr("are the same"));
}

}  // namespace
}  // namespace holdfast::test::cluster_groups_test
