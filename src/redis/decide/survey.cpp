// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/survey.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "redis/decide/redirect.hpp"

namespace holdfast::redis::cluster {
namespace {

/// Identifies a node across all views.
using Number = std::uint32_t;
constexpr Number kNone = std::numeric_limits<Number>::max();

/// Who serves each slot.
using Owners = std::array<Number, kSlots>;

class Nodes {
 public:
  Number of(const NodeAddress& address) {
    const auto [found, added] = numbers_.try_emplace(address, static_cast<Number>(nodes_.size()));
    if (added) nodes_.push_back({found->first, {}, 0});
    return found->second;
  }
  /// Its data about a node replaces that of earlier views.
  void read(const View& view, Owners& owners) {
    std::vector<Number> translated;
    for (const Primary& primary : view.primaries) {
      translated.push_back(of(primary.address));
      nodes_[translated.back()] = primary;
    }
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const std::uint16_t index = view.served_by[slot];
      owners[slot] = index == View::kNobody ? kNone : translated[index];
    }
  }
  const std::vector<Primary>& all() const { return nodes_; }

 private:
  std::unordered_map<NodeAddress, Number, AddressHash> numbers_;
  std::vector<Primary> nodes_;
};

}  // namespace

/// Decides what one node's word changes in the known map.
class KnownMap::Decision {
 public:
  Decision(const KnownMap& known, const Word& word, const Doubted& doubted)
      : known_(known), word_(word), speaker_(nodes_.of(word.node)) {
    owners_.fill(kNone);
    if (known.view_) nodes_.read(*known.view_, owners_);
    for (const auto& [slot, correction] : known.corrections_) owners_[slot] = nodes_.of(correction.to);
    if (known.pending_ && known.pending_->node != word.node) {
      has_second_ = true;
      nodes_.read(known.pending_->view, second_);
    }
    nodes_.read(word.view, said_);
    for (const Primary& each : nodes_.all()) doubted_.push_back(doubted(each.address));
    for (std::size_t slot = 0; slot < kSlots; ++slot) decide(slot);
    for (const auto& [slot, correction] : known.corrections_) keep(slot, correction);
  }

  bool settled() const { return settled_; }
  bool changes(std::uint16_t slot) const { return believed_[slot] != owners_[slot]; }

  View made() const {
    View view;
    view.served_by.fill(View::kNobody);
    std::vector<std::uint16_t> places(nodes_.all().size(), View::kNobody);
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      const Number owner = believed_[slot];
      if (owner == kNone) continue;
      if (places[owner] == View::kNobody) {
        places[owner] = static_cast<std::uint16_t>(view.primaries.size());
        view.primaries.push_back(nodes_.all()[owner]);
      }
      view.served_by[slot] = places[owner];
      ++view.covered;
    }
    view.replicas = word_.view.replicas;
    if (!settled_ && known_.view_) add_known_replicas(view);
    return view;
  }

 private:
  void decide(std::size_t slot) {
    const Number said = said_[slot];
    Number& owner = believed_[slot] = owners_[slot];
    if (said == owner) return;
    const bool somebody = said != kNone;
    if (owner == kNone || (somebody && (owner == speaker_ || doubted_[owner])) ||
        (has_second_ && second_[slot] == said)) {
      owner = said;
    } else {
      settled_ = false;
    }
  }
  /// If MOVED has named a slot's owner, undoes the view's change to it where the view may be older.
  void keep(std::uint16_t slot, const Correction& correction) {
    const bool before = word_.asked_at <= correction.at;
    const bool late = word_.now < correction.at + kGossip && said_[slot] == nodes_.of(correction.from);
    if (!changes(slot) || !(before || late)) return;
    believed_[slot] = owners_[slot];
    settled_ = false;
  }
  void add_known_replicas(View& view) const {
    std::unordered_set<NodeAddress, AddressHash> told(view.replicas.begin(), view.replicas.end());
    for (const NodeAddress& each : known_.view_->replicas) {
      if (view.replicas.size() < View::kMostReplicas && told.insert(each).second) view.replicas.push_back(each);
    }
  }

  const KnownMap& known_;
  const Word& word_;
  Nodes nodes_;
  const Number speaker_;
  Owners owners_{}, said_{}, second_{}, believed_{};
  std::vector<bool> doubted_;
  bool has_second_ = false;
  bool settled_ = true;
};

void KnownMap::correct(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to) {
  corrections_.insert_or_assign(slot, Correction{from, to, now});
}

bool KnownMap::hear(const Word& word, const Doubted& doubted) {
  const auto decision = std::make_unique<Decision>(*this, word, doubted);
  auto believed = std::make_shared<const View>(decision->made());
  if (believed->covered > 0 || view_) view_ = std::move(believed);
  pending_ = decision->settled() ? nullptr : std::make_unique<const Pending>(Pending{word.node, word.view});
  std::erase_if(corrections_, [&](const auto& each) {
    return word.now >= each.second.at + kGossip || decision->changes(each.first);
  });
  return decision->settled();
}

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

