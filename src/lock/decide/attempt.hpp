// SPDX-License-Identifier: Apache-2.0
// The outcome of one acquire command, in the engine's terms, and what to say when a wait has timed out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include <holdfast/lock_info.hpp>

#include "kinds/calls.hpp"
#include "lock/decide/lease.hpp"

namespace holdfast::engine {

/// The terms of a hold, with the lease that the server reports, if it does.
inline LeaseTerms as_granted(LeaseTerms asked, const wire::Grant& grant) {
  if (grant.lease) asked.length = *grant.lease;
  return asked;
}

/// The outcome of one acquire command.
struct Attempt {
  enum class Kind {
    granted,
    busy,         // `busy_for`: remaining time to live; negative: it has none
    refused,      // a permanent error reply, nothing changed
    transient,    // a temporary error reply (loading, a failover, ...), nothing changed
    failed,       // an error reply from the middle of a script: it may have taken the lock
    not_sent,     // the server cannot have seen it
    unknown,      // sent, no reply
    not_durable,  // granted, but without the required confirmations
  };
  Kind kind = Kind::not_sent;
  wire::Grant grant{};  // of the owner that asked, whatever the outcome; if granted, as the server replied
  milliseconds busy_for{};
  bool subscribed = false;        // the wake channels were subscribed before the server checked the lock
  bool subscribing = false;       // busy: they are being subscribed, and wake once when that is done
  bool cannot_subscribe = false;  // busy: subscribing is not permitted; the wait does without the wake channels
  // How many listen for its release. If busy: connections; negative: unknown. If granted in shared mode: waiters, and
  // clients elsewhere.
  std::optional<std::int64_t> listeners{};
  bool of_stranger = false;               // busy: the holder uses another library
  std::optional<Duration> retry_after{};  // busy, but no holder was seen: the votes were split
  bool pointless = false;                 // not_sent, transient: a retry will not help
  std::optional<bool> may_pass{};         // see Error::may_pass; empty: as usual for `error`
  std::error_code error{};                // busy: why no release can end the wait; empty: one can
  std::string cause{};
  TimePoint sent_at{};
  std::uint32_t acks_era = 0;  // granted and confirmed: see Confirmations::era
  std::uint64_t server = 0;    // for a group's member: which server answered, see Shard::server

  /// The owner may have it: it must be used, requested again, or undone.
  bool may_stand() const {
    return kind == Kind::granted || kind == Kind::unknown || kind == Kind::failed || kind == Kind::not_durable;
  }
};

/// Why a caller of the client that holds the lock itself has to wait.
inline constexpr const char* kHeldByThisProcess = "held by this process";

/// What to report when a wait has timed out: who has the lock, and for how long. Pure. For one wait with a limit. The
/// server is asked once, shortly before the limit, so that the answer costs the caller no time; an answer that is late
/// is not reported.
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
