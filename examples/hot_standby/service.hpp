// SPDX-License-Identifier: Apache-2.0
// A service of which one instance is active, and the others are ready to take its place.
#pragma once

#include <chrono>
#include <string>

namespace hot_standby {

inline constexpr std::chrono::milliseconds kLease{2000};  // after a crash another instance is active this late, at most

/// Stands by until it leads, is active as long as it does, and so on until SIGINT or SIGTERM. Prints a line each:
/// `active TOKEN`, `idle`.
void serve(const std::string& url);

}  // namespace hot_standby
