#include "redis/cluster/rounds.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace holdfast::redis::cluster {

Rounds::Rounds(const std::vector<NodeAddress>& seeds, std::uint64_t chance) : seeds_(seeds), random_(chance) {
  set_map({});
}

void Rounds::set_map(const View& view) {
  std::vector<NodeAddress> nodes;
  std::vector<State> states;
  std::unordered_map<NodeAddress, std::size_t, AddressHash> indices;
  const auto add = [&](const NodeAddress& node, Kind kind) {
    if (!indices.try_emplace(node, nodes.size()).second) return;
    nodes.push_back(node);
    State* const before = find(node);
    states.push_back(before == nullptr ? State{} : std::move(*before));
    states.back().kind = kind;
  };
  for (const Primary& each : view.primaries) add(each.address, Kind::primary);
  for (const NodeAddress& each : view.replicas) add(each, Kind::replica);
  for (const NodeAddress& each : seeds_) add(each, Kind::seed);
  nodes_ = std::move(nodes);
  states_ = std::move(states);
  indices_ = std::move(indices);
}

NodeAddress Rounds::next() {
  const bool all_doubted = std::ranges::all_of(states_, [](const State& each) { return each.doubted; });
  const bool seeds_first = misses_ >= kMisses;
  const auto may_be_asked = [&](const State& each) {
    return !each.asked && (all_doubted || !each.doubted || (seeds_first && each.kind == Kind::seed));
  };
  if (std::ranges::none_of(states_, may_be_asked)) {
    for (State& each : states_) each.asked = each.asked && each.doubted && !all_doubted;
  }
  const auto rank = [&](const State& each) { return seeds_first && each.kind == Kind::seed ? -1 : int(each.kind); };
  std::vector<std::size_t> best;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (!may_be_asked(states_[i])) continue;
    if (!best.empty() && rank(states_[i]) > rank(states_[best.front()])) continue;
    if (!best.empty() && rank(states_[i]) < rank(states_[best.front()])) best.clear();
    best.push_back(i);
  }
  const std::size_t chosen = best[std::uniform_int_distribution<std::size_t>(0, best.size() - 1)(random_)];
  states_[chosen].asked = true;
  if (states_[chosen].kind == Kind::seed) misses_ = 0;
  return nodes_[chosen];
}

bool Rounds::over() const {
  return std::ranges::all_of(states_, [](const State& each) { return each.asked; });
}

void Rounds::begin_anew() {
  for (State& each : states_) each.asked = each.doubted = false;
}

Rounds::State* Rounds::find(const NodeAddress& node) {
  const auto found = indices_.find(node);
  return found == indices_.end() ? nullptr : &states_[found->second];
}

void Rounds::doubt(const NodeAddress& node) {
  if (State* const state = find(node)) state->doubted = true;
}

bool Rounds::doubted(const NodeAddress& node) const {
  const auto found = indices_.find(node);
  return found != indices_.end() && states_[found->second].doubted;
}

void Rounds::on_failure(const NodeAddress& node, const std::string& cause) {
  ++misses_;
  if (State* const state = find(node)) {
    state->doubted = true;
    state->cause = cause.substr(0, kLongestCause);
  }
}

std::string Rounds::problem() const {
  std::string out = "no node of the cluster knows its slots: ";
  std::size_t told = 0, others = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (states_[i].cause.empty()) continue;
    if (told == kMostTold) {
      ++others;
      continue;
    }
    out.append(told++ > 0 ? "; " : "").append(base::host_and_port(nodes_[i].host, nodes_[i].port));
    out.append(": ").append(states_[i].cause);
  }
  if (others > 0) out.append("; and ").append(std::to_string(others)).append(" more");
  return out;
}

}  // namespace holdfast::redis::cluster
