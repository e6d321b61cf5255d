// What is asked of a server, or of a key of whatever kind.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/resp.hpp"

namespace holdfast::wire {

base::Command server_info();  ///< INFO
/// What no other run of a server has; empty if it does not tell.
std::string decode_run_id(const base::Reply& reply);

base::Command remaining(std::string_view key);  ///< PTTL
/// Empty: the key is absent or has no expiry.
std::optional<std::chrono::milliseconds> time_left(const base::Reply& pttl);

/// Hashes whose names match, some for each call.
base::Command scan(std::string_view cursor, std::string_view pattern, std::size_t count);

}  // namespace holdfast::wire
