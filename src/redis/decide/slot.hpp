// SPDX-License-Identifier: Apache-2.0
// Which of a cluster's slots a key is in.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace holdfast::redis::cluster {

constexpr std::size_t kSlots = 16384;

/// As servers compute it: CRC16 (XMODEM) of the text between the first `{` and the next `}`, unless that is empty,
/// otherwise of the whole key.
std::uint16_t slot_of(std::string_view key);

/// Slots, by number.
using SlotSet = std::bitset<kSlots>;

}  // namespace holdfast::redis::cluster
