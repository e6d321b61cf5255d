// When to ask a cluster's nodes for the map. Pure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>

#include "base/clock.hpp"

namespace holdfast::redis::cluster {

/// The pauses between one client's questions: a random share of the step, from half to all of it. Steps begin with
/// kFirst and double, up to kLongestAtFirst while trouble is younger than kFresh (the time of failovers), and up to
/// kLongest afterwards. They are multiplied by the square root of a third of the number of primaries, since larger
/// clusters give longer answers and tend to have more clients; but not beyond twice kLongestAtFirst, and kLongest.
/// After kQuiet without trouble the steps start again. A doubt leads to a question within kSpread times that root, but
/// not before the pause after the last question is over. Without doubts, a question comes every kRefresh, plus or minus
/// half.
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

  /// When the next question is due; `max()`: one is pending.
  base::TimePoint due() const { return due_; }
  /// There was no trouble for kQuiet.
  bool calm(base::TimePoint now) const { return !last_trouble_ || now - *last_trouble_ >= kQuiet; }

  void on_asked() { due_ = base::TimePoint::max(); }
  /// Something contradicts the map. Moves the next question; if one is pending, use note_trouble().
  void on_doubt(base::TimePoint now);
  void note_trouble(base::TimePoint now);
  /// A question has ended; `again`: another one is needed, which also counts as trouble.
  void on_ended(base::TimePoint now, bool again);
  /// A request waits for a first map.
  void hurry(base::TimePoint now);
  /// The number in the map.
  void set_primaries(std::size_t number);

 private:
  /// A random duration between that share of `longest` and all of it.
  base::Duration some_of(base::Duration longest, double least);
  base::Duration next_pause(base::TimePoint now);

  std::mt19937_64 random_;
  double factor_ = 1;
  int step_ = 0;  // questions during this trouble
  base::TimePoint trouble_began_, last_end_;
  std::optional<base::TimePoint> last_trouble_;
  base::Duration pause_{};  // after the last question
  base::TimePoint due_ = base::TimePoint::max();
  bool refresh_ = true;  // the next question is only a refresh
};

}  // namespace holdfast::redis::cluster
