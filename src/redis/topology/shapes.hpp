// The shape of the servers that a configuration asks for.
#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include <holdfast/config.hpp>

#include "redis/topology/router.hpp"

namespace holdfast::redis {

/// Throws Error(tls).
std::unique_ptr<Router> make_router(const boost::asio::any_io_executor& executor, const Config& config,
                                    std::shared_ptr<Listeners> listeners, ShardEvents events);

}  // namespace holdfast::redis
