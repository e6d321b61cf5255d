#include "support/paths.hpp"

namespace holdfast::test {

std::string source_path(std::string_view below) { return HOLDFAST_SOURCE_DIR "/" + std::string(below); }
std::string build_path(std::string_view below) { return HOLDFAST_BINARY_DIR "/" + std::string(below); }

}  // namespace holdfast::test
