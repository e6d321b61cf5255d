// SPDX-License-Identifier: Apache-2.0
// What the Sentinels report, and whether they agree.
#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "probe/findings.hpp"
#include "probe/reading.hpp"

namespace holdfast::probing {
namespace {

bool is_sentinel(const NodeFacts& node) { return node.part == ProbedNode::Part::sentinel; }

/// Those that answered, and those that they know.
std::size_t known_sentinels(const std::vector<const NodeFacts*>& heard) {
  std::size_t most = 0;
  for (const NodeFacts* each : heard) most = std::max(most, each->sentinel->others.size() + 1);
  return most;
}

void judge_view(const NodeFacts& node, const NodeFacts& server, std::vector<Finding>& all) {
  const SentinelView& view = *node.sentinel;
  Findings out(all, node.address);
  if (!view.quorum_met) {
    out.danger("sentinel_quorum", "it could not fail over: " + view.quorum, "bring the other Sentinels back");
  } else {
    out.ok("sentinel_quorum", view.quorum);
  }
  const std::string_view flags = text_of(view.primary, "flags");
  if (flags.find("_down") != std::string_view::npos || flags.find("disconnected") != std::string_view::npos) {
    out.warning("sentinel_primary", "it sees the primary as " + std::string(flags),
                "look at the network between the two");
  }
  const std::string_view run_id = text_of(view.primary, "runid");
  const std::string_view own = text_of(server.info, "run_id");
  if (server.answered() && !run_id.empty() && !own.empty() && run_id != own) {
    out.danger(
        "sentinel_primary",
        "its primary is " + host_port(view.host, view.port) + ", which is not the server that the client talks to",
        "wait, if a failover is under way; else look at what each Sentinel says");
  }
}

void judge_priorities_seen(const std::vector<const NodeFacts*>& heard, const Facts& facts, Findings& out) {
  const bool replicas_asked = std::ranges::any_of(
      facts.nodes, [](const NodeFacts& node) { return node.part == ProbedNode::Part::replica && node.answered(); });
  if (replicas_asked) return;
  std::set<std::string_view> priorities;
  for (const Fields& replica : heard.front()->sentinel->replicas) {
    if (text_of(replica, "slave-priority") != "0") priorities.insert(text_of(replica, "slave-priority"));
  }
  if (priorities.size() < 2) return;
  out.warning(
      "priority",
      "replicas differ in replica-priority, which counts before how much they have: one that lags may be promoted "
      "over one that has confirmed a lock",
      "the same replica-priority on all, or 0 on those that are never to be promoted");
}

void judge_number(const std::vector<const NodeFacts*>& heard, Findings& out) {
  const std::size_t known = known_sentinels(heard);
  const long long quorum = number_of(heard.front()->sentinel->primary, "quorum").value_or(0);
  const std::string text = counted(known, "Sentinel") + ", quorum " + std::to_string(quorum);
  if (known < 3) {
    out.warning("sentinels", text + ": if one is lost, there is no majority for a failover",
                "three or more, on different machines");
  } else if (quorum == 1) {
    out.warning("sentinels", text + ": one Sentinel that sees no primary is enough to ask for a failover",
                "a quorum of more than half");
  } else {
    out.ok("sentinels", text);
  }
}

}  // namespace

void judge_sentinels(const Facts& facts, std::vector<Finding>& all) {
  if (facts.settings.sentinel_primary.empty()) return;
  const std::string name = base::quote(facts.settings.sentinel_primary);
  Findings out(all, "");
  std::vector<const NodeFacts*> heard;
  std::set<std::string> addresses;
  std::size_t asked = 0;
  for (const NodeFacts& node : facts.nodes) {
    if (!is_sentinel(node)) continue;
    ++asked;
    if (!node.answered() || !node.sentinel) continue;
    if (node.sentinel->host.empty()) {
      Findings(all, node.address)
          .danger("sentinel_name", "it knows no primary " + name, "check the name, and sentinel.conf");
      continue;
    }
    heard.push_back(&node);
    addresses.insert(host_port(node.sentinel->host, node.sentinel->port));
    judge_view(node, facts.nodes.front(), all);
  }
  if (heard.empty()) {
    if (asked > 0)
      out.danger("sentinels", "no Sentinel says where " + name + " is", "check their addresses and the name");
    return;
  }
  judge_number(heard, out);
  judge_priorities_seen(heard, facts, out);
  if (addresses.size() == 1) return out.ok("sentinel_agree", "all say that " + name + " is " + *addresses.begin());
  std::string text;
  for (const std::string& address : addresses) text += (text.empty() ? "" : ", ") + address;
  out.danger("sentinel_agree", "Sentinels differ about where " + name + " is: " + text,
             "wait, if a failover is under way; else look at the network between them");
}

}  // namespace holdfast::probing
