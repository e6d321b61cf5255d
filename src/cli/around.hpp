// The runs around this use of the tool: whoever waits for one of them, as a part of it, waits for itself.
#pragma once

#include <string>
#include <vector>

#include <holdfast/lock_info.hpp>

namespace holdfast::cli {

/// The environment variable with the owners of the runs around a command, the innermost last.
inline constexpr const char* kOwners = "HOLDFAST_OWNERS";

/// The owners of the runs around this one.
std::vector<std::string> owners_around();

/// Throws UsageError if one of these is held by a run around this one.
void refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders);

}  // namespace holdfast::cli
