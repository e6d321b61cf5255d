// What a server's error text, or a failed connection, means in our own terms.
#pragma once

#include <string_view>

#include <holdfast/error.hpp>

namespace holdfast::redis {

/// The meaning of an error reply. Finds the server's word also inside the wrapping that Redis 6 puts around script
/// errors.
Errc classify(std::string_view error_text);

/// True for states of the server that pass by themselves (loading, a busy script, a failover): worth trying again.
bool is_transient(std::string_view error_text);

}  // namespace holdfast::redis
