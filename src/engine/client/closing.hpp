// Closes a client step by step.
#pragma once

#include <functional>
#include <memory>

#include "engine/client/core.hpp"

namespace holdfast::engine {

/// Releases holds as configured, ends waits, closes the connection. Does not block. `done` is called once, on the loop,
/// or at once if all that is done already. From any thread.
void start_close(const std::shared_ptr<Core>& core, std::function<void()> done);
/// The same, and waits until it is done. A guest only starts it.
void close_and_wait(const std::shared_ptr<Core>& core) noexcept;

}  // namespace holdfast::engine
