// SPDX-License-Identifier: Apache-2.0
// One line of CLUSTER NODES.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace holdfast::test {

struct ClusterNode {
  std::string id;
  std::string primary_id;  ///< Whom it follows; empty: a primary.
  long long epoch = 0;
  bool myself = false, primary = false, replica = false;
  bool doubtful = false;                   ///< Suspected, failed, not known well enough, or not connected.
  std::vector<std::pair<int, int>> slots;  ///< First and last; none that is under way.

  bool serves(int slot) const {
    return std::ranges::any_of(slots, [&](const auto& each) { return each.first <= slot && slot <= each.second; });
  }
};

/// Throws std::runtime_error if it is no such text.
std::vector<ClusterNode> read_cluster_nodes(std::string_view text);

}  // namespace holdfast::test
