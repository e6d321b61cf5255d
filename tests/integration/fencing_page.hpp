// SPDX-License-Identifier: Apache-2.0
// What docs/fencing.md shows.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "support/paths.hpp"

namespace holdfast::test {

/// The n-th block of this language.
inline std::string block_of_fencing_page(const std::string& language, int nth = 0) {
  std::ifstream file(source_path("docs/fencing.md"));
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string head = "```" + language + "\n";
  std::size_t begin = page.find(head);
  for (; nth > 0; --nth) begin = page.find(head, begin + 1);
  begin += head.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

}  // namespace holdfast::test
