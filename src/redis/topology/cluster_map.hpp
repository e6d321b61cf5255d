// The nodes of a cluster that a client has heard of, and which of them serves which slot.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

#include "redis/cluster/view.hpp"
#include "redis/topology/cluster_node.hpp"
#include "redis/topology/slot_table.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// On the loop, but for what says otherwise. A node is made when it is first heard of. Its object stays as long as the
/// client, since its shard is referred to, also by other threads; it has a connection only while it is needed. When
/// there are too many, the one at rest that was not mentioned for longest becomes the next that is heard of.
class ClusterMap {
 public:
  /// So many nodes are remembered at most: what others tell of beyond that is not served, unless one can be forgotten.
  static constexpr std::size_t kMostNodes = 4096;
  /// What changes within this time is told together; or within so many times the time that it takes to tell, if that is
  /// longer: whoever is told looks through all holds.
  static constexpr std::chrono::milliseconds kTogether{20};
  static constexpr int kShare = 10;

  /// `moved`: these slots are served by another shard than before. The events outlive it.
  ClusterMap(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
             const ShardEvents& events, std::function<void(const cluster::SlotSet&)> moved);

  void start(const std::weak_ptr<void>& owner);

  /// Null: too many are known already, and all of them serve slots or are being asked.
  ClusterNode* node(const NodeAddress& address);
  ClusterNode* node_of(const Shard& shard);
  /// All that there are.
  template <class Function>
  void for_each_node(Function function) {
    for (const auto& [place, node] : nodes_) function(*node);
  }
  /// Those that serve a slot.
  std::span<Shard* const> serving() const { return serving_; }

  /// The shard of the slot; where none is known, one that waits for that. From any thread.
  Shard& shard_of(std::uint16_t slot) const {
    Shard* const shard = table_.at(slot);
    return shard != nullptr ? *shard : *nowhere_;
  }
  Shard& nowhere() const { return *nowhere_; }

  void adopt(const cluster::View& view);
  /// How releases are told on all nodes, those to come as well.
  void set_publish(Publish publish);
  /// One slot is served there now: MOVED says so.
  void correct(std::uint16_t slot, const NodeAddress& address);
  void cancel() { alarm_.cancel(); }

 private:
  ClusterNode* find_or_make(const NodeAddress& address);
  ClusterNode* forget_one_for(const NodeAddress& address);
  void set(std::uint16_t slot, ClusterNode* node);
  void find_serving();
  void tell_soon();
  void tell();

  timing::Schedule& schedule_;
  const Config config_;
  const std::shared_ptr<Listeners> listeners_;
  const ShardEvents& events_;
  const std::function<void(const cluster::SlotSet&)> moved_;
  std::weak_ptr<void> owner_;

  using Place = std::pair<std::string, std::uint16_t>;
  std::map<Place, std::unique_ptr<ClusterNode>> nodes_;
  std::map<const Shard*, ClusterNode*> by_shard_;
  std::uint64_t mentions_ = 0;
  const std::unique_ptr<Shard> nowhere_;
  SlotTable table_;
  std::vector<Shard*> serving_;
  Publish publish_ = Publish::publish;
  cluster::SlotSet known_;    // somebody has served them
  cluster::SlotSet changed_;  // and not told yet
  base::Duration pause_ = kTogether;
  timing::Alarm alarm_;
};

}  // namespace holdfast::redis
