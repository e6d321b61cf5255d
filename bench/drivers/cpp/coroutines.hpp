// SPDX-License-Identifier: Apache-2.0
// Callers that are coroutines of one thread: Holdfast's face for Boost.Asio, by clients on that thread's io_context.
#pragma once

#include <memory>

#include <holdfast/config.hpp>

#include "driver.hpp"

namespace bench {

/// With `Config::pipelined_release` a release is the end of the hold, which is not waited for; else async_release().
std::unique_ptr<Face> as_coroutines(const holdfast::Config& config, int clients);

}  // namespace bench
