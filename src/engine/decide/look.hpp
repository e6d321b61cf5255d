// When to check a watched key again. Pure; time is an input.
#pragma once

#include <optional>

#include "engine/decide/lease.hpp"

namespace holdfast::engine {

/// A look checks at the server whether a hold still has its key, and makes the server report the key's next change,
/// once. At most one look is planned or under way: it covers every change reported before its answer, since both arrive
/// in order. Looks in quick succession, as when the server forgets which keys to watch, are spaced out more and more;
/// changes by our own renewals are too rare for that.
class Look {
 public:
  /// The least pause between two looks, at first.
  static constexpr Duration kShortestPause = milliseconds(20);
  /// The most that this pause grows to for a lease of this length, so that a storm of changes costs four looks per
  /// renewal.
  static constexpr Duration longest_pause(milliseconds lease) {
    return std::clamp<Duration>(renew_after(lease) / 4, kShortestPause, std::chrono::seconds(10));
  }

  /// The key has changed, or may have. Returns when to look; empty: a look is already planned or under way.
  std::optional<TimePoint> on_changed(TimePoint now, milliseconds lease);
  void on_asked(TimePoint now);
  /// No look is planned, and the next change leads to a look at once, as for a new key.
  bool is_over(TimePoint now) const { return !open_ && now - asked_at_ > 2 * pause_; }
  /// It is still ours.
  void on_ours() { open_ = false; }
  /// There was no answer, or one that is being verified. Returns when to look again.
  TimePoint on_open(TimePoint now, milliseconds lease);

 private:
  /// Returns the pause after the latest look, and lengthens the next one.
  Duration take_pause(milliseconds lease);

  TimePoint asked_at_{};
  Duration pause_ = kShortestPause;
  bool open_ = false;  // a look is planned or under way
};

}  // namespace holdfast::engine
