// Remarks about command lines that are valid, but probably not what was meant.
#pragma once

#include <string>
#include <vector>

namespace holdfast::cli {

/// `-w 5 minutes`: the unit is where a name is expected, and would be a valid name.
/// `before`: the arguments before `--`.
std::vector<std::string> hints_about_units(const std::vector<std::string>& before,
                                           const std::vector<std::string>& names);

}  // namespace holdfast::cli
