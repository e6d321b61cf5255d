// A client's current map of a cluster, and what it takes to change it. Pure.
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

/// Views have no time and no number, so it is unknown which of two is newer, and one node may be wrong. So each slot is
/// decided separately. A view's owner for a slot is accepted at once
/// - if the slot had no owner,
/// - if the present owner itself says so, or is in doubt (away, or a replica now),
/// and otherwise when a second node says the same. Leaving a slot without an owner always takes two: a node that is
/// being failed over may know only itself. A MOVED is accepted at once. It outweighs any view requested earlier, and
/// for kGossip also any view that still names the node that sent the MOVED.
class KnownMap {
 public:
  /// How long it may take until all nodes have heard of a change.
  static constexpr base::Duration kGossip = std::chrono::seconds(10);

  /// `from` has replied that `to` serves the slot.
  void correct(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to);

  struct Word {
    base::TimePoint now;
    base::TimePoint asked_at;
    const NodeAddress& node;  ///< The node that says it.
    const View& view;
  };
  /// Returns whether a node is in doubt.
  using Doubted = std::function<bool(const NodeAddress&)>;
  /// False: at least one slot waits for a second node's word.
  bool hear(const Word& word, const Doubted& doubted);

  /// Null: none received yet.
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
  std::map<std::uint16_t, Correction> corrections_;  // that views may not contain yet; the last for each slot
  std::unique_ptr<const Pending> pending_;           // the last word that was not fully accepted
};

}  // namespace holdfast::redis::cluster
