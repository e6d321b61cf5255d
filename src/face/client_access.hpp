// Access to a client's internals, for client_on() and for the libraries with connections of their own.
#pragma once

#include <memory>
#include <utility>

#include <holdfast/client.hpp>

#include "engine/client/core.hpp"

namespace holdfast::detail {

struct ClientAccess {
  static Client make(std::shared_ptr<engine::Core> core) noexcept { return Client(std::move(core)); }
  static engine::Core& core(const Client& client) { return *client.core(); }
};

}  // namespace holdfast::detail
