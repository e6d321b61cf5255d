// SPDX-License-Identifier: Apache-2.0
// probe() at a real cluster, with faults planted.
#include <holdfast/probe.hpp>

#include "faults.hpp"
#include "support/cluster.hpp"

namespace holdfast::test::cluster_probe_test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

ProbeReport probe(const std::string& url) { return probe(Client(Config::from_url(url))); }

/// `severity id` of all that is worse than ok.
std::vector<std::string> faults(const ProbeReport& report) {
  std::vector<std::string> found;
  for (const Finding& finding : report.findings) {
    if (finding.severity != Severity::ok) found.push_back(to_string(finding.severity) + (" " + finding.id));
  }
  return found;
}

/// All that is said about this.
std::string said(const ProbeReport& report, const std::string& id) {
  std::string text;
  for (const Finding& each : report.findings) {
    if (each.id == id) text += std::string(to_string(each.severity)) + " " + each.node + ": " + each.text + "\n";
  }
  return text;
}

class ClusterProbe : public testing::Test {
 protected:
  static ClusterOptions options() { return {.persistent = true, .config = {"min-replicas-to-write 1"}}; }
  ProbeReport probe() const { return cluster_probe_test::probe(cluster.url()); }
  /// Nodes hear of some things a little later.
  void wait_for(const std::string& fault) const {
    ASSERT_TRUE(eventually([&] { return std::ranges::count(faults(probe()), fault) > 0; }, 60s)) << fault;
  }

  Cluster cluster{options()};
};

TEST_F(ClusterProbe, AHealthyOneHasNoFaults) {
  const ProbeReport report = probe();
  EXPECT_EQ(report.nodes.size(), 6U);
  EXPECT_EQ(std::ranges::count(report.nodes, ProbedNode::Part::server, &ProbedNode::part), 3);
  EXPECT_EQ(report.nodes.front().part, ProbedNode::Part::server);
  for (const ProbedNode& node : report.nodes) {
    EXPECT_TRUE(node.answered) << node.problem;
    EXPECT_EQ(node.role, node.part == ProbedNode::Part::server ? "master" : "slave");
  }
  for (const char* id : {"cluster", "cluster_slots", "cluster_agree", "cluster_state", "cluster_moves", "cluster_nodes",
                         "cluster_size", "cluster_timeout", "replicas", "min_replicas", "replica_link", "clock", "role",
                         "permissions", "eternal_locks"}) {
    EXPECT_THAT(said(report, id), testing::StartsWith("ok")) << id;
  }
  EXPECT_EQ(said(report, "cluster_agree"), "ok : 6 nodes say the same of all slots\n");
}

TEST_F(ClusterProbe, KeysOfAllPrimariesAreLookedAt) {
  std::set<int> parts;
  for (int i = 0; parts.size() < 3; ++i) {
    const std::string name = "eternal" + std::to_string(i);
    if (!parts.insert(cluster.slot_of(name) / 5462).second) continue;
    Raw raw(cluster.primary_of(name));
    raw.command("HSET", name, "99999999-2222-4333-8444-555555555555:7", 1);
  }
  const std::string text = said(probe(), "eternal_locks");
  EXPECT_EQ(std::ranges::count(text, '\n'), 3) << text;
  EXPECT_THAT(text, Not(HasSubstr("ok ")));
}

TEST_F(ClusterProbe, SlotsUnderWayAndThoseWhoseMoveWasBrokenOff) {
  RedisServer& from = cluster.primary_of(0);
  RedisServer& to = cluster.primary_of(16383);
  cluster.begin_move(0, to);
  EXPECT_THAT(faults(probe()), Contains("note cluster_moves"));
  Raw(from).command("CLUSTER", "SETSLOT", 0, "STABLE");
  EXPECT_THAT(faults(probe()), Contains("warning cluster_moves"));
}

TEST_F(ClusterProbe, ASlotThatItsPrimaryHasGivenUp) {
  Raw(cluster.primary_of(16383)).command("CLUSTER", "DELSLOTS", 16383);
  wait_for("danger cluster_state");
  const ProbeReport report = probe();
  EXPECT_THAT(faults(report), Contains("warning cluster_agree"));
  EXPECT_THAT(said(report, "cluster_agree"), HasSubstr("1 slot (16383)"));
}

TEST_F(ClusterProbe, AReplicaThatIsGone) {
  cluster.replicas_of(cluster.primary_of(0)).front()->kill();
  wait_for("warning cluster_nodes");
  EXPECT_THAT(said(probe(), "replicas"), HasSubstr("warning"));
}

TEST_F(ClusterProbe, APrimaryThatIsSilentIsTold) {
  RedisServer& silent = cluster.primary_of(0);
  silent.freeze();
  const ProbeReport report = cluster_probe_test::probe(cluster.url_at(Cluster::address(cluster.primary_of(16383))));
  silent.thaw();
  EXPECT_TRUE(report.reached()) << "the others answer";
  EXPECT_THAT(said(report, "connection"), HasSubstr("danger " + Cluster::address(silent)));
}

TEST_F(ClusterProbe, AnAddressOfTheUrlThatIsGoneIsNoHarm) {
  RedisServer& gone = *cluster.replicas_of(cluster.primary_of(0)).front();
  gone.kill();
  const ProbeReport report =
      cluster_probe_test::probe(cluster.url_at(Cluster::address(gone) + "," + Cluster::address(cluster.primary_of(0))));
  EXPECT_TRUE(report.reached());
  EXPECT_THAT(said(report, "seeds"), HasSubstr("note : of the URL's nodes one gave no map: " + Cluster::address(gone)));
}

TEST_F(ClusterProbe, TheWrongKindOfUrlIsADanger) {
  const std::string node = Cluster::address(cluster.primary_of(0));
  EXPECT_THAT(said(cluster_probe_test::probe("redis://" + node), "cluster"), HasSubstr("danger"));
  const RedisServer single({.listen = ServerOptions::Listen::tcp});
  const ProbeReport report = cluster_probe_test::probe("redis+cluster://" + Cluster::address(single));
  EXPECT_TRUE(report.reached());
  EXPECT_THAT(said(report, "cluster"), HasSubstr("danger"));
}

}  // namespace
}  // namespace holdfast::test::cluster_probe_test
