#include "redis/cluster/known_map.hpp"

#include <array>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "redis/cluster/redirect.hpp"

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

}  // namespace holdfast::redis::cluster
