// Where the server behind `local:` comes from: the library knows nobody who starts one until it is told.
#pragma once

#include <string>

#include <holdfast/export.hpp>

namespace holdfast {

namespace detail {

/// Makes sure that the server runs, and returns its socket's path. Throws Error.
using LocalServer = std::string (*)();
/// From now on `local:` is served by this function; null: by nobody, as in the beginning. For holdfast::testing, which
/// is of the same release; users call enable_local_urls(). From any thread.
HOLDFAST_EXPORT void set_local_server(LocalServer start) noexcept;

}  // namespace detail

namespace redis {

/// The socket of the server behind `local:`. Throws Error(invalid_argument) if nobody serves it, and what starting
/// throws.
std::string local_server();

}  // namespace redis
}  // namespace holdfast
