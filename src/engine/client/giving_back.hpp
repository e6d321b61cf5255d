// Releases all holds of a client at once, for a caller that waits for that.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "engine/client/core.hpp"

namespace holdfast::engine {

/// Ends the waits of this client and releases all its holds; each holder loses its hold. Returns how many of these
/// releases the server has not confirmed by `until`. Only for clients with their own loop; from any thread.
std::size_t give_back_all(Core& core, TimePoint until);
/// The same without waiting, on the loop. `done` is called there when all are answered, perhaps at once. The returned
/// counter says how many the server has not confirmed so far.
std::shared_ptr<const std::atomic<std::size_t>> give_back_all_async(Core& core,
                                                                    std::function<void(std::size_t unconfirmed)> done);

}  // namespace holdfast::engine
