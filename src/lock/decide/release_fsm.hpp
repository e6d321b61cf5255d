// SPDX-License-Identifier: Apache-2.0
// A release until its outcome is known, as a pure state machine: replies and times in, actions out.
#pragma once

#include <cstdint>
#include <string>

#include <holdfast/error.hpp>

#include "lock/decide/lease.hpp"

namespace holdfast::engine {

/// The outcome of one release command.
struct ReleaseReply {
  enum class Kind {
    deleted,    // it was ours and is free now
    absent,     // this owner does not have the lock
    wrong,      // the key is not a lock (any more)
    transient,  // a definite error that will go away; nothing changed
    error,      // an error reply; the script may have run half way
    not_sent,   // the server cannot have seen it
    closed,     // the client is closed; no more can be sent
    unknown,    // sent, no reply
  };
  Kind kind = Kind::not_sent;
  std::string cause{};
  std::int64_t listeners = 0;  // deleted: how many clients received it
};

/// The deadline of an owner that may never have been granted it.
constexpr TimePoint kNeverOurs{};

struct ReleaseAction {
  enum class Kind {
    send,   // send the release; feed on_reply
    pause,  // sleep until `until`; feed on_time
    finish,
  };
  Kind kind = Kind::finish;
  TimePoint until{};
  ReleaseOutcome outcome = ReleaseOutcome::unknown;
  std::string cause{};
  std::int64_t listeners = 0;  // finish: how many clients received it
};

/// Resends until answered: every send is idempotent, since the owner is used for one acquisition only.
/// If a resend finds nothing, an earlier send did it, unless the lease may have run out since; then it was lost.
class ReleaseFsm {
 public:
  /// `deadline`: until when the hold was certainly ours; `give_up`: when it has certainly expired at the server.
  ReleaseFsm(TimePoint deadline, TimePoint give_up) : deadline_(deadline), give_up_(give_up) {}

  TimePoint give_up() const { return give_up_; }
  ReleaseAction start() const { return {.kind = ReleaseAction::Kind::send}; }
  ReleaseAction on_reply(TimePoint now, const ReleaseReply& reply);
  ReleaseAction on_time() const { return start(); }

 private:
  static ReleaseAction finish(ReleaseOutcome outcome, std::string cause = {});

  TimePoint deadline_;
  TimePoint give_up_;
  bool maybe_done_ = false;  // an earlier send may have released it
  int errors_ = 0;
  int pauses_ = 0;
};

}  // namespace holdfast::engine
