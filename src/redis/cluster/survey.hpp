// Which node to ask for a cluster's map, when, and whether to trust its answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "base/clock.hpp"
#include "redis/cluster/known_map.hpp"
#include "redis/cluster/rounds.hpp"
#include "redis/cluster/survey_pace.hpp"
#include "redis/cluster/view.hpp"

namespace holdfast::redis::cluster {

/// Pure: times are inputs, randomness comes from a seed. One question at a time, however many requests wait, with
/// pauses in between (SurveyPace), so that thousands of clients do not flood hundreds of nodes when one is gone. Each
/// question of a round goes to another node (Rounds), and its answer changes the map as far as it is trusted
/// (KnownMap). While a second node's word is needed, or a slot has no owner, kFurther questions follow by themselves.
/// Not thread-safe.
class Survey {
 public:
  static constexpr int kFurther = 8;

  Survey(const std::vector<NodeAddress>& seeds, std::uint64_t chance);

  struct Step {
    std::optional<NodeAddress> ask{};             ///< Ask this node now; on_answer() or on_failure() must follow.
    std::shared_ptr<const View> adopt = nullptr;  ///< The new map.
    /// There is no map, and no node could be asked: the reason, for callers waiting for the first map. They may keep
    /// waiting.
    std::string problem{};
    base::TimePoint due = base::TimePoint::max();  ///< When to call on_time(); replaces the previous time.
  };

  /// The first question.
  Step start(base::TimePoint now);
  /// Something contradicts the map: a node is away or has been demoted, a slot has moved, or has no owner.
  /// `about`: the node that said so, or is away. It is not asked first, and another owner of its slots is accepted from
  /// a single node; empty: no particular node.
  Step on_doubt(base::TimePoint now, const std::optional<NodeAddress>& about);
  /// `from` has replied with MOVED that `to` serves the slot; views do not undo that until they can be newer. Must be
  /// followed by a doubt.
  void on_corrected(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to);
  /// Only an answer to the last question is used.
  Step on_answer(base::TimePoint now, const NodeAddress& node, const View& view);
  Step on_failure(base::TimePoint now, const NodeAddress& node, const std::string& cause);
  Step on_time(base::TimePoint now);
  /// A request waits for a slot without owner; without a map, this shortens the pause after a round of failures.
  Step on_wanted(base::TimePoint now);

  /// Nodes that may be asked: the map's primaries and replicas, and the seeds.
  const std::vector<NodeAddress>& nodes() const { return rounds_.nodes(); }

 private:
  struct Question {
    NodeAddress to;
    base::TimePoint asked_at;
  };
  Step ask(base::TimePoint now);
  bool is_answer_of(const NodeAddress& node) const { return question_ && question_->to == node; }

  KnownMap map_;
  SurveyPace pace_;
  Rounds rounds_;
  std::optional<Question> question_;
  bool doubt_ = false;  // came while a question was under way
  int further_ = 0;
};

}  // namespace holdfast::redis::cluster
