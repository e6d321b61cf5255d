// "Did you mean": the known word that a mistyped one is closest to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace holdfast::cli {

/// ` (did you mean WORD?)` for the known word that becomes this one by one slip (a missing, added, wrong or swapped
/// character), or by two if it is longer than four characters; empty: none, several equally near ones, or a
/// word of two characters, which may mean anything. Pure.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace holdfast::cli
