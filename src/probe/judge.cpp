// SPDX-License-Identifier: Apache-2.0
#include "probe/judge.hpp"

#include <algorithm>
#include <iterator>

#include "probe/findings.hpp"

namespace holdfast::probing {
namespace {

ProbedNode described(const NodeFacts& facts) {
  ProbedNode node;
  node.address = facts.address;
  node.part = facts.part;
  node.answered = facts.answered();
  node.problem = facts.problem;
  const Software software = software_of(facts);
  node.software = software.name;
  node.version = software.version;
  node.role = facts.part == ProbedNode::Part::sentinel && facts.sentinel ? "sentinel" : facts.role.name;
  node.run_id = text_of(facts.info, "run_id");
  node.replication_id = text_of(facts.info, "master_replid");
  node.keeps = keeps_of(facts);
  if (facts.round_trips) {
    node.round_trip_p50 = facts.round_trips->p50;
    node.round_trip_p99 = facts.round_trips->p99;
  }
  if (facts.clock) {
    node.clock_ahead = facts.clock->ahead;
    node.clock_error = facts.clock->error;
  }
  return node;
}

void judge_server(const NodeFacts& node, const Settings& settings, std::vector<Finding>& all) {
  const Findings out(all, node.address);
  judge_kind(node, settings, out);
  judge_access(node, settings, out);
  judge_data(node, out);
  judge_connections(node, settings, out);
  judge_exposure(node, settings, out);
  judge_keys(node, out);
}

/// What remains unknown without an answer.
std::string hides(std::string_view question) {
  for (const auto& [name, what] : {std::pair{"INFO", "the version, memory, eviction and persistence"},
                                   {"CONFIG", "persistence, min-replicas-to-write, time-outs and buffers"},
                                   {"SLOWLOG", "slow scripts"},
                                   {"SCAN", "locks without expiry"},
                                   {"CLUSTER SLOTS", "whether it agrees with the others about who serves what"},
                                   {"CLUSTER NODES", "which nodes and slots it holds for gone or under way"},
                                   {"SENTINEL", "where it sees the primary"}}) {
    if (question == name) return "; so not known: " + std::string(what);
  }
  return "";
}

void judge_reachability(const NodeFacts& node, std::vector<Finding>& all) {
  Findings out(all, node.address);
  const bool is_server = node.part == ProbedNode::Part::server;
  if (!node.answered()) {
    const char* advice = node.trouble == Errc::denied ? "check the user and the password"
                         : node.trouble == Errc::tls  ? "check ca_file, the certificate, and redis:// or rediss://"
                         : is_server                  ? "check the address, the port and the network"
                                                      : "";
    const Severity severity = is_server                                 ? Severity::danger
                              : node.part == ProbedNode::Part::sentinel ? Severity::warning
                                                                        : Severity::unknown;
    return out.add(severity, "connection", node.problem, advice);
  }
  if (is_server) out.ok("connection", node.user.empty() ? "connected" : "connected as user " + node.user);
  if (!node.silent_at.empty()) {
    out.warning("silence", "no reply in time to: " + node.silent_at,
                "look at what it is doing: SLOWLOG, CLIENT LIST, INFO");
  }
  for (const auto& [question, why] : node.refused) {
    if (question == "ACL DRYRUN") continue;  // reported where it matters
    std::string text = question;
    text.append(": ").append(why).append(hides(question));
    out.unknown("refused", std::move(text));
  }
}

}  // namespace

ProbeReport judge(const Facts& facts) {
  ProbeReport report;
  for (const NodeFacts& node : facts.nodes) {
    report.nodes.push_back(described(node));
    judge_reachability(node, report.findings);
    if (!node.answered()) continue;
    if (node.part == ProbedNode::Part::server) {
      judge_server(node, facts.settings, report.findings);
    } else if (node.part == ProbedNode::Part::replica) {
      judge_data(node, Findings(report.findings, node.address));
    }
  }
  if (facts.settings.cluster) {
    judge_cluster(facts, report.findings);
  } else {
    judge_replicas(facts, report.findings);
    judge_sentinels(facts, report.findings);
    judge_clocks(facts, report.findings);
  }
  if (facts.left_out > 0) {
    Findings(report.findings, "").unknown("nodes", counted(facts.left_out, "further node") + " not looked at");
  }
  sort(report.findings);
  return report;
}

void sort(std::vector<Finding>& findings) {
  std::vector<Finding> sorted;
  for (const Severity severity :
       {Severity::danger, Severity::warning, Severity::note, Severity::unknown, Severity::ok}) {
    std::ranges::copy_if(findings, std::back_inserter(sorted),
                         [severity](const Finding& finding) { return finding.severity == severity; });
  }
  findings.swap(sorted);
}

std::string in_words(microseconds time) {
  const long long us = time.count();
  const auto tenths = [](long long value, long long unit) {
    const long long rounded = (value * 10 + unit / 2) / unit;
    return std::to_string(rounded / 10) + "." + std::to_string(rounded % 10);
  };
  if (us < 1000) return std::to_string(us) + " us";
  if (us < 1'000'000) return tenths(us, 1000) + " ms";
  return tenths(us, 1'000'000) + " s";
}

std::string counted(std::size_t number, std::string_view what) {
  return std::to_string(number) + " " + std::string(what) + (number == 1 ? "" : "s");
}

}  // namespace holdfast::probing

namespace holdfast {

const char* to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::ok:
      return "ok";
    case Severity::unknown:
      return "unknown";
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::danger:
      return "danger";
  }
  return "?";
}

const char* to_string(ProbedNode::Part part) noexcept {
  switch (part) {
    case ProbedNode::Part::server:
      return "server";
    case ProbedNode::Part::replica:
      return "replica";
    case ProbedNode::Part::sentinel:
      return "sentinel";
  }
  return "?";
}

const char* to_string(ProbedNode::Keeps keeps) noexcept {
  switch (keeps) {
    case ProbedNode::Keeps::unknown:
      return "unknown";
    case ProbedNode::Keeps::nothing:
      return "nothing";
    case ProbedNode::Keeps::snapshot:
      return "snapshot";
    case ProbedNode::Keeps::all_but_seconds:
      return "all_but_seconds";
    case ProbedNode::Keeps::all:
      return "all";
  }
  return "?";
}

Severity ProbeReport::worst() const noexcept {
  Severity worst = Severity::ok;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

}  // namespace holdfast
