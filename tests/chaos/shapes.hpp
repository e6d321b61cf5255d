// The shapes, and who takes part in each.
#pragma once

#include <vector>

#include "chaos/run.hpp"

namespace holdfast::test::chaos {

const std::vector<Shape>& shapes();

/// Why clients of other libraries are missing, in words.
std::vector<std::string> missing_peers();

}  // namespace holdfast::test::chaos
