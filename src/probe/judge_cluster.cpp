// SPDX-License-Identifier: Apache-2.0
// What the nodes of a cluster report about it, and whether they agree.
#include <algorithm>
#include <map>
#include <set>

#include "base/text.hpp"
#include "probe/findings.hpp"
#include "probe/reading.hpp"

namespace holdfast::probing {
namespace {

using redis::cluster::kSlots;
using redis::cluster::Primary;
using redis::cluster::View;
using Part = ProbedNode::Part;

/// How long an election takes, once most primaries have noticed that one is gone.
constexpr std::chrono::seconds kElection{2};
/// The most names in a text, where there may be thousands.
constexpr std::size_t kMostNamed = 5;

bool is_primary(const NodeFacts& node) { return node.part == Part::server && node.answered(); }

/// Its id, which all nodes report alike; without one its address.
std::string name_of(const Primary* primary) {
  if (primary == nullptr) return {};
  return primary->id.empty() ? host_port(primary->address.host, primary->address.port) : primary->id;
}

std::string address_of(const Primary* primary) {
  return primary == nullptr ? "nobody" : host_port(primary->address.host, primary->address.port);
}

/// `3 slots (5, 6, 100)`, with no more than the first few.
std::string named(const std::vector<int>& slots) {
  std::string text = counted(slots.size(), "slot") + " (";
  for (std::size_t i = 0; i < slots.size() && i < kMostNamed; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(slots[i]);
  }
  return text + (slots.size() > kMostNamed ? ", ...)" : ")");
}

std::vector<int> slots_without_anybody(const View& view) {
  std::vector<int> slots;
  for (std::uint16_t slot = 0; slot < kSlots; ++slot) {
    if (view.primary_of(slot) == nullptr) slots.push_back(slot);
  }
  return slots;
}

/// Slots on which two views differ.
std::vector<int> differences(const View& one, const View& other) {
  std::map<std::string, int> numbers{{"", 0}};
  const auto numbered = [&](const View& view) {
    std::vector<int> out;
    for (const Primary& each : view.primaries) {
      out.push_back(numbers.try_emplace(name_of(&each), static_cast<int>(numbers.size())).first->second);
    }
    return out;
  };
  const std::vector<int> of_one = numbered(one), of_other = numbered(other);
  const auto owner = [](const View& view, const std::vector<int>& names, std::size_t slot) {
    return view.served_by[slot] == View::kNobody ? 0 : names[view.served_by[slot]];
  };
  std::vector<int> slots;
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    if (owner(one, of_one, slot) != owner(other, of_other, slot)) slots.push_back(static_cast<int>(slot));
  }
  return slots;
}

void judge_state(const NodeFacts& node, std::vector<Finding>& all) {
  Findings out(all, node.address);
  const std::string state(text_of(node.cluster->info, "cluster_state"));
  if (state == "ok") return out.ok("cluster_state", "it says that the cluster is well");
  if (state.empty()) return;
  out.danger("cluster_state", "it refuses locks, for it sees the cluster as " + base::printable(state),
             "CLUSTER INFO and its log; a majority of primaries must be in reach, and each slot served");
}

/// The first view that there is.
const NodeFacts* first_view(const Facts& facts) {
  const auto found =
      std::ranges::find_if(facts.nodes, [](const NodeFacts& node) { return node.cluster && node.cluster->view; });
  return found == facts.nodes.end() ? nullptr : &*found;
}

void judge_views(const Facts& facts, const NodeFacts& first, std::vector<Finding>& all) {
  Findings together(all, "");
  const View& view = *first.cluster->view;
  const std::vector<int> missing = slots_without_anybody(view);
  if (missing.empty()) {
    together.ok("cluster_slots", "all slots are served, by " + std::to_string(view.primaries.size()) + " primaries");
  } else {
    together.danger("cluster_slots", "nobody serves " + named(missing) + ": the locks there cannot be taken",
                    "redis-cli --cluster fix, or bring their primary back");
  }
  bool agree = true;
  std::size_t views = 0;
  for (const NodeFacts& node : facts.nodes) {
    if (!node.cluster || !node.cluster->view) continue;
    ++views;
    const std::vector<int> slots = differences(view, *node.cluster->view);
    if (slots.empty()) continue;
    agree = false;
    const auto slot = static_cast<std::uint16_t>(slots.front());
    Findings(all, node.address)
        .warning("cluster_agree",
                 "it and " + first.address + " differ about " + named(slots) + ": here slot " + std::to_string(slot) +
                     " is served by " + address_of(node.cluster->view->primary_of(slot)) + ", there by " +
                     address_of(view.primary_of(slot)),
                 "wait, if a failover or a move is under way; else look at the network between the nodes");
  }
  if (agree) together.ok("cluster_agree", counted(views, "node") + " say the same of all slots");
}

/// Slots being moved: each appears at both nodes.
void judge_moves(const Facts& facts, std::vector<Finding>& all) {
  std::set<int> importing, migrating;
  for (const NodeFacts& node : facts.nodes) {
    if (!node.cluster) continue;
    for (const ClusterLine& line : node.cluster->nodes) {
      migrating.insert(line.migrating.begin(), line.migrating.end());
      importing.insert(line.importing.begin(), line.importing.end());
    }
  }
  std::vector<int> both, one_end;
  std::ranges::set_intersection(migrating, importing, std::back_inserter(both));
  std::ranges::set_symmetric_difference(migrating, importing, std::back_inserter(one_end));
  Findings out(all, "");
  if (!both.empty()) {
    out.note("cluster_moves", named(both) + " under way from one node to another: locks there are asked for twice",
             "if nobody is moving them: redis-cli --cluster fix");
  }
  if (!one_end.empty()) {
    out.warning("cluster_moves", "of " + named(one_end) + " one node says that they are under way, and the other not",
                "if nobody is moving them: redis-cli --cluster fix");
  }
  if (both.empty() && one_end.empty()) out.ok("cluster_moves", "no slot is under way");
}

/// Nodes that others consider failed.
void judge_failed(const Facts& facts, std::vector<Finding>& all) {
  std::map<std::string, std::string> failed;
  for (const NodeFacts& node : facts.nodes) {
    if (!node.cluster) continue;
    for (const ClusterLine& line : node.cluster->nodes) {
      if (holds_for_gone(line)) failed.try_emplace(line.address, line.flags);
    }
  }
  std::string text;
  for (const auto& [address, flags] : failed) {
    text += (text.empty() ? "" : "; ") + base::printable(address) + ": " + base::printable(flags);
  }
  Findings out(all, "");
  if (failed.empty()) return out.ok("cluster_nodes", "no node is held for gone");
  out.warning("cluster_nodes", "nodes that others hold for gone: " + text, "bring them back, or CLUSTER FORGET");
}

void judge_failover(const Facts& facts, std::vector<Finding>& all) {
  Findings out(all, "");
  const auto primaries = static_cast<std::size_t>(std::ranges::count_if(facts.nodes, is_primary));
  if (primaries < 3) {
    out.warning("cluster_size",
                std::to_string(primaries) +
                    " of its primaries in reach: if one is lost, the rest is no majority, "
                    "and no replica is elected",
                "three primaries or more, on different machines");
  } else {
    out.ok("cluster_size", std::to_string(primaries) + " primaries");
  }
  std::set<long long> timeouts;
  for (const NodeFacts& node : facts.nodes) {
    if (const auto timeout = number_of(node.config, "cluster-node-timeout")) timeouts.insert(*timeout);
    if (node.part == Part::replica && text_of(node.config, "cluster-replica-no-failover") == "yes") {
      Findings(all, node.address)
          .note("cluster_failover", "it is never promoted (cluster-replica-no-failover)",
                "CONFIG SET cluster-replica-no-failover no, if its primary has no other replica");
    }
  }
  if (timeouts.empty()) return;
  const std::chrono::milliseconds longest(*timeouts.rbegin());
  // A renewal is due each third of the lease, so two thirds are left at least when a primary goes.
  const auto left = facts.settings.lease * 2 / 3;
  const std::string text = "a failover begins " + std::to_string(longest.count()) +
                           " ms after a primary is gone (cluster-node-timeout), and takes some 2 s";
  if (timeouts.size() > 1) {
    out.warning("cluster_timeout", "nodes differ in cluster-node-timeout", "the same on all nodes");
  } else if (longest + kElection > left) {
    out.warning(
        "cluster_timeout",
        text + ": holds are lost by then whose lease is " + in_words(std::chrono::microseconds(facts.settings.lease)),
        "a longer lease, or a shorter cluster-node-timeout");
  } else {
    out.ok("cluster_timeout", text);
  }
}

void judge_coverage(const Facts& facts, std::vector<Finding>& all) {
  const auto is_strict = [](const NodeFacts& node) {
    return text_of(node.config, "cluster-require-full-coverage") == "yes";
  };
  const auto known = [](const NodeFacts& node) { return node.config.contains("cluster-require-full-coverage"); };
  if (std::ranges::none_of(facts.nodes, known)) return;
  Findings out(all, "");
  if (!std::ranges::any_of(facts.nodes, is_strict)) {
    return out.ok("cluster_coverage", "a slot without anybody stops the locks in it only");
  }
  out.note("cluster_coverage", "a slot without anybody stops all locks of the cluster (cluster-require-full-coverage)",
           "CONFIG SET cluster-require-full-coverage no, on all nodes, if the others shall go on");
}

/// A primary and its replicas. Replicas of other primaries are left out.
Facts group_of(const Facts& facts, const NodeFacts& primary) {
  Facts group{facts.settings, {primary}};
  const std::string_view data = text_of(primary.info, "master_replid");
  for (const NodeFacts& node : facts.nodes) {
    if (node.part != Part::replica || !node.answered()) continue;
    const bool follows = host_port(node.role.primary_host, node.role.primary_port) == primary.address ||
                         (!data.empty() && text_of(node.info, "master_replid") == data);
    if (follows) group.nodes.push_back(node);
  }
  return group;
}

}  // namespace

void judge_cluster(const Facts& facts, std::vector<Finding>& all) {
  for (const NodeFacts& node : facts.nodes) {
    if (!is_primary(node)) continue;
    const Facts group = group_of(facts, node);
    judge_replicas(group, all);
    judge_clocks(group, all);
  }
  for (const NodeFacts& node : facts.nodes) {
    if (node.cluster) judge_state(node, all);
  }
  for (const std::string& each : facts.silent_seeds) {
    Findings(all, "").note("seeds", "of the URL's nodes one gave no map: " + each,
                           "others stand in for it; take it out of the URL if it is gone for good");
  }
  const NodeFacts* const first = first_view(facts);
  if (first == nullptr) return;
  judge_views(facts, *first, all);
  judge_moves(facts, all);
  judge_failed(facts, all);
  judge_failover(facts, all);
  judge_coverage(facts, all);
}

}  // namespace holdfast::probing
