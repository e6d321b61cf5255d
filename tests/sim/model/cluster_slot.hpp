// SPDX-License-Identifier: Apache-2.0
// Which slot a key lies in, written once more.
#pragma once

#include <cstdint>
#include <string_view>

namespace holdfast::test {

constexpr std::size_t kModelSlots = 16384;

inline std::uint16_t model_slot_of(std::string_view key) {
  if (const std::size_t open = key.find('{'); open != key.npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != key.npos && close > open + 1) key = key.substr(open + 1, close - open - 1);
  }
  std::uint32_t crc = 0;  // CRC16, XMODEM
  for (const char c : key) {
    crc ^= static_cast<std::uint32_t>(static_cast<unsigned char>(c)) << 8U;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? (crc << 1U) ^ 0x1021U : crc << 1U;
    crc &= 0xFFFFU;
  }
  return static_cast<std::uint16_t>(crc % kModelSlots);
}

}  // namespace holdfast::test
