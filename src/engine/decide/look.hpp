// When a watched key is looked at again. Pure; time is an input.
#pragma once

#include <optional>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// A look asks the server whether a hold still has its key, and makes it tell the next change of it, once. One look is
/// to come or under way at most: it sees whatever was told before its answer, since both come in order. Looks that
/// follow each other closely, as when the server forgets what it was asked to watch, are spaced out more and more; the
/// changes that the own renewals make are too far apart for that.
class Look {
 public:
  /// Between two looks at least, at first.
  static constexpr Duration kShortestPause = milliseconds(20);
  /// As far as that grows, for a lease of this length: so a storm costs four looks for each renewal.
  static constexpr Duration longest_pause(milliseconds lease) {
    return std::clamp<Duration>(renew_after(lease) / 4, kShortestPause, std::chrono::seconds(10));
  }

  /// The key was changed, or may have been. When to look; empty: a look is to come or under way.
  std::optional<TimePoint> on_changed(TimePoint now, milliseconds lease);
  void on_asked(TimePoint now);
  /// Nothing is to come, and the next change is looked at at once, as that of a key that was never looked at.
  bool is_over(TimePoint now) const { return !open_ && now - asked_at_ > 2 * pause_; }
  /// It is still ours.
  void on_ours() { open_ = false; }
  /// There was no answer, or one that is being checked. When to look again.
  TimePoint on_open(TimePoint now, milliseconds lease);

 private:
  /// The pause behind the latest look, and a longer one for the next.
  Duration take_pause(milliseconds lease);

  TimePoint asked_at_{};
  Duration pause_ = kShortestPause;
  bool open_ = false;  // a look is to come or under way
};

}  // namespace holdfast::engine
