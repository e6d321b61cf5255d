// SPDX-License-Identifier: Apache-2.0
// Literal times, and what the state machines say in words, so that a test of one reads like a story.
#pragma once

#include <ostream>
#include <string>

#include <holdfast/error.hpp>

#include "lock/decide/acquire_fsm.hpp"
#include "lock/decide/hold_fsm.hpp"
#include "lock/decide/release_fsm.hpp"

namespace holdfast::engine {

/// The moment 0 of every story; not the clock's zero, so that a forgotten time shows.
constexpr TimePoint kStart{std::chrono::hours(1000)};
constexpr TimePoint at(Duration since_start) { return kStart + since_start; }

/// `1500ms`, with decimals only where there is something to show.
inline std::string text(Duration duration) {
  const auto whole = std::chrono::duration_cast<milliseconds>(duration);
  std::string out = std::to_string(whole.count());
  if (const auto rest = std::abs((duration - whole).count()); rest != 0) {
    if (duration < Duration{} && whole.count() == 0) out = "-0";
    std::string decimals = std::to_string(1'000'000 + rest).substr(1);
    out += "." + decimals.erase(decimals.find_last_not_of('0') + 1);
  }
  return out + "ms";
}
inline std::string text(TimePoint time) { return time == TimePoint::max() ? "never" : text(time - kStart); }

inline std::string text(const std::error_code& error) {
  if (!error) return "granted";
  if (error.category() != error_category()) return error.message();
  return to_string(static_cast<Errc>(error.value()));
}

/// `attempt subscribe timeout=3000ms`, `wait until=1000ms`, `finish timed_out undo (no reply)`, ...
inline std::string text(const AcquireAction& action) {
  using Kind = AcquireAction::Kind;
  const std::string cause = action.cause.empty() ? "" : " (" + action.cause + ")";
  switch (action.kind) {
    case Kind::wait_turn:
      return "wait_turn until=" + text(action.until);
    case Kind::attempt:
      return std::string("attempt") + (action.subscribe ? " subscribe" : "") + " timeout=" + text(action.timeout) +
             (action.publish_busy ? " publish_busy" : "");
    case Kind::wait:
      return "wait until=" + text(action.until);
    case Kind::pause:
      return "pause until=" + text(action.until);
    case Kind::finish:
      return "finish " + text(action.error) + (action.undo ? " undo" : "") + cause;
  }
  return "?";
}

/// `send`, `pause until=5ms (no reply)`, `finish released`, ...
inline std::string text(const ReleaseAction& action) {
  const std::string cause = action.cause.empty() ? "" : " (" + action.cause + ")";
  switch (action.kind) {
    case ReleaseAction::Kind::send:
      return "send";
    case ReleaseAction::Kind::pause:
      return "pause until=" + text(action.until) + cause;
    case ReleaseAction::Kind::finish:
      return std::string("finish ") + to_string(action.outcome) + cause;
  }
  return "?";
}

inline std::string text(HoldFsm::Todo todo) {
  switch (todo) {
    case HoldFsm::Todo::nothing:
      return "nothing";
    case HoldFsm::Todo::renew:
      return "renew";
    case HoldFsm::Todo::lost:
      return "lost";
  }
  return "?";
}

inline std::string text(HoldFsm::Change change) {
  switch (change) {
    case HoldFsm::Change::none:
      return "none";
    case HoldFsm::Change::suspect:
      return "suspect";
    case HoldFsm::Change::lost:
      return "lost";
  }
  return "?";
}

inline void PrintTo(const AcquireAction& action, std::ostream* out) { *out << text(action); }
inline void PrintTo(const ReleaseAction& action, std::ostream* out) { *out << text(action); }
inline void PrintTo(HoldFsm::Todo todo, std::ostream* out) { *out << text(todo); }
inline void PrintTo(HoldFsm::Change change, std::ostream* out) { *out << text(change); }

}  // namespace holdfast::engine

namespace holdfast {

inline void PrintTo(HoldState state, std::ostream* out) { *out << to_string(state); }
inline void PrintTo(LossReason reason, std::ostream* out) { *out << to_string(reason); }
inline void PrintTo(ReleaseOutcome outcome, std::ostream* out) { *out << to_string(outcome); }

}  // namespace holdfast
