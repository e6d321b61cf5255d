// Whom to ask for a cluster's map, when, and whether to believe what they say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "redis/cluster/view.hpp"

namespace holdfast::redis::cluster {

/// Pure: times are inputs, chance is a seed. One question at a time, whoever wants to know. Behind an answer, and
/// behind each failure, comes a pause that grows with the number of nodes and with failures and doubts in a row, with
/// jitter, so that thousands of clients of hundreds of nodes do not storm them when one is gone. A view that covers
/// fewer slots than the map needs a second node that says the same. Not thread-safe.
class Survey {
 public:
  Survey(std::vector<NodeAddress> seeds, std::uint64_t chance);

  struct Step {
    std::optional<NodeAddress> ask{};  ///< Who is to be asked now: on_answer() or on_failure() is to follow.
    std::optional<View> adopt{};       ///< The map from now on.
    /// There is no map, and no node could be asked: why, for those who wait for the first one. They may wait on.
    std::string problem{};
    base::TimePoint due = base::TimePoint::max();  ///< When to call on_time().
  };

  /// The first question.
  Step start(base::TimePoint now);
  /// Something does not fit the map: a slot has moved, a node is away or has been demoted, a slot has nobody.
  /// `about`: who said so, or is away, and so is not asked first; empty: nobody in particular.
  Step on_doubt(base::TimePoint now, const std::optional<NodeAddress>& about);
  Step on_answer(base::TimePoint now, const NodeAddress& node, const View& view);
  Step on_failure(base::TimePoint now, const NodeAddress& node, const std::string& cause);
  Step on_time(base::TimePoint now);
  /// Somebody waits for the first map, and starts anew where no node could be asked.
  Step on_wanted(base::TimePoint now);

  /// Nodes that may be asked: of the map, primaries and replicas, and the seeds.
  const std::vector<NodeAddress>& nodes() const;
};

}  // namespace holdfast::redis::cluster
