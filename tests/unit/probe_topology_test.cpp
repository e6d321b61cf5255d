// SPDX-License-Identifier: Apache-2.0
// What is made of replicas, Sentinels and clocks, and of servers that are meant to be independent.
#include "probe_story.hpp"

namespace holdfast::probing::probe_topology_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ProbeTopology, AReplicaThatIsAsItShouldBe) {
  ProbeStory story;
  story.add_replica();
  EXPECT_THAT(story.faults(), IsEmpty());
}

TEST(ProbeTopology, APrimaryThatGrantsAlone) {
  ProbeStory story;
  story.add_replica();
  story.server().config["min-replicas-to-write"] = "0";
  EXPECT_THAT(story.faults(), ElementsAre("warning min_replicas"));
  story.server().config.clear();
  story.server().info["min_slaves_good_slaves"] = "1";
  EXPECT_EQ(story.finding("min_replicas").severity, Severity::ok);
}

TEST(ProbeTopology, TooFewReplicasForAnyWrite) {
  ProbeStory story;
  story.add_replica();
  story.server().config["min-replicas-to-write"] = "2";
  story.server().info["min_slaves_good_slaves"] = "1";
  EXPECT_THAT(story.faults(), ElementsAre("danger min_replicas"));
}

TEST(ProbeTopology, AReplicaThatLags) {
  ProbeStory story;
  story.add_replica();
  story.server().info["slave0"] = "ip=10.0.0.2,port=6379,state=online,offset=1000,lag=44";
  EXPECT_THAT(story.faults(), ElementsAre("warning replica_lag"));
  EXPECT_THAT(story.finding("replica_lag").text, HasSubstr("10.0.0.2:6379: online, 0 bytes behind, heard of 44 s ago"));
  story.server().info["slave0"] = "ip=10.0.0.2,port=6379,state=online,offset=1000,lag=0";
  story.server().info["master_repl_offset"] = "9000000";
  EXPECT_THAT(story.faults(), ElementsAre("warning replica_lag"));
}

TEST(ProbeTopology, AReplicaThatIsCutOffOrFollowsAnotherOrTakesWrites) {
  const std::vector<std::pair<Fields, std::string>> faults{
      {{{"master_link_status", "down"}}, "warning replica_link 10.0.0.2:6379"},
      {{{"master_replid", "other"}}, "warning replica_source 10.0.0.2:6379"},
      {{{"slave_read_only", "0"}}, "warning replica_writes 10.0.0.2:6379"},
      {{{"maxmemory", "5000"}, {"maxmemory_policy", "allkeys-lfu"}}, "danger eviction 10.0.0.2:6379"},
  };
  for (const auto& [info, fault] : faults) {
    ProbeStory story;
    NodeFacts& replica = story.add_replica();
    for (const auto& [name, value] : info) replica.info[name] = value;
    EXPECT_THAT(story.faults(), ElementsAre(fault));
  }
}

TEST(ProbeTopology, UnequalPriorities) {
  ProbeStory story;
  story.add_replica();
  NodeFacts& second = story.add_replica("10.0.0.3:6379");
  EXPECT_THAT(story.faults(), IsEmpty());
  second.info["slave_priority"] = "10";
  EXPECT_THAT(story.faults(), ElementsAre("warning priority"));
  second.info["slave_priority"] = "0";
  EXPECT_THAT(story.faults(), IsEmpty()) << "it is never promoted";
  story.facts.nodes[1].info["slave_priority"] = "0";
  EXPECT_THAT(story.finding("priority").text, HasSubstr("no replica may be promoted"));
}

TEST(ProbeTopology, AnEmptyPrimaryEmptiesItsReplicas) {
  ProbeStory story;
  story.add_replica();
  story.server().info["aof_enabled"] = "0";
  EXPECT_THAT(story.faults(), ElementsAre("warning persistence"));
}

TEST(ProbeTopology, AReplicaThatCannotBeReachedIsNotBlamed) {
  ProbeStory story;
  NodeFacts& replica = story.add_replica();
  replica.problem = "cannot reach the server: no route";
  EXPECT_THAT(story.faults(), ElementsAre("unknown connection 10.0.0.2:6379"));
}

TEST(ProbeTopology, AcksWithoutReplicas) {
  ProbeStory story;
  story.facts.settings.acks = Acks::all();
  EXPECT_THAT(story.faults(), ElementsAre("warning replicas"));
  story.facts.settings.acks = Acks::aof();
  EXPECT_THAT(story.faults(), IsEmpty());
}

class ProbeSentinels : public testing::Test, protected ProbeStory {
 protected:
  ProbeSentinels() {
    add_replica();
    for (const char* address : {"s1:26379", "s2:26379", "s3:26379"}) add_sentinel(address);
  }
  NodeFacts& sentinel(std::size_t index) { return facts.nodes[2 + index]; }
};

TEST_F(ProbeSentinels, ThreeThatAgree) { EXPECT_THAT(faults(), IsEmpty()); }

TEST_F(ProbeSentinels, AReplicaThatIsDown) {
  // A primary was killed, and has not come back: its replica is the primary now.
  sentinel(0).sentinel->replicas = {{{"ip", "10.0.0.2"}, {"port", "6379"}, {"flags", "slave"}},
                                    {{"ip", "10.0.0.9"}, {"port", "6379"}, {"flags", "s_down,slave,disconnected"}}};
  EXPECT_THAT(faults(), ElementsAre("warning replicas"));
  EXPECT_EQ(finding("replicas").text, "a replica is down: 10.0.0.9:6379; 1 replica left");
  server().info["connected_slaves"] = "0";
  server().info.erase("slave0");
  facts.nodes.erase(facts.nodes.begin() + 1);
  EXPECT_THAT(finding("replicas").text,
              "a replica is down: 10.0.0.9:6379; now it has none: there is nothing to fail over to");
  EXPECT_THAT(finding("replicas").advice, HasSubstr("bring it back, or, if it is gone for good, SENTINEL RESET main"));
}

