// SPDX-License-Identifier: Apache-2.0
// Reports an old language standard in one line, where everything below would fail. Not for users.
#pragma once

#if __cplusplus < 202002L
#error "Holdfast needs C++20: compile with -std=c++20, or a later standard"
#include <holdfast/detail/needs_cxx20.hpp>  // there is no such file, which ends the compilation here
#endif
