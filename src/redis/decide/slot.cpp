// SPDX-License-Identifier: Apache-2.0
#include "redis/decide/slot.hpp"

#include <array>

namespace holdfast::redis::cluster {
namespace {

/// The remainders of CRC16/XMODEM (polynomial 0x1021, most significant bit first, from zero) for one byte.
constexpr std::array<std::uint16_t, 256> remainders() {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto remainder = static_cast<unsigned>(byte) << 8U;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder & 0x8000U) != 0 ? (remainder << 1U) ^ 0x1021U : remainder << 1U;
    }
    table[byte] = static_cast<std::uint16_t>(remainder);
  }
  return table;
}
constexpr std::array<std::uint16_t, 256> kRemainders = remainders();

constexpr std::uint16_t crc16(std::string_view bytes) {
  unsigned crc = 0;
  for (const char each : bytes) {
    crc = (crc << 8U) ^ kRemainders[((crc >> 8U) ^ static_cast<unsigned char>(each)) & 0xFFU];
  }
  return static_cast<std::uint16_t>(crc);
}
static_assert(crc16("123456789") == 0x31C3);

std::string_view hashed_part(std::string_view key) {
  const std::size_t open = key.find('{');
  if (open == key.npos) return key;
  const std::size_t close = key.find('}', open + 1);
  if (close == key.npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

}  // namespace

std::uint16_t slot_of(std::string_view key) { return crc16(hashed_part(key)) % kSlots; }

}  // namespace holdfast::redis::cluster
