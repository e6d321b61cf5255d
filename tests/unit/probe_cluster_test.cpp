// SPDX-License-Identifier: Apache-2.0
// What is made of the words of a cluster's nodes.
#include <memory>

#include "probe_story.hpp"

namespace holdfast::probing::probe_cluster_test {
namespace {

using redis::cluster::kSlots;
using redis::cluster::View;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string id_of(char letter) { return std::string(40, letter); }

/// Thirds of the slots, of these primaries.
View thirds(const std::string& letters) {
  View view;
  view.covered = kSlots;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    view.primaries.push_back({{"10.0.0." + std::to_string(letters[i] - 'a' + 1), 6379}, id_of(letters[i]), 1});
  }
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    view.served_by[slot] = static_cast<std::uint16_t>(slot * letters.size() / kSlots);
  }
  return view;
}

/// Three primaries a, b, c at 10.0.0.1 to 3, and a replica of each at 10.0.0.11 to 13, without faults.
struct ClusterStory : ProbeStory {
  ClusterStory() {
    facts.settings.cluster = true;
    facts.nodes.clear();
    for (const char letter : {'a', 'b', 'c'}) add(letter, ProbedNode::Part::server);
    for (const char letter : {'a', 'b', 'c'}) add(letter, ProbedNode::Part::replica);
  }
  NodeFacts& primary(std::size_t number) { return facts.nodes.at(number); }
  NodeFacts& replica(std::size_t number) { return facts.nodes.at(number + 3); }
  static void say(NodeFacts& node, const View& view) { node.cluster->view = std::make_shared<const View>(view); }

 private:
  void add(char letter, ProbedNode::Part part) {
    const bool is_replica = part == ProbedNode::Part::replica;
    const std::string number = std::to_string(letter - 'a' + 1);
    NodeFacts node = healthy("10.0.0." + (is_replica ? "1" + number : number) + ":6379", part);
    node.info["cluster_enabled"] = "1";
    node.info["run_id"] = node.address;
    node.info["master_replid"] = letter;
    node.config["cluster-node-timeout"] = "15000";
    node.config["cluster-require-full-coverage"] = "no";
    if (is_replica) {
      node.role = {
          .name = "slave", .replicas = {}, .primary_host = "10.0.0." + number, .primary_port = 6379, .link = {}};
      node.info["master_link_status"] = "up";
    } else {
      node.role.replicas.push_back({"10.0.0.1" + number, 6379, 1000});
      node.info["connected_slaves"] = "1";
      node.config["min-replicas-to-write"] = "1";
    }
    node.cluster.emplace();
    node.cluster->info = {{"cluster_state", "ok"}};
    say(node, thirds("abc"));
    facts.nodes.push_back(std::move(node));
  }
};

TEST(ProbeCluster, OneThatIsAsItShouldBe) {
  ClusterStory story;
  EXPECT_THAT(story.faults(), IsEmpty());
  EXPECT_EQ(story.finding("cluster_slots").text, "all slots are served, by 3 primaries");
  EXPECT_EQ(story.finding("cluster_agree").text, "6 nodes say the same of all slots");
  EXPECT_EQ(story.finding("cluster_size").text, "3 primaries");
}

TEST(ProbeCluster, ANodeThatSaysSomethingElse) {
  ClusterStory story;
  ClusterStory::say(story.replica(1), thirds("abd"));
  EXPECT_THAT(story.faults(), ElementsAre("warning cluster_agree 10.0.0.12:6379"));
  EXPECT_THAT(story.finding("cluster_agree").text,
              HasSubstr("it and 10.0.0.1:6379 differ about 5461 slots (10923, 10924, 10925, 10926, 10927, ...): here "
                        "slot 10923 is served by 10.0.0.4:6379, there by 10.0.0.3:6379"));
}

TEST(ProbeCluster, TheSameNodeUnderAnotherAddressIsNoDifference) {
  ClusterStory story;
  View view = thirds("abc");
  view.primaries[1].address = {"node-b.example", 7000};
  ClusterStory::say(story.primary(2), view);
  EXPECT_THAT(story.faults(), IsEmpty());
}

TEST(ProbeCluster, SlotsWithoutAnybody) {
  ClusterStory story;
  View view = thirds("abc");
  view.served_by[5] = view.served_by[6] = View::kNobody;
  for (NodeFacts& node : story.facts.nodes) ClusterStory::say(node, view);
  EXPECT_THAT(story.faults(), ElementsAre("danger cluster_slots together"));
  EXPECT_THAT(story.finding("cluster_slots").text, HasSubstr("2 slots (5, 6)"));
}

TEST(ProbeCluster, ANodeThatRefuses) {
  ClusterStory story;
  story.primary(1).cluster->info["cluster_state"] = "fail";
  EXPECT_THAT(story.faults(), ElementsAre("danger cluster_state 10.0.0.2:6379"));
}

TEST(ProbeCluster, SlotsUnderWay) {
  ClusterStory story;
  story.primary(0).cluster->nodes = {
      {.id = id_of('a'), .address = {}, .flags = "myself,master", .primary = {}, .migrating = {7}, .importing = {}}};
  EXPECT_THAT(story.faults(), ElementsAre("warning cluster_moves together"));
  story.primary(1).cluster->nodes = {
      {.id = id_of('b'), .address = {}, .flags = "myself,master", .primary = {}, .migrating = {}, .importing = {7}}};
  EXPECT_THAT(story.faults(), ElementsAre("note cluster_moves together"));
}

