// All holds of a client, given back at once for a caller who waits for that.
#pragma once

#include <cstddef>

#include "engine/client/core.hpp"

namespace holdfast::engine {

/// Ends the waits of this client and gives back all its holds, each of which is lost to its holder. Returns how many of
/// these releases the server has not confirmed by `until`. On a client's own loop only; from any thread.
std::size_t give_back_all(Core& core, TimePoint until);

}  // namespace holdfast::engine