namespace {

base::Duration times(base::Duration duration, double factor) {
  return std::chrono::duration_cast<base::Duration>(duration * factor);
}

}  // namespace

SurveyPace::SurveyPace(std::uint64_t chance) : random_(chance) {}

base::Duration SurveyPace::some_of(base::Duration longest, double least) {
  return times(longest, std::uniform_real_distribution<>(least, 1)(random_));
}

base::Duration SurveyPace::next_pause(base::TimePoint now) {
  constexpr int kEnough = 10;  // doublings that exceed every limit
  const base::Duration step = kFirst * (1 << std::min(std::max(step_ - 1, 0), kEnough));
  if (now - trouble_began_ >= kFresh) return some_of(std::min(times(step, factor_), kLongest), 0.5);
  return some_of(std::min(times(std::min(step, kLongestAtFirst), factor_), 2 * kLongestAtFirst), 0.5);
}

void SurveyPace::note_trouble(base::TimePoint now) {
  if (calm(now)) {
    trouble_began_ = now;
    step_ = 0;
  }
  last_trouble_ = now;
}

void SurveyPace::on_doubt(base::TimePoint now) {
  note_trouble(now);
  if (!refresh_) return;
  refresh_ = false;
  due_ = std::min(due_, std::max(now + some_of(times(kSpread, factor_), 0), last_end_ + pause_));
}

void SurveyPace::on_ended(base::TimePoint now, bool again) {
  if (again) note_trouble(now);
  if (!calm(now)) ++step_;
  last_end_ = now;
  pause_ = next_pause(now);
  due_ = now + (again ? pause_ : times(some_of(kRefresh, 1.0 / 3), 1.5));
  refresh_ = !again;
}

void SurveyPace::hurry(base::TimePoint now) { due_ = std::min(due_, std::max(now, last_end_ + some_of(kFirst, 0.5))); }

void SurveyPace::set_primaries(std::size_t number) {
  factor_ = std::sqrt(std::max(1.0, static_cast<double>(number) / 3));
}

Survey::Survey(const std::vector<NodeAddress>& seeds, std::uint64_t chance) : pace_(chance), rounds_(seeds, ~chance) {}

Survey::Step Survey::start(base::TimePoint now) { return ask(now); }

Survey::Step Survey::ask(base::TimePoint now) {
  if (pace_.calm(now)) rounds_.begin_anew();
  question_ = Question{rounds_.next(), now};
  doubt_ = false;
  pace_.on_asked();
  return {.ask = question_->to};
}

Survey::Step Survey::on_doubt(base::TimePoint now, const std::optional<NodeAddress>& about) {
  if (pace_.calm(now)) further_ = 0;
  if (pace_.calm(now) && !question_) rounds_.begin_anew();
  if (about) rounds_.doubt(*about);
  if (question_) {
    doubt_ = true;
    pace_.note_trouble(now);
  } else {
    pace_.on_doubt(now);
  }
  return {.due = pace_.due()};
}

void Survey::on_corrected(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to) {
  map_.correct(now, from, slot, to);
}

Survey::Step Survey::on_answer(base::TimePoint now, const NodeAddress& node, const View& view) {
  if (!is_answer_of(node)) return {.due = pace_.due()};
  const bool settled = map_.hear({now, question_->asked_at, node, view},
                                 [this](const NodeAddress& each) { return rounds_.doubted(each); });
  if (!map_.view()) return on_failure(now, node, "it knows of no slots that are served");
  question_.reset();
  rounds_.on_answer();
  rounds_.set_map(*map_.view());
  pace_.set_primaries(map_.view()->primaries.size());
  const bool complete = settled && map_.view()->covered == kSlots;
  if (complete) further_ = 0;
  const bool further = !complete && further_ < kFurther;
  if (further) ++further_;
  pace_.on_ended(now, doubt_ || further);
  return {.adopt = map_.view(), .due = pace_.due()};
}

Survey::Step Survey::on_failure(base::TimePoint now, const NodeAddress& node, const std::string& cause) {
  if (!is_answer_of(node)) return {.due = pace_.due()};
  question_.reset();
  rounds_.on_failure(node, cause);
  pace_.on_ended(now, true);
  Step step{.due = pace_.due()};
  if (!map_.view() && rounds_.over()) step.problem = rounds_.problem();
  return step;
}

Survey::Step Survey::on_time(base::TimePoint now) {
  if (question_ || now < pace_.due()) return {.due = pace_.due()};
  return ask(now);
}

Survey::Step Survey::on_wanted(base::TimePoint now) {
  if (map_.view()) return on_doubt(now, {});
  if (!question_) pace_.hurry(now);
  return {.due = pace_.due()};
}

}  // namespace holdfast::redis::cluster
