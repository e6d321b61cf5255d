// When releases that only the old primary may have seen are repeated at the new one. Pure; time is an input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decide/recent_releases.hpp"

namespace holdfast::engine {

/// What was released at the old primary may have been granted there once more, and that is forgotten as well: as long
/// as anybody is still there, a lock that is free at the new primary can have two holders. Nobody can be asked whether
/// he has left. But where a lock is contended, those who might have it listen for it: as many as heard its releases of
/// the last seconds must listen at the new primary, each of whom has therefore left the old one, and has renewed there
/// what it held. Where nobody was heard of, or they do not come, a second must do. Not thread-safe.
class LateBatch {
 public:
  static constexpr Duration kPause = std::chrono::seconds(1);
  /// Between looks, twice as long each time.
  static constexpr Duration kFirstLook = std::chrono::milliseconds(10);
  /// All must be there at two looks so far apart: by then each has heard what it has lost.
  static constexpr Duration kStay = std::chrono::milliseconds(50);
  /// So many locks are looked at; others wait for the second.
  static constexpr std::size_t kMostLooked = 64;

  /// Just connected.
  LateBatch(std::vector<ConfirmedRelease> releases, TimePoint now);

  /// When on_time() is next due.
  TimePoint due() const;
  bool over() const { return left_ == 0; }
  std::size_t releases() const { return left_; }

  struct Step {
    std::vector<base::Command> repeat{};
    std::vector<std::size_t> look{};  ///< How many others listen to these, by their number: on_look().
  };
  Step on_time(TimePoint now);
  /// So many clients elsewhere listen to that channel at the new primary; empty: not known. What is to be repeated.
  std::vector<base::Command> on_look(TimePoint now, std::size_t number, std::optional<std::int64_t> others);

  const std::string& channel(std::size_t number) const { return locks_[number].channel; }
  /// The lock's, on the wire.
  std::string_view key(std::size_t number) const;

 private:
  struct Locked {
    std::string channel{};
    std::int64_t others = 0;  // the most that heard one of its releases
    std::optional<TimePoint> there_since{};
    std::vector<base::Command> releases{};  // none: they have been repeated
  };
  std::vector<base::Command> take(std::vector<base::Command>& from);

  const TimePoint end_;
  TimePoint next_look_;
  Duration pause_ = kFirstLook;
  std::vector<Locked> locks_;
  std::vector<base::Command> rest_;  // of which nobody is known to have heard
  std::size_t left_;
};

}  // namespace holdfast::engine
