#include <utility>

#include "redis/topology/cluster_servers.hpp"
#include "redis/topology/router.hpp"
#include "redis/topology/sentinels.hpp"

namespace holdfast::redis {

std::unique_ptr<Router> make_router(timing::Schedule& schedule, const Config& config,
                                    std::shared_ptr<Listeners> listeners, ServerEvents& events) {
  if (!config.cluster.addresses.empty()) {
    return std::make_unique<ClusterServers>(schedule, config, std::move(listeners), events);
  }
  if (config.sentinel.addresses.empty()) {
    return std::make_unique<OneServer>(schedule, config, std::move(listeners), events);
  }
  return std::make_unique<SentinelServers>(schedule, config, std::move(listeners), events);
}

}  // namespace holdfast::redis
