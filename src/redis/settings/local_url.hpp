// SPDX-License-Identifier: Apache-2.0
// Where the server behind `local:` comes from: nothing starts one until a function is registered.
#pragma once

#include <string>

#include <holdfast/export.hpp>

namespace holdfast {

namespace detail {

/// Makes sure that the server runs, and returns its socket's path. Throws Error.
using LocalServer = std::string (*)();
/// Registers the function that serves `local:`; null: none, as at the start. For holdfast::testing of the same release;
/// users call enable_local_urls(). From any thread.
HOLDFAST_EXPORT void set_local_server(LocalServer start) noexcept;

}  // namespace detail

namespace redis {

/// The socket of the server behind `local:`. Throws Error(invalid_argument) if no function is registered, and what that
/// function throws.
std::string local_server();

}  // namespace redis
}  // namespace holdfast
