// SPDX-License-Identifier: Apache-2.0
// Decides what happens to the command of `holdfast run` when its lock is lost or about to be. Pure: no clock, no
// process, no server; time is an input.
#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.hpp"

namespace holdfast::cli {

/// `--on-lost`: what to do with the command.
enum class OnLost {
  term,  ///< SIGTERM while the lock is still certainly ours, SIGKILL before it ends.
  kill,  ///< SIGKILL just before it ends.
  warn,  ///< Print a warning, and let the command continue.
};

enum class LostAction {
  none,
  warn,  ///< Tell the user that the lock is lost.
  term,  ///< Send SIGTERM to the command.
  kill,  ///< Send SIGKILL to the command.
};

struct LostDecision {
  LostAction action = LostAction::none;
  /// When to call look() again if nothing happens first; empty: never.
  std::optional<base::TimePoint> look_again;
};

/// A state machine for one command under one hold.
///
///   state        | look() sees                                   | action     | next
///   -------------+-----------------------------------------------+------------+------------
///   holding      | time left for longer than the lead            | none       | holding
///   holding      | term: `kill_after` left; kill: `margin` left  | term, kill | terminating, done
///   holding      | lost before its time (somebody broke it)      | term, kill, warn | terminating, done, done
///   holding      | time over (this process did not run in time)  | kill, warn | done
///   terminating  | the grace is over                             | kill       | done
///   done         | anything                                      | none       | done
///
/// A successful renewal while holding moves all times; after SIGTERM nothing is taken back, since the command is
/// ending. Not thread-safe.
class LostPolicy {
 public:
  /// `kill_after`: the time between SIGTERM and SIGKILL, which is the end of the lease. `margin`: how long before the
  /// end SIGKILL is sent, for the signal to arrive and the command to die.
  LostPolicy(OnLost on_lost, base::Duration kill_after, base::Duration margin)
      : on_lost_(on_lost), kill_after_(kill_after), margin_(margin) {}

  /// `valid_for`: how long the lock is certainly ours from `now` on. `lost`: the loss was signalled.
  LostDecision look(base::TimePoint now, base::Duration valid_for, bool lost) {
    switch (state_) {
      case State::holding:
        return lost || valid_for <= base::Duration::zero() ? gone(now) : still_ours(now, valid_for);
      case State::terminating:
        if (now < kill_at_) return {LostAction::none, kill_at_};
        return finish(now, LostAction::kill);
      case State::done:
        break;
    }
    return {};
  }

  /// When the command must have ended, as of the last look(); empty: it need not.
  std::optional<base::TimePoint> must_end_by() const {
    if (on_lost_ == OnLost::warn) return std::nullopt;
    return state_ == State::holding ? certain_until_ : std::optional(kill_at_);
  }

  /// True once the command was asked to end.
  bool acted() const { return acted_; }
  /// True if the lock was lost while it should still have been ours: the server has said so.
  bool told_early() const { return told_early_; }

 private:
  enum class State { holding, terminating, done };

  LostDecision still_ours(base::TimePoint now, base::Duration valid_for) {
    certain_until_ = now + valid_for;
    const base::TimePoint last_moment = *certain_until_ - margin_;
    if (on_lost_ == OnLost::warn) return {LostAction::none, certain_until_};
    if (on_lost_ == OnLost::kill) {
      if (now >= last_moment) return finish(now, LostAction::kill);
      return {LostAction::none, last_moment};
    }
    const base::TimePoint term_at = *certain_until_ - std::max(kill_after_, margin_);
    if (now < term_at) return {LostAction::none, term_at};
    return terminate(last_moment);
  }

  LostDecision gone(base::TimePoint now) {
    // Lost before its time: the lock was taken by force, and the command gets the grace period. Otherwise this process
    // was stopped past the deadline, and every further moment may overlap with another holder.
    told_early_ = certain_until_ && now < *certain_until_;
    if (on_lost_ == OnLost::warn) return finish(now, LostAction::warn);
    if (on_lost_ == OnLost::term && told_early_) return terminate(now + kill_after_);
    return finish(now, LostAction::kill);
  }

  LostDecision terminate(base::TimePoint kill_at) {
    state_ = State::terminating;
    acted_ = true;
    kill_at_ = kill_at;
    return {LostAction::term, kill_at};
  }

  LostDecision finish(base::TimePoint now, LostAction action) {
    state_ = State::done;
    kill_at_ = now;
    acted_ = acted_ || action == LostAction::kill;
    return {action, std::nullopt};
  }

  const OnLost on_lost_;
  const base::Duration kill_after_;
  const base::Duration margin_;
  State state_ = State::holding;
  bool acted_ = false;
  bool told_early_ = false;
  base::TimePoint kill_at_{};
  std::optional<base::TimePoint> certain_until_;  // as of the last look()
};

}  // namespace holdfast::cli
