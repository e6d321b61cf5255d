// Whom to ask for a cluster's map, when, and whether to believe what they say.
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

/// Pure: times are inputs, chance is a seed. One question at a time, whoever wants to know, and pauses between them
/// (SurveyPace), so that thousands of clients of hundreds of nodes do not storm them when one is gone. Each question of
/// a round goes to another node (Rounds), and what it says changes the map as far as it is believed (KnownMap). While a
/// second node's word is needed, or a slot has nobody, kFurther questions follow without any doubt from outside. Not
/// thread-safe.
class Survey {
 public:
  static constexpr int kFurther = 8;

  Survey(const std::vector<NodeAddress>& seeds, std::uint64_t chance);

  struct Step {
    std::optional<NodeAddress> ask{};             ///< Asked now: on_answer() or on_failure() is to follow.
    std::shared_ptr<const View> adopt = nullptr;  ///< The map from now on.
    /// There is no map, and no node could be asked: why, for those who wait for the first one. They may wait on.
    std::string problem{};
    base::TimePoint due = base::TimePoint::max();  ///< When to call on_time(); instead of what was said before.
  };

  /// The first question.
  Step start(base::TimePoint now);
  /// Something does not fit the map: a node is away or has been demoted, a slot has moved, or has nobody.
  /// `about`: who said so, or is away, and so is not asked first, and what it serves may be another's at the first
  /// word; empty: nobody in particular.
  Step on_doubt(base::TimePoint now, const std::optional<NodeAddress>& about);
  /// `from` has said, by MOVED, that `to` serves the slot; views do not undo it before they can know better. A doubt
  /// is to follow.
  void on_corrected(base::TimePoint now, const NodeAddress& from, std::uint16_t slot, const NodeAddress& to);
  /// Answers to anything else than the last question are not heard.
  Step on_answer(base::TimePoint now, const NodeAddress& node, const View& view);
  Step on_failure(base::TimePoint now, const NodeAddress& node, const std::string& cause);
  Step on_time(base::TimePoint now);
  /// A request waits for a slot that has nobody; without a map, this cuts the pause behind a round of failures short.
  Step on_wanted(base::TimePoint now);

  /// Nodes that may be asked: of the map, primaries and replicas, and the seeds.
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
