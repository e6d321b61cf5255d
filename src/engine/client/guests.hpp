// Clients on the caller's io_context, which end when that is destroyed, if not before.
#pragma once

#include <memory>

#include "engine/client/core.hpp"

namespace holdfast::engine {

/// When the io_context is destroyed while the client is open, its operations are dropped, as Asio drops its own:
/// handlers are destroyed and never called.
std::shared_ptr<Core> make_guest(Config config, boost::asio::io_context& host);

}  // namespace holdfast::engine
