// SPDX-License-Identifier: Apache-2.0
// Closes a client step by step, or releases all its holds at once.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "lock/client/core.hpp"

namespace holdfast::engine {

/// Ends the waits of this client and releases all its holds; each holder loses its hold. Returns how many of these
/// releases the server has not confirmed by `until`. Only for clients with their own loop; from any thread.
std::size_t give_back_all(Core& core, TimePoint until);
/// The same without waiting, on the loop. `done` is called there when all are answered, perhaps at once. The returned
/// counter says how many the server has not confirmed so far.
std::shared_ptr<const std::atomic<std::size_t>> give_back_all_async(Core& core,
                                                                    std::function<void(std::size_t unconfirmed)> done);

/// Releases holds as configured, ends waits, closes the connection. Does not block. `done` is called once, on the loop,
/// or at once if all that is done already. From any thread.
void start_close(const std::shared_ptr<Core>& core, std::function<void()> done);
/// The same, and waits until it is done. A guest only starts it.
void close_and_wait(const std::shared_ptr<Core>& core) noexcept;

}  // namespace holdfast::engine
