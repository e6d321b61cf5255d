// The texts of `--help`.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::cli {

/// Of a verb; of the whole tool for an empty one.
std::string help_of(std::string_view verb);

}  // namespace holdfast::cli
