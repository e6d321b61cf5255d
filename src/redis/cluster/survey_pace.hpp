// When a cluster's nodes are asked for the map. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>

#include "base/clock.hpp"

namespace holdfast::redis::cluster {

/// The pauses between one client's questions: between half of the step and all of it, by chance. Steps begin with
/// kFirst and double, up to kLongestAtFirst while trouble is younger than kFresh (failovers happen then), and up to
/// kLongest afterwards. They are longer by the square root of a third of the number of primaries, for an answer is the
/// longer the more nodes there are, and clients will be the more; but no longer than twice kLongestAtFirst, and
/// kLongest. Behind kQuiet without trouble the steps begin anew. A doubt is asked about within kSpread times that root,
/// but not before the pause behind the last question is over. Without any, a question comes every kRefresh, give or
/// take a half.
class SurveyPace {
 public:
  static constexpr base::Duration kSpread = std::chrono::milliseconds(50);
  static constexpr base::Duration kFirst = std::chrono::milliseconds(100);
  static constexpr base::Duration kLongestAtFirst = std::chrono::seconds(1);
  static constexpr base::Duration kFresh = std::chrono::seconds(30);
  static constexpr base::Duration kLongest = std::chrono::seconds(5);
  static constexpr base::Duration kQuiet = std::chrono::seconds(20);
  static constexpr base::Duration kRefresh = std::chrono::seconds(30);

  explicit SurveyPace(std::uint64_t chance);

  /// When the next question is due; `max()`: one is under way.
  base::TimePoint due() const { return due_; }
  /// There was no trouble for kQuiet.
  bool calm(base::TimePoint now) const { return !last_trouble_ || now - *last_trouble_ >= kQuiet; }

  void on_asked() { due_ = base::TimePoint::max(); }
  /// Something does not fit. For what is due; a question under way takes note_trouble().
  void on_doubt(base::TimePoint now);
  void note_trouble(base::TimePoint now);
  /// A question has ended; `again`: another one is needed, which is trouble, too.
  void on_ended(base::TimePoint now, bool again);
  /// Somebody waits for a first map.
  void hurry(base::TimePoint now);
  /// As of the map.
  void set_primaries(std::size_t number);

 private:
  /// Between that share of it and all, by chance.
  base::Duration some_of(base::Duration longest, double least);
  base::Duration next_pause(base::TimePoint now);

  std::mt19937_64 random_;
  double factor_ = 1;
  int step_ = 0;  // questions in this trouble
  base::TimePoint trouble_began_, last_end_;
  std::optional<base::TimePoint> last_trouble_;
  base::Duration pause_{};  // behind the last question
  base::TimePoint due_ = base::TimePoint::max();
  bool refresh_ = true;  // is all that is due
};

}  // namespace holdfast::redis::cluster
