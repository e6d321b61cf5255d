// SPDX-License-Identifier: Apache-2.0
// What servers that are meant to be independent have in common.
#include <algorithm>
#include <map>

#include "probe/findings.hpp"

namespace holdfast {
namespace {

using probing::Findings;

/// The addresses of servers that report the same value, if several do.
std::vector<std::string> shared(std::span<const ProbeReport> reports, std::string ProbedNode::* what) {
  std::map<std::string, std::vector<std::string>> by_value;
  for (const ProbeReport& report : reports) {
    const ProbedNode& node = report.nodes.front();
    if (!(node.*what).empty()) by_value[node.*what].push_back(node.address);
  }
  std::vector<std::string> groups;
  for (const auto& [value, addresses] : by_value) {
    if (addresses.size() < 2) continue;
    std::string text;
    for (const std::string& address : addresses) text += (text.empty() ? "" : " and ") + address;
    groups.push_back(std::move(text));
  }
  return groups;
}

void compare_clocks(std::span<const ProbeReport> reports, Findings& out) {
  const ProbedNode* first = nullptr;
  const ProbedNode* last = nullptr;
  for (const ProbeReport& report : reports) {
    const ProbedNode& node = report.nodes.front();
    if (!node.clock_ahead) continue;
    if (first == nullptr || node.clock_ahead < first->clock_ahead) first = &node;
    if (last == nullptr || node.clock_ahead > last->clock_ahead) last = &node;
  }
  if (first == last) return;
  const auto apart = *last->clock_ahead - *first->clock_ahead;
  const auto error = last->clock_error + first->clock_error;
  const std::string text = "the clocks are " + probing::in_words(apart) + " apart (" + last->address + " and " +
                           first->address + ", to within " + probing::in_words(error) + ")";
  if (apart - error > std::chrono::seconds(1)) {
    return out.note("clock", text + "; leases do not depend on that, but on clocks that do not jump",
                    "synchronize them (NTP)");
  }
  out.ok("clock", text);
}

}  // namespace

std::vector<Finding> compare(std::span<const ProbeReport> independent) {
  std::vector<ProbeReport> asked;
  std::ranges::copy_if(independent, std::back_inserter(asked), &ProbeReport::reached);
  std::vector<Finding> all;
  if (independent.size() < 2) return all;
  Findings out(all, "");
  const auto same = shared(asked, &ProbedNode::run_id);
  for (const std::string& group : same) {
    out.danger("same_server", group + " are the same server, which would have several votes", "give each server once");
  }
  for (const std::string& group : shared(asked, &ProbedNode::replication_id)) {
    if (std::ranges::find(same, group) != same.end()) continue;
    out.danger("not_independent", group + " have the same data: one is a replica",
               "only servers that replicate nothing");
  }
  if (all.empty() && asked.size() > 1) out.ok("same_server", "they are different servers");
  for (const ProbeReport& report : asked) {
    const ProbedNode& node = report.nodes.front();
    if (node.keeps == ProbedNode::Keeps::all || node.keeps == ProbedNode::Keeps::unknown) continue;
    Findings(all, node.address)
        .warning("restart", "a restart forgets votes: for as long as a lease, two holders may each have a majority",
                 "appendonly yes and appendfsync always, or a start that waits for longer than the longest lease");
  }
  compare_clocks(asked, out);
  probing::sort(all);
  return all;
}

}  // namespace holdfast
