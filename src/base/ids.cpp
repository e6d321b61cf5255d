// SPDX-License-Identifier: Apache-2.0
#include "base/ids.hpp"

#include "base/entropy.hpp"

namespace holdfast::base {

std::string make_uuid(unsigned version) {
  const char* digits = "0123456789abcdef";
  std::string out;
  out.reserve(36);
  for (int i = 0; i < 16; ++i) {
    unsigned byte = entropy() & 0xffU;
    if (i == 6) byte = (byte & 0x0fU) | (version << 4U);
    if (i == 8) byte = (byte & 0x3fU) | 0x80U;  // variant 1
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += digits[byte >> 4U];
    out += digits[byte & 0xfU];
  }
  return out;
}

}  // namespace holdfast::base
