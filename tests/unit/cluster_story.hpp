// SPDX-License-Identifier: Apache-2.0
// Views of a cluster in a line of text, and what is believed of them, for tests of its map.
#pragma once

#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "redis/decide/view.hpp"

namespace holdfast::redis::cluster {

/// The moment 0 of every story; not the clock's zero, so that a forgotten time shows.
constexpr base::TimePoint kStart{std::chrono::hours(1000)};
constexpr base::TimePoint at(base::Duration since_start) { return kStart + since_start; }

/// A node is a letter; its host is this letter.
inline NodeAddress node(char letter) { return {std::string(1, letter), 7000}; }

/// `aabb..`: each letter serves as many slots as stand for one here, a point means nobody; each primary is followed by
/// a replica of the same letter, as a capital.
inline View view(const std::string& owners) {
  View out;
  out.served_by.fill(View::kNobody);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    const char owner = owners[slot * owners.size() / kSlots];
    if (owner == '.') continue;
    std::size_t index = 0;
    while (index < out.primaries.size() && out.primaries[index].address != node(owner)) ++index;
    if (index == out.primaries.size()) {
      out.primaries.push_back({node(owner), {}, 1});
      out.replicas.push_back(node(static_cast<char>(owner - 'a' + 'A')));
    }
    out.served_by[slot] = static_cast<std::uint16_t>(index);
    ++out.covered;
  }
  return out;
}

/// The first slot of each of `parts` equal parts, in letters.
inline std::string letters(const View* view, std::size_t parts) {
  if (view == nullptr) return "none";
  std::string out;
  for (std::size_t part = 0; part < parts; ++part) {
    const Primary* const owner = view->primary_of(static_cast<std::uint16_t>((part * kSlots + parts - 1) / parts));
    out += owner == nullptr ? "." : owner->address.host;
  }
  return out;
}

}  // namespace holdfast::redis::cluster
