// Names that stand for many: `gpu:{0..7}`.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// With each range written out; a name without one stays. Throws UsageError for one that goes down, or is too large.
std::vector<std::string> with_ranges(const std::vector<std::string>& names);

}  // namespace holdfast::cli
