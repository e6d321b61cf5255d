// SPDX-License-Identifier: Apache-2.0
// The doctor's questions, answered with anything: what it reads, its walk through the keys, and its judgement.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/probe.hpp>

#include "fuzz/fuzz.hpp"
#include "fuzz/resp.hpp"
#include "probe/commands.hpp"
#include "probe/judge.hpp"
#include "probe/questions.hpp"
#include "probe/reading.hpp"

namespace holdfast::fuzz {
namespace {

using namespace probing;
using base::Reply;

Reply text(std::string_view what) { return {.kind = Reply::Kind::text, .text = std::string(what)}; }

Settings made_settings(Input& input) {
  const std::uint8_t how = input.byte();
  Settings settings;
  settings.host = "127.0.0.1";
  settings.lease = std::chrono::seconds(30);
  settings.cluster = (how & 1U) != 0;
  settings.tls = (how & 2U) != 0;
  settings.password = (how & 4U) != 0;
  settings.unix_socket = (how & 8U) != 0;
  settings.loss_notice = (how & 16U) != 0;
  if ((how & 32U) != 0) settings.acks = Acks::majority();
  if ((how & 64U) != 0 && !settings.cluster) settings.sentinel_primary = "mymaster";
  return settings;
}

Reply answer(Input& input) {
  switch (input.below(4)) {
    case 0:
      return text(input.text());
    case 1:
      return Reply{.kind = Reply::Kind::error, .text = std::string(input.text())};
    default:
      return made_reply(input);
  }
}

Reply list(std::vector<Reply> elements) { return {.kind = Reply::Kind::array, .elements = std::move(elements)}; }

/// As texts, for most of what servers count is in texts.
std::string made_number(Input& input) {
  constexpr std::array kNumbers{"0", "1", "-1", "100", "9223372036854775807", "-9223372036854775808", "60000"};
  const std::size_t which = input.below(kNumbers.size() + 2);
  return which < kNumbers.size() ? kNumbers.at(which) : std::to_string(input.number());
}
Reply made_integer(Input& input) {
  const std::int64_t value = input.coin() ? input.number() : input.byte();
  return {.kind = Reply::Kind::integer, .integer = value};
}

Reply made_info(Input& input) {
  constexpr std::array kFields{
      "maxmemory",          "used_memory",        "evicted_keys",       "connected_clients",
      "maxclients",         "connected_slaves",   "master_repl_offset", "min_slaves_good_slaves",
      "slave_priority",     "redis_version",      "cluster_enabled",    "loading",
      "cluster_slots_fail", "cluster_known_nodes"};
  std::string lines = "role:master\r\n";
  for (std::size_t left = input.below(12); left > 0; --left) {
    lines += std::string(kFields.at(input.below(kFields.size()))) + ":" + made_number(input) + "\r\n";
  }
  lines +=
      "slave0:ip=10.0.0.2,port=6379,state=online,offset=" + made_number(input) + ",lag=" + made_number(input) + "\r\n";
  return text(lines);
}

/// In the form that the question's own reply has.
Reply fitting_answer(Input& input, std::string_view question, const base::Command& command) {
  const bool config = question == "CONFIG" && command.args.size() > 2;
  if (config) return list({text(command.args[2]), text(made_number(input))});
  if (question == "INFO" || question == "CLUSTER") return made_info(input);
  if (question == "SLOWLOG") {
    const Reply time = made_integer(input);
    return list({list({made_integer(input), made_integer(input), time, list({text("EVALSHA")})})});
  }
  if (question == "ROLE") {
    return list({text("master"), made_integer(input),
                 list({list({text("10.0.0.2"), text("6379"), text(made_number(input))})})});
  }
  return list({text("quorum"), text(made_number(input)), text("flags"), text("master")});
}

NodeFacts made_node(Input& input, const Settings& settings, ProbedNode::Part part) {
  NodeFacts facts;
  facts.address = "10.0.0." + std::to_string(input.below(4)) + ":6379";
  facts.part = part;
  if (input.below(16) == 0) {
    facts.problem = input.text();
    facts.trouble = Errc::unreachable;
    return facts;
  }
  const auto questions = part == ProbedNode::Part::sentinel ? questions_for_sentinel() : questions_for_server();
  for (const Question& question : questions) {
    std::vector<Reply> replies;
    for (const base::Command& command : question.commands(facts, settings)) {
      const bool fits = input.coin();
      replies.push_back(fits ? fitting_answer(input, question.name, command) : answer(input));
    }
    if (!replies.empty()) question.read(facts, replies);
  }
  const bool tells_time = input.coin();
  const Reply told = tells_time ? list({text(made_number(input)), text(made_number(input))}) : answer(input);
  if (const auto time = read_time(told)) facts.clock = ClockReading{*time, microseconds(100)};
  facts.round_trips = RoundTrips{microseconds(input.byte()), microseconds(input.byte())};
  return facts;
}

void walk(Input& input, NodeFacts& facts) {
  KeyWalk walk("my:");
  for (int pages = 0; pages < 20; ++pages) {
    std::vector<Reply> replies;
    for (std::size_t left = walk.commands().size(); left > 0; --left) {
      replies.push_back(input.coin() ? Reply{.kind = Reply::Kind::integer, .integer = -1} : answer(input));
    }
    if (replies.empty() || !walk.on_replies(replies)) break;
  }
  require(walk.seen().eternal_names.size() <= 3, "a few names are enough");
  require(walk.seen().eternal <= walk.seen().looked_at, "no more locks are eternal than were looked at");
  facts.keys = walk.seen();
}

void check(const ProbeReport& report, const Facts& facts) {
  require(report.nodes.size() == facts.nodes.size(), "each node is described");
  for (const Finding& each : report.findings) {
    require(!each.id.empty() && !each.text.empty(), "a finding has an id, and words", each.id);
  }
  const auto better = [](const Finding& a, const Finding& b) { return a.severity > b.severity; };
  const bool sorted = std::ranges::is_sorted(
      report.findings, [&](const Finding& a, const Finding& b) { return better(a, b) && a.severity != b.severity; });
  require(sorted || report.findings.empty(), "the worst comes first");
}

}  // namespace
}  // namespace holdfast::fuzz

FUZZ_TARGET(probe, bytes) {
  using namespace holdfast;
  using namespace holdfast::fuzz;
  Input input(bytes);
  Facts facts{made_settings(input), {}};
  facts.nodes.push_back(made_node(input, facts.settings, ProbedNode::Part::server));
  walk(input, facts.nodes.front());
  for (int i = 0; !input.empty() && i < 5; ++i) {
    constexpr std::array kParts{ProbedNode::Part::server, ProbedNode::Part::replica, ProbedNode::Part::sentinel};
    facts.nodes.push_back(made_node(input, facts.settings, kParts.at(input.below(kParts.size()))));
  }
  const std::vector twice(2, judge(facts));
  check(twice.front(), facts);
  compare(twice);
}
