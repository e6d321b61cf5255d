// Expands names that stand for several: `gpu:{0..7}`.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// Expands each range; keeps names without one. Throws UsageError for a range that is descending or too large.
std::vector<std::string> with_ranges(const std::vector<std::string>& names);

}  // namespace holdfast::cli