TEST_F(ProbeSentinels, OneThatIsDown) {
  sentinel(1).problem = "no answer";
  EXPECT_THAT(faults(), ElementsAre("warning connection s2:26379"));
}

TEST_F(ProbeSentinels, OneThatNamesAnother) {
  sentinel(2).sentinel->host = "10.0.0.2";
  sentinel(2).sentinel->primary["runid"] = "bbbb";
  EXPECT_THAT(faults(), ElementsAre("danger sentinel_primary s3:26379", "danger sentinel_agree together"));
}

TEST_F(ProbeSentinels, OneThatDoesNotKnowTheName) {
  sentinel(0).sentinel->host.clear();
  EXPECT_THAT(faults(), ElementsAre("danger sentinel_name s1:26379"));
}

TEST_F(ProbeSentinels, NoneThatKnowsTheName) {
  for (std::size_t i = 0; i < 3; ++i) sentinel(i).sentinel->host.clear();
  EXPECT_EQ(finding("sentinels").severity, Severity::danger);
}

TEST_F(ProbeSentinels, NoQuorum) {
  sentinel(0).sentinel->quorum_met = false;
  sentinel(0).sentinel->quorum = "NOQUORUM 1 usable Sentinels. Not enough available Sentinels";
  EXPECT_THAT(faults(), ElementsAre("danger sentinel_quorum s1:26379"));
  EXPECT_THAT(finding("sentinel_quorum").text, HasSubstr("NOQUORUM 1 usable Sentinels"));
}

TEST_F(ProbeSentinels, OneThatSeesThePrimaryDown) {
  sentinel(0).sentinel->primary["flags"] = "s_down,master";
  EXPECT_THAT(faults(), ElementsAre("warning sentinel_primary s1:26379"));
}

TEST_F(ProbeSentinels, TooFew) {
  facts.nodes.resize(4);
  for (std::size_t i = 0; i < 2; ++i) sentinel(i).sentinel->others.resize(1);
  EXPECT_THAT(faults(), ElementsAre("warning sentinels together"));
  for (std::size_t i = 0; i < 2; ++i) sentinel(i).sentinel->others.resize(2);
  for (std::size_t i = 0; i < 2; ++i) sentinel(i).sentinel->primary["quorum"] = "1";
  EXPECT_THAT(faults(), ElementsAre("warning sentinels together"));
}

TEST_F(ProbeSentinels, PrioritiesThatOnlySentinelsTell) {
  facts.nodes[1].problem = "no route";
  sentinel(0).sentinel->replicas = {{{"slave-priority", "100"}}, {{"slave-priority", "90"}}};
  EXPECT_THAT(faults(), ElementsAre("warning priority together", "unknown connection 10.0.0.2:6379"));
}

TEST_F(ProbeSentinels, NothingToFailOverTo) {
  facts.nodes.erase(facts.nodes.begin() + 1);
  server().info["connected_slaves"] = "0";
  server().info.erase("slave0");
  EXPECT_THAT(faults(), ElementsAre("warning replicas"));
}

TEST(ProbeClocks, OnlyWhatIsCertainCounts) {
  ProbeStory story;
  NodeFacts& replica = story.add_replica();
  story.server().clock = ClockReading{std::chrono::seconds(3), std::chrono::milliseconds(1)};
  replica.clock = ClockReading{std::chrono::milliseconds(3900), std::chrono::milliseconds(1)};
  EXPECT_THAT(story.faults(), ElementsAre("note clock"));
  story.server().clock->error = std::chrono::milliseconds(2500);
  EXPECT_THAT(story.faults(), IsEmpty());
  story.server().clock = ClockReading{};
  replica.clock = ClockReading{std::chrono::milliseconds(1500), std::chrono::milliseconds(600)};
  EXPECT_THAT(story.faults(), IsEmpty());
  replica.clock->ahead = std::chrono::seconds(-4);
  EXPECT_THAT(story.faults(), ElementsAre("warning clock 10.0.0.2:6379"));
}

TEST(ProbeCompare, IndependentServers) {
  std::vector<ProbeReport> reports;
  for (const char* id : {"a", "b", "c"}) {
    ProbeStory story;
    story.server().address = id;
    story.server().info["run_id"] = id;
    story.server().info["master_replid"] = id;
    reports.push_back(judge(story.facts));
  }
  const auto faults = [&] {
    std::vector<std::string> found;
    for (const Finding& finding : compare(reports)) {
      if (finding.severity != Severity::ok) found.push_back(to_string(finding.severity) + (" " + finding.id));
    }
    return found;
  };
  EXPECT_THAT(faults(), IsEmpty());
  EXPECT_THAT(compare({reports.data(), 1}), IsEmpty()) << "nothing to compare";
  reports[1].nodes[0].run_id = "a";
  reports[1].nodes[0].replication_id = "a";
  EXPECT_THAT(faults(), ElementsAre("danger same_server"));
  reports[1].nodes[0].run_id = "b";
  EXPECT_THAT(faults(), ElementsAre("danger not_independent"));
  reports[1].nodes[0].replication_id = "b";
  reports[2].nodes[0].keeps = ProbedNode::Keeps::all_but_seconds;
  EXPECT_THAT(faults(), ElementsAre("warning restart"));
  reports[0].nodes[0].clock_ahead = std::chrono::seconds(-2);
  EXPECT_THAT(faults(), ElementsAre("warning restart", "note clock"));
}

}  // namespace
}  // namespace holdfast::probing::probe_topology_test
