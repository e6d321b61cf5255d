// A node of a cluster as a client sees it: its address, and the shard that it is as long as it is a primary.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <holdfast/config.hpp>

#include "redis/connection/endpoint_source.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::redis {

/// Always this address. Whether it is worth waiting for, the map says.
class NodeSource final : public EndpointSource {
 public:
  explicit NodeSource(const NodeAddress& address, const bool& serves)
      : address_{address.host, address.port, {}}, serves_(serves) {}

  void find(Found found) override { found(address_, {}); }
  void forget() override {}
  std::string missing() const override { return "address of the server"; }
  /// One that serves will come back, or the map will name another one.
  Prospect on_end(bool) override { return serves_ ? Prospect::changes : Prospect::same; }

 private:
  const ServerAddress address_;
  const bool& serves_;  // of the node, which outlives it
};

/// On the loop.
struct ClusterNode {
  ClusterNode(const boost::asio::any_io_executor& executor, const Config& config, NodeAddress its_address,
              std::shared_ptr<Listeners> listeners, const ShardEvents& events)
      : address(std::move(its_address)),
        shard(
            executor, config, [this] { return std::make_shared<NodeSource>(address, serves); }, std::move(listeners),
            events) {}

  const NodeAddress address;
  bool serves = false;  ///< It has slots.
  bool told = false;    ///< The owner has heard that it is connected.
  Shard shard;
};

/// Of no node: what is for a slot that nobody is known to serve waits at its gate.
class NowhereSource final : public EndpointSource {
 public:
  void find(Found) override {}
  void forget() override {}
  std::string missing() const override { return "primary that serves its slot"; }
  Prospect on_end(bool) override { return Prospect::changes; }
};

}  // namespace holdfast::redis
