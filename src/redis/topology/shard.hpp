// One server as a client sees it: the way there, what is subscribed there, and which server it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/config.hpp>

#include "redis/connection/endpoint_source.hpp"
#include "redis/connection/lane.hpp"
#include "redis/connection/listeners.hpp"
#include "redis/connection/subscriptions.hpp"

namespace holdfast::redis {

class Shard;

/// What is heard of shards, and of which. Called on the loop, must not block.
struct ShardEvents {
  std::function<void(Shard&)> connected;
  std::function<void(Shard&, const std::string& cause)> disconnected;
  std::function<void(Shard&)> message;
  std::function<void(Shard&)> command;
  std::function<void(Shard&, std::size_t bytes)> to_be_flushed;
};

/// On the loop, unless it says otherwise.
class Shard {
 public:
  /// The events outlive it.
  Shard(const boost::asio::any_io_executor& executor, const Config& config, std::shared_ptr<EndpointSource> source,
        std::shared_ptr<Listeners> listeners, const ShardEvents& events);
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  void send(Request&& request, Lane::Handler&& handler) { lane_.send(std::move(request), std::move(handler)); }
  Lane& lane() { return lane_; }
  /// From any thread.
  const std::shared_ptr<Subscriptions>& subscriptions() const { return subscriptions_; }

  /// The same for two shards of the same server; 0: not known, since it was not asked, is not connected or does not
  /// tell. From any thread.
  std::uint64_t server() const { return server_.load(std::memory_order_relaxed); }
  /// Whoever has asked says what the server told; forgotten with the connection.
  void identify(std::uint64_t server) { server_.store(server, std::memory_order_relaxed); }

 private:
  LaneEvents lane_events();

  const ShardEvents& events_;
  const std::shared_ptr<Subscriptions> subscriptions_;
  std::atomic<std::uint64_t> server_{0};
  Lane lane_;
};

}  // namespace holdfast::redis
