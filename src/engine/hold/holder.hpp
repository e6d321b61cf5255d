// From an owner and the server's list of connections to who that is.
#pragma once

#include <string_view>

#include <holdfast/lock_info.hpp>

#include "wire/connection_name.hpp"

namespace holdfast::engine {

/// Without connections (null): the server does not tell.
Holder holder_of(std::string_view owner, const wire::Connections* connections);

}  // namespace holdfast::engine
