// The map of a cluster as it is believed, and what it takes to change it. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "redis/cluster/view.hpp"

namespace holdfast::redis::cluster {

/// Views carry no time and no number: nobody can see which of two is the newer one, and one node may be wrong. So each
/// slot is decided for itself. What a view says of it counts at once
/// - if the slot had nobody,
/// - if whoever serves it says so itself that another does, or is in doubt (away, or a replica now),
/// and otherwise when a second node says the same. That a slot has nobody always takes two: a node that is being failed
/// over may know none but itself. A MOVED counts at once, more than any view that was asked for earlier, and for
/// kGossip more than those that still name the node that has said MOVED.
class KnownMap {
 public:
  /// How long it may take until all nodes have heard of a change.
  static constexpr base::Duration kGossip = std::chrono::seconds(10);

  /// `from` has said that `to` serves the slot.
  void correct(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to);

  struct Word {
    base::TimePoint now;
    base::TimePoint asked_at;
    const NodeAddress& node;  ///< Who says it.
    const View& view;
  };
  /// Says whether a node is in doubt.
  using Doubted = std::function<bool(const NodeAddress&)>;
  /// False: at least one slot waits for a second node's word.
  bool hear(const Word& word, const Doubted& doubted);

  /// Null: nobody has told any yet.
  const std::shared_ptr<const View>& view() const { return view_; }

 private:
  struct Correction {
    NodeAddress from, to;
    base::TimePoint at;
  };
  struct Pending {
    NodeAddress node;
    View view;
  };
  class Decision;

  std::shared_ptr<const View> view_;
  std::map<std::uint16_t, Correction> corrections_;  // that views may not know yet; of each slot the last
  std::unique_ptr<const Pending> pending_;           // the last word that was not believed as a whole
};

}  // namespace holdfast::redis::cluster
