// What to report when a wait has timed out: who has the lock, and for how long. Pure.
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include <holdfast/lock_info.hpp>

#include "engine/decide/attempt.hpp"

namespace holdfast::engine {

/// For one wait with a limit. The server is asked once, shortly before the limit, so that the answer costs the caller
/// no time; an answer that is late is not reported.
class Explanation {
 public:
  /// Shorter waits are not explained: there may be many of them.
  static constexpr milliseconds kShortestWait{1000};

  Explanation(TimePoint started, Duration wait) : ask_at_(started + wait - std::min<Duration>(wait / 2, kLead)) {}

  /// When to ask; `max()`: no longer.
  TimePoint ask_at() const { return ask_at_; }
  void asked() {
    ask_at_ = TimePoint::max();
    changed_ = false;
  }
  /// The answer; empty: the lock is free, or there was no answer. `here`: the holder is this client itself.
  void on_holder(std::optional<LockInfo> info, bool here = false) {
    info_ = std::move(info);
    here_ = here;
  }

  /// The server said that somebody else has it.
  void on_busy(TimePoint now, const Attempt& reply);
  /// A message says that it was released; somebody else may have it next.
  void on_change();

  /// `cause`, and what else is known.
  std::string text(TimePoint now, std::string cause) const;

 private:
  static constexpr milliseconds kLead{1000};

  TimePoint ask_at_;
  std::optional<LockInfo> info_;
  bool here_ = false;
  bool changed_ = false;                 // since the query
  std::optional<TimePoint> held_since_;  // by the same owner: it could not end unnoticed between any two replies
  TimePoint certain_until_{};            // the end of the lease in the latest reply
};

}  // namespace holdfast::engine
