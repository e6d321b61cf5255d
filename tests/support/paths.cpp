// SPDX-License-Identifier: Apache-2.0
#include "support/paths.hpp"

#include <cstdlib>

namespace holdfast::test {

std::string source_path(std::string_view below) { return HOLDFAST_SOURCE_DIR "/" + std::string(below); }
std::string build_path(std::string_view below) { return HOLDFAST_BINARY_DIR "/" + std::string(below); }

std::string tool_path() {
  const char* const elsewhere = std::getenv("HOLDFAST_TOOL");
  return elsewhere == nullptr ? build_path("bin/holdfast") : elsewhere;
}

}  // namespace holdfast::test
