// SPDX-License-Identifier: Apache-2.0
// The shapes, and who takes part in each.
#pragma once

#include <string>
#include <vector>

#include "chaos/run.hpp"

namespace holdfast::test::chaos {

const std::vector<Shape>& shapes();

/// A taker on this library's package for Python, and why it cannot run; empty if it can.
std::string python_program();
std::string why_no_python();

/// Why clients of other libraries, or in Python, are missing, in words.
std::vector<std::string> missing_peers();

}  // namespace holdfast::test::chaos
