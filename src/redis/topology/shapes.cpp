#include <utility>

#include "redis/topology/cluster_servers.hpp"
#include "redis/topology/router.hpp"
#include "redis/topology/sentinel_servers.hpp"

namespace holdfast::redis {

std::unique_ptr<Router> make_router(timing::Schedule& schedule, const Config& config,
                                    std::shared_ptr<Listeners> listeners, ShardEvents events) {
  if (!config.cluster.addresses.empty()) {
    return std::make_unique<ClusterServers>(schedule, config, std::move(listeners), std::move(events));
  }
  if (config.sentinel.addresses.empty()) {
    return std::make_unique<OneServer>(schedule, config, std::move(listeners), std::move(events));
  }
  return std::make_unique<SentinelServers>(schedule, config, std::move(listeners), std::move(events));
}

}  // namespace holdfast::redis
