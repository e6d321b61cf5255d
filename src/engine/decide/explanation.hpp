// What to say when a limit on waiting was reached in vain: who has the lock, and for how long. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <holdfast/lock_info.hpp>

#include "engine/decide/attempt.hpp"

namespace holdfast::engine {

/// Of one wait with a limit. The server is asked once, shortly before the limit, so that the answer costs the caller no
/// time; what is not there in time is not told.
class Explanation {
 public:
  /// Waits that are shorter than this are not explained: they may be many.
  static constexpr milliseconds kShortestWait{1000};

  Explanation(TimePoint started, Duration wait) : ask_at_(started + wait - std::min<Duration>(wait / 2, kLead)) {}

  /// When to ask; `max()`: not any more.
  TimePoint ask_at() const { return ask_at_; }
  void asked() {
    ask_at_ = TimePoint::max();
    changed_ = false;
  }
  /// The answer; empty: nobody has it, or there is none.
  void on_holder(std::optional<LockInfo> info) { info_ = std::move(info); }

  /// The server said that somebody else has it.
  void on_busy(TimePoint now, const Attempt& reply);
  /// It was released, as far as we were told; somebody else may have it next.
  void on_change();

  /// `cause`, and what is known besides.
  std::string text(TimePoint now, std::string cause) const;

 private:
  static constexpr milliseconds kLead{1000};

  TimePoint ask_at_;
  std::optional<LockInfo> info_;
  bool changed_ = false;                 // since it was asked for
  std::optional<TimePoint> held_since_;  // by the same owner: it could not end unheard between any two replies
  TimePoint certain_until_{};            // the end of the lease in the latest reply
};

}  // namespace holdfast::engine
