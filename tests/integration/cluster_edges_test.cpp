// SPDX-License-Identifier: Apache-2.0
// Clusters at their edges: nodes that are all away, slots of nobody, nodes that come and go, and odd addresses.
#include <algorithm>
#include <map>

#include "cluster.hpp"
#include "support/made_up_node.hpp"
#include "support/server_program.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::cluster_edges_test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// Three primaries alone: what happens here needs no replica.
class ClusterEdges : public ClusterTest {
 protected:
  explicit ClusterEdges(ClusterOptions options = {.replicas = 0}) : ClusterTest(std::move(options)) {}

  /// A lock on each primary can be taken and given back.
  void expect_service(Client& client) {
    for (RedisServer* primary : cluster.primaries()) {
      const std::string name = name_on(*primary);
      Hold hold = client.lock(name).acquire();
      EXPECT_TRUE(Raw(*primary).exists(name));
      EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    }
  }
  /// From each node that is up. An older message of its owner, which comes afterwards, gives one the slot back: then
  /// again.
  void take_away(int slot) {
    for (std::size_t i = 0; i < cluster.nodes(); ++i) {
      if (cluster.node(i).up()) Raw(cluster.node(i)).command("CLUSTER", "DELSLOTS", slot);
    }
  }
};

TEST_F(ClusterEdges, CallsEndWithinTheirLimitsWhileAllNodesAreFrozen) {
  Config settings = config();
  settings.timing.command_timeout = 1s;
  settings.timing.release_timeout = 1s;
  settings.timing.patience = 2s;
  Client client(settings);
  std::vector<Hold> holds;
  for (RedisServer* primary : cluster.primaries()) holds.push_back(client.lock(name_on(*primary)).acquire());
  Lock lock = client.lock(name_on(cluster.node(0), 1));
  auto waiting = in_thread([other = client.lock(name_on(cluster.node(1), 1))]() mutable {
    return timed_error_of([&] { return other.acquire({.wait = 5s}); });
  });
  for (std::size_t i = 0; i < cluster.nodes(); ++i) cluster.node(i).freeze();
  EXPECT_LT(duration_of([&] { EXPECT_TRUE(error_of([&] { return lock.try_acquire({.wait = 3s}); })); }), 15s);
  EXPECT_LT(duration_of([&] { EXPECT_TRUE(error_of([&] { return lock.is_locked(); })); }), 15s);
  EXPECT_LT(duration_of([&] {
              EXPECT_TRUE(error_of([&] {
                client.ping();
                return 0;
              }));
            }),
            15s);
  EXPECT_LT(duration_of([&] { EXPECT_EQ(holds[0].release(), ReleaseOutcome::unknown); }), 15s);
  ASSERT_TRUE(ready(waiting));
  for (std::size_t i = 0; i < cluster.nodes(); ++i) cluster.node(i).thaw();
  holds.clear();
  cluster.wait_until_settled();
  EXPECT_TRUE(eventually([&] { return !error_of([&] { return lock.try_acquire(); }); }));
}

TEST_F(ClusterEdges, ClosingDoesNotWaitForAMap) {
  MadeUpNode silent([](const auto& command) { return std::string(command.front() == "CLUSTER" ? "" : "+OK\r\n"); });
  Client client(config("redis+cluster://" + silent.address()));
  auto waiting =
      in_thread([lock = client.lock("orders")]() mutable { return error_of([&] { return lock.acquire(); }); });
  EXPECT_TRUE(eventually([&] { return silent.heard("CLUSTER") > 0; }));
  EXPECT_LT(duration_of([&] { client.close(); }), 10s);
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(waiting.get()->code(), Errc::closed);
}

class PartlyCovered : public ClusterEdges {
 protected:
  PartlyCovered() : ClusterEdges({.replicas = 0, .config = {"cluster-require-full-coverage no"}}) {}
  /// Takes its slot from whoever serves this name.
  void leave_unserved(const std::string& name) { take_away(cluster.slot_of(name)); }
  void serve(const std::string& name, RedisServer& by) {
    EXPECT_TRUE(eventually([&] {
      if (!Raw(by).command("CLUSTER", "ADDSLOTS", cluster.slot_of(name)).is_error()) return true;
      leave_unserved(name);
      return false;
    }));
  }
};

/// The others serve on: a node that is silent for long would take the whole cluster down.
TEST_F(PartlyCovered, SeedsThatAreSilentOrDeadDelayNothingMuch) {
  const PortLease dead;
  BlackHole swallows;
  cluster.node(0).freeze();
  const auto at = [](std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); };
  Config settings = config(cluster.url_at(at(dead.port()) + "," + at(swallows.port()) + "," +
                                          Cluster::address(cluster.node(0)) + "," + Cluster::address(cluster.node(1))));
  Client client(settings);
  Hold hold = client.lock(name_on(cluster.node(2))).acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  cluster.node(0).thaw();
}

