#include "redis/topology/shard.hpp"

#include <utility>

namespace holdfast::redis {

Shard::Shard(const boost::asio::any_io_executor& executor, const Config& config, std::shared_ptr<EndpointSource> source,
             std::shared_ptr<Listeners> listeners, const ShardEvents& events)
    : events_(events),
      subscriptions_(std::make_shared<Subscriptions>(std::move(listeners))),
      lane_(executor, config, std::move(source), *subscriptions_, lane_events()) {}

LaneEvents Shard::lane_events() {
  return {.connected = [this] { events_.connected(*this); },
          .disconnected =
              [this](const std::string& cause) {
                identify(0);
                events_.disconnected(*this, cause);
              },
          .message = [this] { events_.message(*this); },
          .command = [this] { events_.command(*this); },
          .to_be_flushed = [this](std::size_t bytes) { events_.to_be_flushed(*this, bytes); }};
}

}  // namespace holdfast::redis
