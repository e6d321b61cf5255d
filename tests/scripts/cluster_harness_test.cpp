// SPDX-License-Identifier: Apache-2.0
// The cluster that tests stand on does what production does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster.hpp"
#include "support/cluster_wait.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::cluster_harness_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

/// By a client that knows nothing of clusters; over TCP, since error replies name ports.
Reply ask_at(const RedisServer& node, const std::vector<std::string>& command) {
  return Raw(Endpoint{.port = node.port()}).send(command);
}

TEST(ClusterHarness, SlotsAreSharedAndOthersAreNamed) {
  Cluster cluster;
  EXPECT_THAT(cluster.primaries(), ElementsAre(&cluster.node(0), &cluster.node(1), &cluster.node(2)));
  EXPECT_EQ(&cluster.primary_of(0), &cluster.node(0));
  EXPECT_EQ(&cluster.primary_of(16383), &cluster.node(2));
  EXPECT_THAT(cluster.replicas_of(cluster.node(1)), ElementsAre(&cluster.node(4)));
  EXPECT_EQ(cluster.slot_of("foo"), 12182);  // as the specification has it
  EXPECT_EQ(&cluster.primary_of("foo"), &cluster.node(2));
  EXPECT_EQ(ask_at(cluster.node(2), {"SET", "foo", "1"}).text, "OK");
  EXPECT_EQ(ask_at(cluster.node(0), {"SET", "foo", "1"}).text, "MOVED 12182 " + Cluster::address(cluster.node(2)));
  EXPECT_THAT(cluster.url(), StartsWith("redis+cluster://" + Cluster::address(cluster.node(0)) + ","));
}

class ClusterFailover : public ::testing::TestWithParam<Failover> {};
INSTANTIATE_TEST_SUITE_P(By, ClusterFailover, ::testing::Values(Failover::plain, Failover::force, Failover::takeover),
                         [](const auto& it) { return std::string(to_string(it.param)); });

TEST_P(ClusterFailover, AReplicaTakesThePlaceAndBackAgain) {
  Cluster cluster;
  RedisServer& first = cluster.node(0);
  RedisServer& second = *cluster.replicas_of(first).front();
  cluster.failover(first, GetParam());
  EXPECT_EQ(&cluster.primary_of(0), &second);
  cluster.wait_until_settled();
  EXPECT_THAT(cluster.replicas_of(second), ElementsAre(&first));
  cluster.failover(second, GetParam());
  EXPECT_EQ(&cluster.primary_of(0), &first);
}

TEST(ClusterHarness, AKilledPrimaryIsReplacedAndComesBackAsAReplica) {
  Cluster cluster({.node_timeout = std::chrono::milliseconds(1000)});
  RedisServer& first = cluster.node(0);
  Raw raw(first);
  const std::string key = "{06S}";  // slot 0
  ASSERT_EQ(cluster.slot_of(key), 0);
  ASSERT_EQ(raw.command("SET", key, "kept").text, "OK");
  ASSERT_EQ(raw.command("WAIT", 1, 10000).integer, 1);
  first.kill();
  cluster.wait_for_failover_from(first);
  RedisServer& second = cluster.primary_of(0);
  EXPECT_NE(&second, &first);
  EXPECT_EQ(Raw(second).command("GET", key).text, "kept");
  first.restart(Data::lose);
  cluster.wait_until_settled();
  EXPECT_THAT(cluster.replicas_of(second), ElementsAre(&first));
}

TEST(ClusterHarness, AFrozenPrimaryIsReplacedAndDemoted) {
  Cluster cluster({.node_timeout = std::chrono::milliseconds(1000)});
  RedisServer& first = cluster.node(0);
  first.freeze();
  cluster.wait_for_failover_from(first);
  first.thaw();
  cluster.wait_until_settled();
  EXPECT_FALSE(Cluster::is_primary(first));
}

TEST(ClusterHarness, ASlotMovesInStepsAndClientsAreSentAlong) {
  Cluster cluster({.replicas = 0});
  RedisServer &from = cluster.node(2), &to = cluster.node(0);
  for (const std::string key : {"{foo}1", "{foo}2", "{foo}3"}) ASSERT_EQ(Raw(from).command("SET", key, key).text, "OK");
  const int slot = cluster.slot_of("foo");
  cluster.begin_move(slot, to);
  EXPECT_EQ(ask_at(from, {"GET", "{foo}new"}).text, "ASK 12182 " + Cluster::address(to));
  EXPECT_EQ(cluster.move_keys(slot, to, 1), 1U);
  EXPECT_EQ(Raw(from).command("DBSIZE").integer, 2);
  EXPECT_EQ(Raw(to).command("DBSIZE").integer, 1);
  EXPECT_EQ(&cluster.primary_of(slot), &from);
  cluster.end_move(slot, to);
  EXPECT_EQ(&cluster.primary_of(slot), &to);
  EXPECT_EQ(Raw(to).command("DBSIZE").integer, 3);
  EXPECT_THAT(ask_at(from, {"GET", "{foo}1"}).text, StartsWith("MOVED 12182 "));
}

