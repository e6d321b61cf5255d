// SPDX-License-Identifier: Apache-2.0
// The cluster nodes that a client knows, and which of them serves which slot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <holdfast/config.hpp>

#include "loop/alarm.hpp"
#include "redis/connection/endpoint_source.hpp"
#include "redis/decide/slot.hpp"
#include "redis/decide/view.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::redis {

/// Which shard serves which slot, for all threads. Its shards outlive it. Written on the loop, read from any thread,
/// without a mutex: 128 KiB for each client of a cluster.
class SlotTable {
 public:
  /// Null: unknown.
  Shard* at(std::uint16_t slot) const { return shards_.at(slot).load(std::memory_order_acquire); }
  /// True: changed.
  bool set(std::uint16_t slot, Shard* shard) {
    return shards_.at(slot).exchange(shard, std::memory_order_acq_rel) != shard;
  }

 private:
  std::array<std::atomic<Shard*>, cluster::kSlots> shards_{};
};

/// A cluster node as a client sees it: its address, and its shard while it is a primary. Always the address of this
/// node.
class NodeSource final : public EndpointSource {
 public:
  NodeSource(const NodeAddress& address, const bool& awaited) : address_(address), awaited_(awaited) {}

  void find(Found found) override { found(ServerAddress{address_.host, address_.port, {}}, {}); }
  void forget() override {}
  std::string missing() const override { return "address of the server"; }
  Prospect on_end(bool) override { return awaited_ ? Prospect::changes : Prospect::same; }

 private:
  // The node outlives this.
  const NodeAddress& address_;
  const bool& awaited_;
};

/// On the loop.
struct ClusterNode {
  ClusterNode(timing::Schedule& schedule, const Config& config, NodeAddress its_address,
              std::shared_ptr<Listeners> listeners, ServerEvents& events)
      : address(std::move(its_address)),
        shard(
            schedule, config, [this] { return std::make_shared<NodeSource>(address, awaited); }, std::move(listeners),
            events) {}

  /// Reuses this object for another node. Only at rest.
  void become(NodeAddress other) {
    address = std::move(other);
    told = false;
    shard.begin_anew();
  }

  NodeAddress address;
  bool serves = false;      ///< It has slots.
  std::uint64_t named = 0;  ///< When it was mentioned last: see ClusterMap.
  /// Requests at its gate may keep waiting: it serves slots and will come back; or the map will name another node, or
  /// has just done so, and they are about to be sent there.
  bool awaited = false;
  bool told = false;  ///< The owner was notified that it is connected.
  Shard shard;
};

/// The source of a shard without a node: requests for slots without a known owner wait at its gate.
class NowhereSource final : public EndpointSource {
 public:
  void find(Found) override {}
  void forget() override {}
  std::string missing() const override { return "primary that serves its slot"; }
  Prospect on_end(bool) override { return Prospect::changes; }
};

/// Use on the loop, unless stated otherwise. A node is made when it is first mentioned. Its object lives as long as the
/// client, since other threads may refer to its shard; it has a connection only while needed. When there are too many,
/// the idle node that was mentioned least recently is reused for the next new one.
class ClusterMap {
 public:
  /// The most nodes that are remembered: further ones are not used, unless one can be forgotten.
  static constexpr std::size_t kMostNodes = 4096;
  /// Changes within this time are reported together; or within kShare times the duration of a report, if that is
  /// longer, since each report makes its receiver go through all holds.
  static constexpr std::chrono::milliseconds kTogether{20};
  static constexpr int kShare = 10;

  ClusterMap(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
             ServerEvents& events);

  void start(const std::weak_ptr<void>& owner);

  /// Null: too many are known already, and all of them are in use.
  ClusterNode* node(const NodeAddress& address);
  ClusterNode* node_of(const Shard& shard);
  /// Calls the function for all nodes.
  template <class Function>
  void for_each_node(Function function) {
    for (const auto& [key, node] : nodes_) function(*node);
  }
  /// The shards that serve a slot.
  std::span<Shard* const> serving() const { return serving_; }

  /// The slot's shard; if unknown, one where requests wait until it is known. From any thread.
  Shard& shard_of(std::uint16_t slot) const {
    Shard* const shard = table_.at(slot);
    return shard != nullptr ? *shard : *nowhere_;
  }
  Shard& nowhere() const { return *nowhere_; }

  void adopt(const cluster::View& view);
  /// How releases are published on all nodes, including later ones.
  void set_publish(Publish publish);
  /// MOVED says that one slot is now served there.
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
  ServerEvents& events_;
  std::weak_ptr<void> owner_;

  using Key = std::pair<std::string, std::uint16_t>;
  std::map<Key, std::unique_ptr<ClusterNode>> nodes_;
  std::map<const Shard*, ClusterNode*> by_shard_;
  std::uint64_t mentions_ = 0;
  const std::unique_ptr<Shard> nowhere_;
  SlotTable table_;
  std::vector<Shard*> serving_;
  Publish publish_ = Publish::publish;
  cluster::SlotSet known_;    // these have had an owner
  cluster::SlotSet changed_;  // and not reported yet
  base::Duration pause_ = kTogether;
  timing::Alarm alarm_;
};

}  // namespace holdfast::redis
