// SPDX-License-Identifier: Apache-2.0
// How the nodes of a cluster name each other, and who may log in to them.
#include <fstream>
#include <map>

#include "cluster.hpp"
#include "support/paths.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::cluster_addresses_test {
namespace {

using testing::HasSubstr;

/// Whatever the nodes call each other: each is reached by its first name, by MOVED, by ASK, and after a failover.
void expect_found(Cluster& cluster, const Config& settings) {
  Client client(settings);
  std::map<RedisServer*, std::string> names;
  for (int i = 0; names.size() < cluster.primaries().size(); ++i) {
    std::string name = "lock:" + std::to_string(i);
    names.try_emplace(&cluster.primary_of(name), std::move(name));
  }
  for (const auto& [primary, name] : names) {
    Hold hold = client.lock(name).acquire();
    EXPECT_TRUE(Raw(*primary).exists(name));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
  const auto& [from, name] = *names.begin();
  RedisServer& to = *names.rbegin()->first;
  const int slot = cluster.slot_of(name);
  cluster.begin_move(slot, to);
  Hold hold = client.lock(name).acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  cluster.end_move(slot, to);
  hold = client.lock(name).acquire();
  EXPECT_TRUE(Raw(to).exists(name));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

/// As CLUSTER SLOTS of this node names the first primary.
std::string endpoint(const RedisServer& node) {
  const Reply reply = Raw(node).command("CLUSTER", "SLOTS");
  return reply.elements.at(0).elements.at(2).elements.at(0).text;
}

/// A cluster set up by what Redis 7.0 has brought.
class NewerCluster : public ClusterTest {
 protected:
  using Lines = std::vector<std::string>;
  explicit NewerCluster(const Lines& config, const Lines& users = {})
      : ClusterTest({.replicas = 0, .users = known() ? users : Lines{}, .config = known() ? config : Lines{}}) {}
  void SetUp() override {
    if (!known()) GTEST_SKIP() << "Redis 6 cannot be set up like that";
  }

 private:
  static bool known() { return server_like_redis(7, 0); }
};

class HostNames : public NewerCluster {
 protected:
  HostNames() : NewerCluster({"cluster-announce-hostname localhost", "cluster-preferred-endpoint-type hostname"}) {}
};

TEST_F(HostNames, AreFollowed) {
  EXPECT_TRUE(eventually([&] { return endpoint(cluster.node(1)) == "localhost"; }));
  expect_found(cluster, config());
}

class Translated : public NewerCluster {
 protected:
  Translated()
      : NewerCluster({"cluster-announce-hostname inside.invalid", "cluster-preferred-endpoint-type hostname"}) {}
};

/// Behind address translation what the nodes announce leads nowhere: by their own views, by MOVED and by ASK.
TEST_F(Translated, NodesAreReachedByAMap) {
  EXPECT_TRUE(eventually([&] { return endpoint(cluster.node(1)) == "inside.invalid"; }));
  Config settings = config();
  settings.map_address = [](const NodeAddress& announced) {
    return announced.host == "inside.invalid" ? NodeAddress{"127.0.0.1", announced.port} : announced;
  };
  expect_found(cluster, settings);
}

/// With a limit, and with the address's name.
TEST_F(Translated, WithoutAMapTheAddressIsNamed) {
  EXPECT_TRUE(eventually([&] { return endpoint(cluster.node(1)) == "inside.invalid"; }));
  Config settings = config();
  settings.timing.connect_timeout = 1s;
  settings.timing.command_timeout = 3s;
  settings.timing.patience = 2s;
  Client client(settings);
  const auto error = error_of([&] { return client.lock("orders").acquire({.wait = 30s}); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("inside.invalid"));
}

class UnknownEndpoints : public NewerCluster {
 protected:
  UnknownEndpoints() : NewerCluster({"cluster-preferred-endpoint-type unknown-endpoint"}) {}
};

/// NULL in CLUSTER SLOTS, and `MOVED 1 :port`.
TEST_F(UnknownEndpoints, MeanTheHostThatWasAsked) {
  EXPECT_EQ(endpoint(cluster.node(1)), "");
  expect_found(cluster, config());
}

class NoNames : public NewerCluster {
 protected:
  NoNames() : NewerCluster({"cluster-preferred-endpoint-type hostname"}) {}
};

/// A question mark, which nobody can connect to.
TEST_F(NoNames, AreAnErrorThatSaysSo) {
  EXPECT_EQ(endpoint(cluster.node(1)), "?");
  Config settings = config();
  settings.timing.patience = 1s;
  settings.timing.command_timeout = 1s;
  Client client(settings);
  const auto error = error_of([&] { return client.lock("orders").acquire({.wait = 5s}); });
  ASSERT_TRUE(error);
  EXPECT_THAT(error->what(), HasSubstr("no slots that are served"));
}

class AddressesOfIpV6 : public ClusterTest {
 protected:
  AddressesOfIpV6() : ClusterTest({.replicas = 0, .config = {"bind 127.0.0.1 ::1", "cluster-announce-ip ::1"}}) {}
};

TEST_F(AddressesOfIpV6, AreFollowed) {
  EXPECT_TRUE(eventually([&] { return endpoint(cluster.node(1)) == "::1"; }));
  expect_found(cluster, config(cluster.url_at("[::1]:" + std::to_string(cluster.node(2).port()))));
}

class ClusterWithTls : public ClusterTest {
 protected:
  ClusterWithTls() : ClusterTest({.tls = true}) {}
};

TEST_F(ClusterWithTls, IsServedAtAllNodesAndAfterAFailover) {
  EXPECT_THAT(cluster.url(), testing::StartsWith("rediss+cluster://"));
  expect_found(cluster, config());
  Client client(config());
  RedisServer& primary = *cluster.primaries().front();
  const std::string name = name_on(primary);
  Hold hold = client.lock(name).acquire({.acks = Acks::all()});
  cluster.failover(primary);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  hold = client.lock(name).acquire();
  EXPECT_NE(&cluster.primary_of(name), &primary);
}

class ClusterWithPassword : public ClusterTest {
 protected:
  ClusterWithPassword() : ClusterTest({.replicas = 0, .password = "s3cret"}) {}
};

TEST_F(ClusterWithPassword, IsAskedForItAtEachNode) { expect_found(cluster, config()); }

TEST_F(ClusterWithPassword, RefusesWhoHasAnotherOne) {
  Config settings = config();
  settings.password = "wrong";
  Client client(settings);
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::denied, "orders", client.node(), HasSubstr("WRONGPASS")));
}

/// docs/least-acl.acl's line, and what clusters need beyond it.
std::string least_rights() {
  std::ifstream file(source_path("docs/least-acl.acl"));
  std::string found;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("user app ")) found = line.substr(std::string("user ").size());
  }
  return found + " +cluster|slots +asking +pubsub|shardnumsub +spublish +ssubscribe +sunsubscribe";
}

