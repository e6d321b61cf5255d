// Makes the router for the shape of servers in a configuration.
#pragma once

#include <memory>

#include <holdfast/config.hpp>

#include "redis/topology/router.hpp"
#include "timing/alarm.hpp"

namespace holdfast::redis {

/// Throws Error(tls).
std::unique_ptr<Router> make_router(timing::Schedule& schedule, const Config& config,
                                    std::shared_ptr<Listeners> listeners, ShardEvents events);

}  // namespace holdfast::redis
