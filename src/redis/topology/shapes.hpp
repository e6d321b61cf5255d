// The shape of the servers that a configuration asks for.
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