TEST(ProbeCluster, NodesThatAreHeldForGone) {
  ClusterStory story;
  story.primary(0).cluster->nodes = {{.id = id_of('a'),
                                      .address = "10.0.0.13:6379",
                                      .flags = "slave,fail,nofailover",
                                      .primary = id_of('c'),
                                      .migrating = {},
                                      .importing = {}},
                                     {.id = id_of('b'),
                                      .address = "10.0.0.12:6379",
                                      .flags = "slave,nofailover",
                                      .primary = id_of('b'),
                                      .migrating = {},
                                      .importing = {}}};
  EXPECT_THAT(story.faults(), ElementsAre("warning cluster_nodes together"));
  EXPECT_THAT(story.finding("cluster_nodes").text, HasSubstr("gone: 10.0.0.13:6379: slave,fail,nofailover"));
}

TEST(ProbeCluster, APrimaryWithoutAReplicaAndAReplicaThatIsCutOff) {
  ClusterStory story;
  story.primary(1).role.replicas.clear();
  story.primary(1).info["connected_slaves"] = "0";
  story.primary(1).config["min-replicas-to-write"] = "0";
  story.facts.nodes.erase(story.facts.nodes.begin() + 4);
  EXPECT_THAT(story.faults(), ElementsAre("warning replicas 10.0.0.2:6379", "warning min_replicas 10.0.0.2:6379"));
  ClusterStory other;
  other.replica(2).info["master_link_status"] = "down";
  EXPECT_THAT(other.faults(), ElementsAre("warning replica_link 10.0.0.13:6379"));
}

TEST(ProbeCluster, TooFewPrimariesForAMajority) {
  ClusterStory story;
  story.primary(2).problem = "Connection refused";
  EXPECT_THAT(story.faults(),
              testing::UnorderedElementsAre("danger connection 10.0.0.3:6379", "warning cluster_size together"));
}

TEST(ProbeCluster, AFailoverThatTakesLongerThanALease) {
  ClusterStory story;
  story.facts.settings.lease = std::chrono::seconds(20);
  EXPECT_THAT(story.faults(), ElementsAre("warning cluster_timeout together"));
  story.facts.settings.lease = std::chrono::seconds(26);
  EXPECT_THAT(story.faults(), IsEmpty());
  story.primary(1).config["cluster-node-timeout"] = "5000";
  EXPECT_THAT(story.faults(), ElementsAre("warning cluster_timeout together"));
}

TEST(ProbeCluster, SettingsAndSeedsThatAreGoodToKnow) {
  ClusterStory story;
  story.primary(0).config["cluster-require-full-coverage"] = "yes";
  story.replica(0).config["cluster-replica-no-failover"] = "yes";
  story.facts.silent_seeds = {"10.0.0.9:6379: Connection refused"};
  EXPECT_THAT(story.faults(),
              testing::UnorderedElementsAre("note cluster_coverage together", "note cluster_failover 10.0.0.11:6379",
                                            "note seeds together"));
}

TEST(ProbeCluster, TheWrongKindOfUrl) {
  ClusterStory story;
  story.facts.settings.cluster = false;
  EXPECT_EQ(story.finding("cluster").severity, Severity::danger);
  EXPECT_THAT(story.finding("cluster").advice, HasSubstr("redis+cluster://"));
  ProbeStory single;
  single.facts.settings.cluster = true;
  EXPECT_EQ(single.finding("cluster").severity, Severity::danger);
}

// --- reading ---

TEST(ProbeCluster, ReadsTheLinesOfNodes) {
  const auto lines = read_cluster_nodes(
      id_of('a') + " 127.0.0.1:7000@17000,host.example myself,master - 0 0 1 connected 0-5460 5462 [5061->-" +
      id_of('b') + "] [7-<-" + id_of('b') + "] [x->-y] 99999 5-4\n" + id_of('b') + " ::1:7001@17001 slave,fail? " +
      id_of('a') + " 0 0 1 disconnected\n\ngarbage\n");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].address, "127.0.0.1:7000");
  EXPECT_EQ(lines[0].flags, "myself,master");
  EXPECT_EQ(lines[0].primary, "");
  EXPECT_EQ(lines[0].slots, 5462U);
  EXPECT_THAT(lines[0].migrating, ElementsAre(5061));
  EXPECT_THAT(lines[0].importing, ElementsAre(7));
  EXPECT_EQ(lines[1].primary, id_of('a'));
  EXPECT_EQ(lines[1].slots, 0U);
  EXPECT_THAT(replicas_in(lines), IsEmpty()) << "one that may have failed";
  const auto replicas =
      read_cluster_nodes(id_of('b') + " ::1:7001@17001 slave,nofailover " + id_of('a') + " 0 0 1 connected\n" +
                         id_of('c') + " :0@0 slave,noaddr " + id_of('a') + " 0 0 1 disconnected\n");
  EXPECT_THAT(replicas_in(replicas), ElementsAre(NodeAddress{"::1", 7001}));
  EXPECT_THAT(read_cluster_nodes("\r\n\0[[[ - -"), IsEmpty());
}

}  // namespace
}  // namespace holdfast::probing::probe_cluster_test
