// SPDX-License-Identifier: Apache-2.0
// Where this checkout and its build tree are. Only paths.cpp knows: a path compiled into every object would make a
// compiler cache miss in another clone.
#pragma once

#include <string>
#include <string_view>

namespace holdfast::test {

/// The full path of a file of the checkout, such as "docs/least-acl.acl".
std::string source_path(std::string_view below);

/// The full path of a file of the build tree, such as "bin/holdfast".
std::string build_path(std::string_view below);

/// The tool: that of the environment variable HOLDFAST_TOOL, built elsewhere or for another processor, or the build
/// tree's.
std::string tool_path();

}  // namespace holdfast::test
