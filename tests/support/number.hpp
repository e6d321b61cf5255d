// SPDX-License-Identifier: Apache-2.0
// Numbers that people type.
#pragma once

#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>

namespace holdfast::test {

/// All of the text, or std::invalid_argument with a reason.
template <class Number>
Number number_in(const std::string& text, Number least = 0, Number most = std::numeric_limits<Number>::max()) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole) throw std::invalid_argument("\"" + text + "\" is not a number that can be used here");
  if (!(number >= least && number <= most)) throw std::invalid_argument(text + " is out of range");
  return number;
}

}  // namespace holdfast::test