/// Writes 300 keys; how many of them this node has taken.
int fill(Raw& node) {
  int keys = 0;
  for (int i = 0; i < 300; ++i) keys += node.command("SET", "key" + std::to_string(i), i).text == "OK" ? 1 : 0;
  return keys;
}

TEST(ClusterHarness, ManySlotsMoveWithTheirKeys) {
  Cluster cluster;
  RedisServer &from = cluster.node(0), &to = cluster.node(1);
  Raw raw(from);
  const int keys = fill(raw);
  ASSERT_GT(keys, 50);
  cluster.move_slots(0, 999, to);
  cluster.wait_until_settled();
  EXPECT_EQ(&cluster.primary_of(999), &to);
  EXPECT_EQ(&cluster.primary_of(1000), &from);
  const auto moved = Raw(to).command("DBSIZE").integer;
  EXPECT_GT(moved, 5);
  EXPECT_EQ(raw.command("DBSIZE").integer, keys - moved);
}

TEST(ClusterHarness, ManySlotsMoveAtomically) {
  if (!Cluster::moves_atomically()) GTEST_SKIP() << server_version() << " does not move slots atomically";
  Cluster cluster;
  RedisServer &from = cluster.node(0), &to = cluster.node(1);
  Raw raw(from);
  const int keys = fill(raw);
  ASSERT_GT(keys, 50);
  cluster.move_slots_atomically(0, 5000, to);
  cluster.wait_until_settled();
  EXPECT_EQ(&cluster.primary_of(5000), &to);
  EXPECT_EQ(&cluster.primary_of(5001), &from);
  EXPECT_GT(Raw(to).command("DBSIZE").integer, keys / 2);
}

TEST(ClusterHarness, NodesComeAndGo) {
  Cluster cluster;
  RedisServer& added = cluster.add_node();
  RedisServer& replica = cluster.add_node(&added);
  EXPECT_THAT(cluster.replicas_of(added), ElementsAre(&replica));
  cluster.move_slots(0, 99, added);
  EXPECT_EQ(&cluster.primary_of(50), &added);
  cluster.move_slots(0, 99, cluster.node(0));
  cluster.wait_until_settled();
  cluster.remove_node(replica);
  cluster.remove_node(added);
  EXPECT_EQ(cluster.nodes(), 6U);
  EXPECT_EQ(&cluster.primary_of(50), &cluster.node(0));
}

TEST(ClusterHarness, APasswordAndUsers) {
  Cluster cluster({.primaries = 2, .password = "secret", .users = {"app on >pass ~* &* +@all"}});
  EXPECT_THAT(cluster.url(), StartsWith("redis+cluster://:secret@127.0.0.1:"));
  EXPECT_THAT(ask_at(cluster.node(0), {"GET", "foo"}).text, StartsWith("NOAUTH"));
  ASSERT_EQ(Raw(cluster.primary_of("foo")).command("SET", "foo", 1).text, "OK");
  const int slot = cluster.slot_of("foo");
  cluster.move_slots(slot, slot, cluster.node(0));
  EXPECT_EQ(Raw(cluster.node(0)).command("GET", "foo").text, "1");
  cluster.failover(cluster.node(0));
  cluster.wait_until_settled();
}

TEST(ClusterHarness, TlsEverywhere) {
  Cluster cluster({.primaries = 2, .tls = true});
  EXPECT_THAT(cluster.url(), StartsWith("rediss+cluster://127.0.0.1:"));
  ASSERT_EQ(Raw(cluster.primary_of("foo")).command("SET", "foo", 1).text, "OK");
  const int slot = cluster.slot_of("foo");
  cluster.move_slots(slot, slot, cluster.node(0));
  EXPECT_EQ(Raw(cluster.node(0)).command("GET", "foo").text, "1");
  cluster.failover(cluster.node(0));
  cluster.wait_until_settled();
}

}  // namespace
}  // namespace holdfast::test::cluster_harness_test
