// The runs that this use of the tool is nested in: waiting for the lock of one of them would never end.
#pragma once

#include <string>
#include <vector>

#include <holdfast/lock_info.hpp>

namespace holdfast::cli {

/// The environment variable with the owners of the runs around a command, the innermost last.
inline constexpr const char* kOwners = "HOLDFAST_OWNERS";

/// The owners of the runs around this one.
std::vector<std::string> owners_around();

/// Throws UsageError if one of these locks is held by a run around this one.
void refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders);

}  // namespace holdfast::cli
