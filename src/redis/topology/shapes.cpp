// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "base/location.hpp"
#include "redis/topology/cluster_servers.hpp"
#include "redis/topology/router.hpp"
#include "redis/topology/sentinels.hpp"

namespace holdfast::redis {

std::unique_ptr<Router> make_router(timing::Schedule& schedule, const Config& config,
                                    std::shared_ptr<Listeners> listeners, ServerEvents& events) {
  if (base::cluster_of(config)) {
    return std::make_unique<ClusterServers>(schedule, config, std::move(listeners), events);
  }
  if (!base::sentinels_of(config)) {
    return std::make_unique<OneServer>(schedule, config, std::move(listeners), events);
  }
  return std::make_unique<SentinelServers>(schedule, config, std::move(listeners), events);
}

}  // namespace holdfast::redis
