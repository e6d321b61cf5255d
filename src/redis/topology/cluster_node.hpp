// A cluster node as a client sees it: its address, and its shard while it is a primary.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <holdfast/config.hpp>

#include "redis/connection/endpoint_source.hpp"
#include "redis/topology/shard.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Always the address of this node.
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
              std::shared_ptr<Listeners> listeners, const ShardEvents& events)
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

}  // namespace holdfast::redis
