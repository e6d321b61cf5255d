// SPDX-License-Identifier: Apache-2.0
// One node's view of which node serves which slot.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/resp.hpp"
#include "redis/decide/slot.hpp"

namespace holdfast::redis::cluster {

struct Primary {
  NodeAddress address;
  std::string id;    ///< The node's, 40 hex digits; empty: not given.
  int replicas = 0;  ///< How many it has, as far as this node knows.
};

/// The answer to CLUSTER SLOTS. However long that is, a view has no more primaries than slots and no more replicas than
/// kMostReplicas, and no address is longer than base::kLongestHost.
struct View {
  static constexpr std::uint16_t kNobody = 0xFFFF;
  static constexpr std::size_t kMostReplicas = kSlots;

  std::vector<Primary> primaries;                 ///< Those that serve a slot, each once.
  std::vector<NodeAddress> replicas;              ///< Their replicas, each once.
  std::array<std::uint16_t, kSlots> served_by{};  ///< An index of `primaries`, or kNobody.
  std::size_t covered = 0;                        ///< How many slots have an owner.

  /// Null: none.
  const Primary* primary_of(std::uint16_t slot) const {
    return served_by.at(slot) == kNobody ? nullptr : &primaries[served_by[slot]];
  }
};

/// Empty: an error or invalid, for example if two ranges share a slot. `asked` is the node that answered: its host is
/// used where an endpoint is null or empty. A node that cannot be connected to (endpoint `?`, port 0) is left out with
/// its slots. Metadata are not needed, and may be an array, a map or missing. A view without slots is valid: its node
/// has not met its cluster yet.
std::optional<View> read_view(const base::Reply& reply, const NodeAddress& asked);

}  // namespace holdfast::redis::cluster
