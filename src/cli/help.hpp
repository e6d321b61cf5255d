// The texts of `--help`.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace holdfast::cli {

constexpr std::array<std::string_view, 12> kVerbs{"run",     "elect", "acquire", "renew",  "release",  "ls",
                                                  "inspect", "wait",  "break",   "doctor", "exporter", "top"};

/// For a verb; for the whole tool if it is empty.
std::string help_of(std::string_view verb);

}  // namespace holdfast::cli
