// SPDX-License-Identifier: Apache-2.0
// Where libFuzzer calls the one target of its program.
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  holdfast::fuzz::run(holdfast::fuzz::targets().front(), {reinterpret_cast<const char*>(data), size});
  return 0;
}