TEST_F(PartlyCovered, SlotsOfNobodySayThatNobodyServesThem) {
  const std::string name = name_on(cluster.node(0)), other = name_on(cluster.node(1));
  leave_unserved(name);
  Config settings = config();
  settings.timing.patience = 2s;
  settings.timing.command_timeout = 2s;
  Client client(settings);
  const auto error = error_of([&] { return client.lock(name).acquire({.wait = 20s}); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), AnyOf(HasSubstr("not served"), HasSubstr("no primary that serves its slot")));
  EXPECT_TRUE(client.lock(other).acquire()) << "others are not concerned";
}

TEST_F(PartlyCovered, SlotsOfNobodyAreServedOnceSomebodyDoes) {
  const std::string before = name_on(cluster.node(0));
  leave_unserved(before);
  Client client(config());
  auto waiting = in_thread([lock = client.lock(before)]() mutable { return lock.acquire().owner(); });
  EXPECT_FALSE(ready(waiting, 1s));
  serve(before, cluster.node(1));
  ASSERT_TRUE(ready(waiting));
  EXPECT_FALSE(waiting.get().empty());
}

TEST_F(PartlyCovered, WhoWaitsForASlotOfNobodyIsToldOfTheClose) {
  const std::string name = name_on(cluster.node(0));
  leave_unserved(name);
  Client client(config());
  auto waiting = in_thread([lock = client.lock(name)]() mutable { return error_of([&] { return lock.acquire(); }); });
  EXPECT_FALSE(ready(waiting, 500ms));
  EXPECT_LT(duration_of([&] { client.close(); }), 10s);
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(waiting.get()->code(), Errc::closed);
}

TEST_F(ClusterEdges, AClusterThatIsDownForAWhileIsWaitedFor) {
  Client client(config());
  Hold hold = client.lock(name_on(cluster.node(0))).acquire();
  const int slot = cluster.slot_of(name_on(cluster.node(2), 1));
  const auto down = [&] {
    take_away(slot);
    return Raw(cluster.node(1)).command("CLUSTER", "INFO").text.starts_with("cluster_state:fail");
  };
  ASSERT_TRUE(eventually(down));
  const std::string name = name_on(cluster.node(1));
  auto waiting = in_thread([lock = client.lock(name)]() mutable { return lock.acquire().owner(); });
  EXPECT_FALSE(ready(waiting, 500ms));
  Raw(cluster.node(2)).command("CLUSTER", "ADDSLOTS", slot);
  ASSERT_TRUE(ready(waiting));
  EXPECT_FALSE(waiting.get().empty());
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

TEST_F(ClusterEdges, ANodeThatNoSeedNamesIsFound) {
  Client client(config());
  expect_service(client);
  RedisServer& added = cluster.add_node();
  const std::string name = name_on(cluster.node(0));
  const int slot = cluster.slot_of(name);
  cluster.move_slots(slot, slot, added);
  Hold hold = client.lock(name).acquire();
  EXPECT_TRUE(Raw(added).exists(name));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  cluster.move_slots(slot, slot, cluster.node(1));
  cluster.remove_node(added);
  hold = client.lock(name).acquire();
  EXPECT_TRUE(Raw(cluster.node(1)).exists(name));
}

TEST_F(ClusterEdges, AllAddressesButOneMayChange) {
  Client client(config());
  expect_service(client);
  std::vector<RedisServer*> old = cluster.primaries();
  old.pop_back();
  for (RedisServer* each : old) {
    cluster.add_node(each);
    cluster.wait_until_settled();
    cluster.failover(*each);
    cluster.wait_until_settled();
    cluster.remove_node(*each);
  }
  expect_service(client);
}

TEST_F(ClusterEdges, APrefixWithAHashTagPutsAllIntoOneSlot) {
  Config settings = config();
  settings.name_prefix = "{app}:";
  Client client(settings);
  RedisServer& serves = cluster.primary_of("{app}:");
  std::vector<Hold> holds;
  for (int i = 0; i < 5; ++i) {
    const std::string name = "orders:" + std::to_string(i);
    holds.push_back(client.lock(name).acquire());
    EXPECT_TRUE(Raw(serves).exists("{app}:" + name));
  }
  Hold several = client.multi_lock({"a", "b", "c"}).acquire();
  EXPECT_TRUE(Raw(serves).exists("{app}:c"));
  EXPECT_EQ(several.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::cluster_edges_test
