// SPDX-License-Identifier: Apache-2.0
// A client of a real cluster: who is asked, what moves, and what is left alone.
#include <algorithm>

#include "cluster.hpp"

namespace holdfast::test::cluster_servers_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ClusterServers : public ClusterTest {
 protected:
  /// Connections of ours at a node.
  static long long connections(const RedisServer& node) {
    std::istringstream clients(Raw(node).command("CLIENT", "LIST").text);
    long long count = 0;
    for (std::string line; std::getline(clients, line);) {
      if (line.find(" name=holdfast") != line.npos) ++count;
    }
    return count;
  }
};

TEST_F(ClusterServers, EachPrimaryHasItsKeys) {
  Client client(config());
  for (RedisServer* primary : cluster.primaries()) {
    const std::string name = name_on(*primary);
    Hold hold = client.lock(name).acquire();
    EXPECT_TRUE(Raw(*primary).exists(name));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_FALSE(Raw(*primary).exists(name));
  }
}

TEST_F(ClusterServers, HaveAConnectionOnlyWhereItIsNeeded) {
  Client client(config());
  RedisServer& first = *cluster.primaries().front();
  RedisServer& last = *cluster.primaries().back();
  Hold hold = client.lock(name_on(last)).acquire();
  EXPECT_TRUE(eventually([&] { return connections(first) == 0; }));
  EXPECT_GE(connections(last), 1);
  for (RedisServer* replica : cluster.replicas_of(last)) {
    EXPECT_TRUE(eventually([&] { return connections(*replica) == 0; })) << "after the map was asked for";
  }
}

TEST_F(ClusterServers, OfWhichASeedIsDeadOrAReplicaTellTheMap) {
  RedisServer& primary = *cluster.primaries().front();
  RedisServer& replica = *cluster.replicas_of(primary).front();
  const PortLease nobody;
  Client client(config(cluster.url_at("127.0.0.1:" + std::to_string(nobody.port()) + "," + Cluster::address(replica))));
  const std::string name = name_on(*cluster.primaries().back());
  Hold hold = client.lock(name).acquire();
  EXPECT_TRUE(Raw(*cluster.primaries().back()).exists(name));
  EXPECT_EQ(Raw(replica).calls("evalsha"), 0) << "no command goes to a replica";
}

TEST_F(ClusterServers, ThatCannotBeReachedAreNamed) {
  const PortLease nobody;
  const std::string address = "127.0.0.1:" + std::to_string(nobody.port());
  Client client(config(cluster.url_at(address)));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::unreachable, "orders", client.node(), HasSubstr(address + ": Connection refused")));
}

TEST_F(ClusterServers, ThatAreNoClusterSaySo) {
  RedisServer alone({.listen = ServerOptions::Listen::tcp});
  Client client(config(cluster.url_at(Cluster::address(alone))));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::unsupported_by_server, "orders", client.node(), HasSubstr("cluster support disabled")));
}

TEST_F(ClusterServers, AMovedSlotIsFollowed) {
  Client client(config());
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  const std::string name = name_on(from);
  Hold hold = client.lock(name).acquire();
  const int slot = cluster.slot_of(name);
  cluster.move_slots(slot, slot, to);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(Raw(to).exists(name));
  const Hold again = client.lock(name).acquire();
  EXPECT_TRUE(Raw(to).exists(name));
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

TEST_F(ClusterServers, ASlotUnderWayIsAskedAtBothEnds) {
  Client client(config());
  RedisServer& from = *cluster.primaries().front();
  RedisServer& to = *cluster.primaries().back();
  const std::string name = name_on(from);
  const int slot = cluster.slot_of(name);
  Hold held = client.lock(name).acquire();
  cluster.begin_move(slot, to);
  EXPECT_EQ(held.release(), ReleaseOutcome::released);  // at the source, which has the key
  Hold hold = client.lock(name).acquire();              // at the target, since the source has no such key
  EXPECT_TRUE(Raw(to).command("ASKING").text == "OK");
  Client other(config());
  const MaybeHold refused = other.lock(name).try_acquire();
  EXPECT_FALSE(refused);
  EXPECT_FALSE(log->wait_for("suspect", 1, 300ms)) << "the slot has not moved yet";
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  Hold last = client.lock(name).acquire();
  cluster.end_move(slot, to);
  EXPECT_TRUE(Raw(to).exists(name));
  EXPECT_EQ(last.release(), ReleaseOutcome::released);
}

TEST_F(ClusterServers, AFailoverLeavesNoWaiterBehind) {
  Config settings = config();
  settings.timing.safety_poll = settings.lease = 10min;
  settings.timing.release_timeout = 20s;
  Client holder(settings), waiter(settings);
  RedisServer& primary = *cluster.primaries().front();
  const std::string name = name_on(primary);
  Hold hold = holder.lock(name).acquire();
  ASSERT_TRUE(eventually([&] { return Raw(primary).replicated(1); }));
  auto waiting = in_thread([&] { return waiter.lock(name).acquire({.wait = 1min}).release(); });
  const auto listened_to = [&] {
    for (const char* const question : {"SHARDNUMSUB", "NUMSUB"}) {
      const Reply reply = Raw(primary).command("PUBSUB", question, channel_of(name));
      if (!reply.is_error() && reply.elements.at(1).integer == 1) return true;
    }
    return false;
  };
  ASSERT_TRUE(eventually(listened_to));
  primary.kill();
  cluster.wait_for_failover_from(primary);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released) << "at its successor";
  EXPECT_TRUE(ready(waiting, 20s));
  EXPECT_EQ(waiting.get(), ReleaseOutcome::released);
}

TEST_F(ClusterServers, AFailoverIsFollowed) {
  Config settings = config();
  settings.timing.release_timeout = 20s;
  Client client(settings);
  RedisServer& primary = *cluster.primaries().front();
  const std::string name = name_on(primary);
  Hold hold = client.lock(name).acquire();
  ASSERT_TRUE(eventually([&] { return Raw(primary).replicated(1); }));
  primary.kill();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released) << "at its successor";
  Hold again = client.lock(name).acquire();
  EXPECT_TRUE(Raw(cluster.primary_of(name)).exists(name));
}

}  // namespace
}  // namespace holdfast::test::cluster_servers_test
