// SPDX-License-Identifier: Apache-2.0
#include "support/least_acl.hpp"

#include <fstream>
#include <sstream>

#include "support/paths.hpp"

namespace holdfast::test {
namespace {

std::vector<std::string> lines() {
  std::ifstream file(source_path("docs/least-acl.acl"));
  std::vector<std::string> found;
  for (std::string line; std::getline(file, line);) found.push_back(line);
  return found;
}

/// Empty: it is an ordinary word.
std::string as_right(std::string word) {
  while (!word.empty() && std::string_view("`,.;:").find(word.back()) != std::string_view::npos) word.pop_back();
  const bool is_right = word.size() > 1 && std::string_view("+~&").find(word.front()) != std::string_view::npos;
  return is_right && word.find("…") == std::string::npos ? word : std::string();
}

}  // namespace

std::vector<std::string> least_rights(const std::string& password) {
  std::vector<std::string> rights;
  for (const std::string& line : lines()) {
    std::istringstream words(line);
    std::string word;
    if (!(words >> word) || word != "user") continue;
    words >> word;
    while (words >> word) rights.push_back(word.starts_with('>') ? ">" + password : word);
  }
  return rights;
}

std::vector<std::string> rights_named_for(std::string_view kind) {
  const std::string begin = "# " + std::string(kind) + " needs ";
  std::vector<std::string> rights;
  bool inside = false;
  for (const std::string& line : lines()) {
    inside = (inside && line.size() > 1) || line.starts_with(begin);
    if (!inside) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (std::string right = as_right(std::move(word)); !right.empty()) rights.push_back(std::move(right));
    }
  }
  return rights;
}

}  // namespace holdfast::test
