// SPDX-License-Identifier: Apache-2.0
// What replicas and clocks mean for a failover.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "probe/findings.hpp"
#include "probe/reading.hpp"

namespace holdfast::probing {
namespace {

using Part = ProbedNode::Part;

constexpr long long kLagBytes = 1 << 20;
constexpr long long kLagSeconds = 10;

/// `slave0:ip=10.0.0.2,port=6379,state=online,offset=4711,lag=1` of a primary's INFO.
std::vector<Fields> lines_of_replicas(const Fields& info) {
  std::vector<Fields> lines;
  for (const auto& [name, value] : info) {
    if (!name.starts_with("slave") || value.find("ip=") == std::string::npos) continue;
    std::string words = value;
    std::ranges::replace(words, ',', ' ');
    lines.push_back(read_client_info(words));
  }
  return lines;
}

/// Replicas that are known but down, according to the Sentinels or the cluster's nodes, or because they did not answer.
/// Includes a replaced primary that has not come back.
std::set<std::string> replicas_down(const Facts& facts, std::size_t replicas) {
  std::set<std::string> down;
  const NodeFacts& primary = facts.nodes.front();
  for (const NodeFacts& node : facts.nodes) {
    if (node.part == Part::replica && !node.answered()) down.insert(node.address);
    if (!node.sentinel) continue;
    for (const Fields& replica : node.sentinel->replicas) {
      const std::string_view flags = text_of(replica, "flags");
      if (!base::contains(flags, "_down") && !base::contains(flags, "disconnected")) continue;
      down.insert(host_port(text_of(replica, "ip"), to_port(text_of(replica, "port"))));
    }
  }
  if (primary.cluster) {
    std::string own;
    for (const ClusterLine& line : primary.cluster->nodes) {
      if (base::contains(line.flags, "myself")) own = line.id;
    }
    for (const ClusterLine& line : primary.cluster->nodes) {
      const bool was_primary = line.primary.empty() && line.slots == 0;  // its primary is unknown
      const bool ours = was_primary ? replicas == 0 : line.primary == own;
      if (ours && holds_for_gone(line)) down.insert(line.address);
    }
  }
  for (const NodeFacts& node : facts.nodes) {
    if (node.answered()) down.erase(node.address);
  }
  for (const ReplicaSeen& seen : primary.role.replicas) down.erase(host_port(seen.host, seen.port));
  for (const Fields& line : lines_of_replicas(primary.info)) {
    down.erase(host_port(text_of(line, "ip"), to_port(text_of(line, "port"))));
  }
  return down;
}

void judge_number(const Facts& facts, std::size_t replicas, bool failover, Findings& out) {
  const Settings& settings = facts.settings;
  const std::string there = replicas == 0 ? "it has no replicas" : counted(replicas, "replica");
  const bool for_acks = settings.acks.wanted() && settings.acks.level() != Acks::Level::aof;
  const char* missing = "";
  if (replicas == 0)
    missing = failover ? ": there is nothing to fail over to" : for_acks ? " that could confirm a lock" : "";
  const std::set<std::string> down = replicas_down(facts, replicas);
  if (!down.empty()) {
    std::string names;
    for (const std::string& address : down) names += (names.empty() ? "" : ", ") + base::printable(address);
    const char* const what = down.size() == 1 ? "a replica is down: " : "replicas are down: ";
    const std::string now = replicas == 0 ? "; now it has none" : "; " + there + " left";
    return out.warning("replicas", what + names + now + missing,
                       settings.sentinel_primary.empty()
                           ? "bring it back"
                           : "bring it back, or, if it is gone for good, SENTINEL RESET " + settings.sentinel_primary);
  }
  if (*missing == '\0') return out.ok("replicas", there);
  out.warning("replicas", there + missing, failover ? "add a replica" : "add a replica, or do without acks");
}

void judge_enough_replicas(const NodeFacts& primary, std::size_t replicas, bool failover, Findings& out) {
  const auto needed = number_of(primary.config, "min-replicas-to-write");
  // INFO has it only if the limit is set.
  const auto good = number_of(primary.info, "min_slaves_good_slaves");
  if (needed.value_or(0) > 0 || good) {
    const std::string text =
        "writes need " + (needed ? counted(static_cast<std::size_t>(*needed), "replica") : "replicas");
    if (needed && good && *good < *needed) {
      return out.danger("min_replicas",
                        text + ", and " + std::to_string(*good) + " are there: locks are refused (NOREPLICAS)",
                        "bring the replicas back");
    }
    return out.ok("min_replicas", text + ": a primary that is cut off stops granting");
  }
  if (replicas == 0 && !failover) return;
  out.warning("min_replicas",
              "a primary that is cut off from its replicas goes on granting, while another one is promoted",
              "CONFIG SET min-replicas-to-write 1, and min-replicas-max-lag 10");
}

void judge_replica(const NodeFacts& primary, const NodeFacts& replica, std::vector<Finding>& all) {
  Findings out(all, replica.address);
  if (replica.role.name == "master") {
    return out.warning("replica_source", "it is a primary itself, and no replica of the client's server",
                       "look at what both say of each other: INFO replication");
  }
  const std::string_view theirs = text_of(primary.info, "master_replid");
  const std::string_view its = text_of(replica.info, "master_replid");
  if (!theirs.empty() && !its.empty() && theirs != its) {
    out.warning("replica_source", "it has the data of another primary", "INFO replication on both");
  }
  if (text_of(replica.info, "master_link_status") == "down") {
    out.warning("replica_link", "its connection to the primary is down: what it has is old, and it may be promoted",
                "look at its log");
  } else {
    out.ok("replica_link", "connected to its primary");
  }
  if (text_of(replica.info, "slave_read_only") == "0") {
    out.warning("replica_writes", "it takes writes: a client with the wrong address would lock here, alone",
                "CONFIG SET replica-read-only yes");
  }
}

void judge_priorities(const Facts& facts, Findings& out) {
  std::set<long long> priorities;
  for (const NodeFacts& node : facts.nodes) {
    if (node.answered() && node.part == Part::replica && node.role.name == "slave") {
      if (const auto priority = number_of(node.info, "slave_priority")) priorities.insert(*priority);
    }
  }
  if (priorities.empty()) return;
  if (*priorities.rbegin() == 0) {
    return out.warning("priority", "no replica may be promoted (replica-priority 0)",
                       "CONFIG SET replica-priority 100");
  }
  priorities.erase(0);
  if (priorities.size() == 1) return out.ok("priority", "replicas are elected by how much they have");
  out.warning("priority",
              "replicas differ in replica-priority, which counts before how much they have: one that lags may be "
              "promoted over one that has confirmed a lock",
              "the same replica-priority on all, or 0 on those that are never to be promoted");
}

void judge_lag(const NodeFacts& primary, Findings& out) {
  const long long written = number_of(primary.info, "master_repl_offset").value_or(primary.role.offset);
  std::string late;
  const std::vector<Fields> lines = lines_of_replicas(primary.info);
  for (const Fields& line : lines) {
    const long long behind = written - number_of(line, "offset").value_or(written);
    const long long seconds = number_of(line, "lag").value_or(0);
    if (text_of(line, "state") == "online" && behind <= kLagBytes && seconds <= kLagSeconds) continue;
    late += (late.empty() ? "" : "; ") + host_port(text_of(line, "ip"), to_port(text_of(line, "port"))) + ": " +
            std::string(text_of(line, "state")) + ", " + std::to_string(behind) + " bytes behind, heard of " +
            std::to_string(seconds) + " s ago";
  }
  if (lines.empty()) return;
  if (late.empty()) return out.ok("replica_lag", counted(lines.size(), "replica") + " keep up");
  out.warning("replica_lag", "replicas that lag forget locks when they are promoted: " + late,
              "look at the network and at what the primary has to do");
}

}  // namespace

void judge_replicas(const Facts& facts, std::vector<Finding>& all) {
  if (facts.nodes.empty() || !facts.nodes.front().answered()) return;
  const NodeFacts& primary = facts.nodes.front();
  if (primary.role.name != "master") return;
  Findings out(all, primary.address);
  const std::size_t replicas =
      std::max(primary.role.replicas.size(),
               static_cast<std::size_t>(std::max(0LL, number_of(primary.info, "connected_slaves").value_or(0))));
  const bool failover = !facts.settings.sentinel_primary.empty() || facts.settings.cluster;
  judge_number(facts, replicas, failover, out);
  judge_enough_replicas(primary, replicas, failover, out);
  judge_lag(primary, out);
  if (!facts.settings.cluster) judge_priorities(facts, out);  // elections in a cluster ignore them
  for (const NodeFacts& node : facts.nodes) {
    if (node.answered() && node.part == Part::replica) judge_replica(primary, node, all);
  }
}

void judge_clocks(const Facts& facts, std::vector<Finding>& all) {
  if (facts.nodes.empty() || !facts.nodes.front().clock) return;
  const NodeFacts& server = facts.nodes.front();
  const auto size = [](microseconds time) { return time < microseconds(0) ? -time : time; };
  const auto difference = [&](microseconds ahead, microseconds error, const std::string& whose) {
    return "its clock is " + in_words(size(ahead)) + (ahead < microseconds(0) ? " behind " : " ahead of ") + whose +
           " (to within " + in_words(error) + ")";
  };
  const std::string text = difference(server.clock->ahead, server.clock->error, "this machine's");
  Findings out(all, server.address);
  if (size(server.clock->ahead) - server.clock->error > std::chrono::seconds(1)) {
    out.note("clock", text + "; leases do not depend on that, but on a clock that does not jump",
             "synchronize both (NTP)");
  } else {
    out.ok("clock", text);
  }
  for (const NodeFacts& node : facts.nodes) {
    if (node.part != Part::replica || !node.clock) continue;
    const microseconds ahead = node.clock->ahead - server.clock->ahead;
    const microseconds error = node.clock->error + server.clock->error;
    const std::string between = difference(ahead, error, "its primary's");
    Findings about(all, node.address);
    if (size(ahead) - error > std::chrono::seconds(1)) {
      about.warning(
          "clock",
          between + ": if it is promoted, leases end that much " + (ahead < microseconds(0) ? "later" : "earlier"),
          "synchronize both (NTP)");
    } else {
      about.ok("clock", between);
    }
  }
}

}  // namespace holdfast::probing
