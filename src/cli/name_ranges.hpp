// Expands names that stand for several: `gpu:{0..7}`.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// Expands each range, also several in one name; keeps names without one. Throws UsageError for braces with two dots in
/// them that are no range, and for more than 10,000 names.
std::vector<std::string> with_ranges(const std::vector<std::string>& names);

}  // namespace holdfast::cli