class ClusterWithRights : public NewerCluster {
 protected:
  ClusterWithRights() : NewerCluster({}, {least_rights(), "nobody on >change-me ~* &* +@all -cluster"}) {}
  Config as(const std::string& user) {
    Config settings = config();
    settings.username = user;
    settings.password = "change-me";
    return settings;
  }
};

TEST_F(ClusterWithRights, ServesWhoHasTheLeast) { expect_found(cluster, as("app")); }

TEST_F(ClusterWithRights, SaysWhatIsMissing) {
  Client client(as("nobody"));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::denied, "orders", client.node(), HasSubstr("NOPERM")));
}

class ManyDatabases : public ClusterTest {
 protected:
  using Lines = std::vector<std::string>;
  ManyDatabases() : ClusterTest({.replicas = 0, .config = known() ? Lines{"cluster-databases 4"} : Lines{}}) {}
  static bool known() { return server_is_valkey(9, 0); }
};

TEST_F(ManyDatabases, AreServedOrRefusedPlainly) {
  Client client(config(cluster.url() + "/2"));
  const std::string name = name_on(cluster.node(1));
  if (!known()) {
    EXPECT_THAT(
        error_of([&] { return client.lock(name).acquire(); }),
        IsError(Errc::invalid_argument, name, client.node(), HasSubstr("SELECT is not allowed in cluster mode")));
    return;
  }
  Hold hold = client.lock(name).acquire();
  Raw raw(cluster.node(1));
  EXPECT_FALSE(raw.exists(name));
  raw.command("SELECT", 2);
  EXPECT_TRUE(raw.exists(name));
  const int slot = cluster.slot_of(name);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  cluster.move_slots(slot, slot, cluster.node(2));
  EXPECT_TRUE(client.lock(name).acquire());
}

}  // namespace
}  // namespace holdfast::test::cluster_addresses_test
