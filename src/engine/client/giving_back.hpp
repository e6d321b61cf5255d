// All holds of a client, given back at once for a caller who waits for that.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "engine/client/core.hpp"

namespace holdfast::engine {

/// Ends the waits of this client and gives back all its holds, each of which is lost to its holder. Returns how many of
/// these releases the server has not confirmed by `until`. On a client's own loop only; from any thread.
std::size_t give_back_all(Core& core, TimePoint until);
/// The same without waiting, on the loop. `done` is called there when all has been answered, perhaps at once. What is
/// returned says how many the server has not confirmed so far.
std::shared_ptr<const std::atomic<std::size_t>> give_back_all_async(Core& core,
                                                                    std::function<void(std::size_t unconfirmed)> done);

}  // namespace holdfast::engine
