// SPDX-License-Identifier: Apache-2.0
// The parts of the judgement, and what they write to.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <holdfast/probe.hpp>

#include "probe/facts.hpp"

namespace holdfast::probing {

/// For one node, or several together.
class Findings {
 public:
  Findings(std::vector<Finding>& all, std::string node) : all_(all), node_(std::move(node)) {}

  void add(Severity severity, const char* id, std::string text, std::string advice = {}) {
    all_.push_back({severity, id, node_, std::move(text), std::move(advice)});
  }
  void ok(const char* id, std::string text) { add(Severity::ok, id, std::move(text)); }
  void unknown(const char* id, std::string text) { add(Severity::unknown, id, std::move(text)); }
  void note(const char* id, std::string text, std::string advice = {}) {
    add(Severity::note, id, std::move(text), std::move(advice));
  }
  void warning(const char* id, std::string text, std::string advice = {}) {
    add(Severity::warning, id, std::move(text), std::move(advice));
  }
  void danger(const char* id, std::string text, std::string advice = {}) {
    add(Severity::danger, id, std::move(text), std::move(advice));
  }

 private:
  std::vector<Finding>& all_;
  const std::string node_;
};

/// The software, as it reports itself.
struct Software {
  std::string name;     ///< Empty: not reported.
  std::string version;  ///< Of its own.
  long long major = 0;  ///< Of the Redis that it is compatible with; 0: unknown.
};
Software software_of(const NodeFacts& node);
ProbedNode::Keeps keeps_of(const NodeFacts& node);

/// `1.5 ms`, `30 s`.
std::string in_words(microseconds time);
/// `3 replicas`, `1 replica`.
std::string counted(std::size_t number, std::string_view what);

void judge_kind(const NodeFacts& node, const Settings& settings, Findings out);  ///< Its software and its role.
void judge_data(const NodeFacts& node, Findings out);                            ///< Eviction, memory, persistence.
void judge_connections(const NodeFacts& node, const Settings& settings,
                       Findings out);  ///< Limits, times, slow scripts.
void judge_keys(const NodeFacts& node, Findings out);
void judge_access(const NodeFacts& node, const Settings& settings, Findings out);    ///< What the user may do.
void judge_exposure(const NodeFacts& node, const Settings& settings, Findings out);  ///< Who else has access.
void judge_replicas(const Facts& facts, std::vector<Finding>& all);
void judge_sentinels(const Facts& facts, std::vector<Finding>& all);
/// The whole cluster, including replicas and clocks.
void judge_cluster(const Facts& facts, std::vector<Finding>& all);
void judge_clocks(const Facts& facts, std::vector<Finding>& all);

/// Worst first.
void sort(std::vector<Finding>& findings);

}  // namespace holdfast::probing
