// The way to a client's inside, for what makes clients in other ways and what asks on connections of its own.
#pragma once

#include <memory>
#include <utility>

#include <holdfast/client.hpp>

#include "engine/client/core.hpp"

namespace holdfast::detail {

struct ClientAccess {
  static Client make(std::shared_ptr<engine::Core> core) noexcept { return Client(std::move(core)); }
  static engine::Core& core(const Client& client) noexcept { return *client.core_; }
};

}  // namespace holdfast::detail
