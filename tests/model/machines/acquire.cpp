// SPDX-License-Identifier: Apache-2.0
#include "acquire.h"

#include <algorithm>

#include "lock/decide/acquire_fsm.hpp"
#include "room.hpp"

using namespace holdfast;
using namespace holdfast::engine;
using model::at;
using model::length;

alignas(8) char acquire_room[kWaiters * kAcquireRoom];
int acquire_until = 0, acquire_subscribe = 0, acquire_publish_busy = 0, acquire_undo = 0;

namespace {

constexpr int kStep = 2000, kNever = 255;

AcquireFsm& fsm_of(int who) { return model::machine_at<AcquireFsm, kAcquireRoom>(acquire_room, who); }

int told(const AcquireAction& action) {
  using Kind = AcquireAction::Kind;
  acquire_until = acquire_subscribe = acquire_publish_busy = acquire_undo = 0;
  switch (action.kind) {
    case Kind::attempt:
      acquire_subscribe = action.subscribe ? 1 : 0;
      acquire_publish_busy = action.publish_busy ? 1 : 0;
      return kAttempt;
    case Kind::finish:
      acquire_undo = action.undo ? 1 : 0;
      return action.error ? kFailed : kGranted;
    default:
      acquire_until = action.until > at(kNever * kStep) ? kNever : model::steps_until(action.until, kStep);
      return kWait;
  }
}

TargetView view(int now, int subscribed, int busy_left) {
  return {.subscribed = subscribed != 0, .busy_until = busy_left > 0 ? at(now + busy_left) : TimePoint{}};
}

}  // namespace

int acquire_begin(int who, int now, int wait, int chance) {
  AcquireTerms terms{.command_timeout = length(4000),
                     .patience = length(24000),
                     .safety_poll = length(8000),
                     .turn = length(2000),
                     .jitter = chance / 100.0};
  if (wait > 0) terms.wait = length(wait);
  model::make<AcquireFsm, kAcquireRoom>(acquire_room, who, terms, at(now));
  static_cast<void>(fsm_of(who).start());
  return told(fsm_of(who).on_turn(at(now), {}));
}
void acquire_forget(int who) { model::clear<kAcquireRoom>(acquire_room, who); }

int acquire_on_attempt(int who, int now, int reply, int left, int listeners, int subscribed) {
  Attempt attempt;
  attempt.kind = reply == kReplyGranted ? Attempt::Kind::granted
                 : reply == kReplyBusy  ? Attempt::Kind::busy
                                        : Attempt::Kind::unknown;
  attempt.busy_for = length(left);
  attempt.subscribed = subscribed != 0;
  if (listeners >= 0) attempt.listeners = listeners;
  if (reply == kReplyUnknown) attempt.error = Errc::unknown_outcome;
  return told(fsm_of(who).on_attempt(at(now), attempt));
}
int acquire_on_message(int who, int now, int subscribed, int busy_left) {
  return told(fsm_of(who).on_message(at(now), view(now, subscribed, busy_left)));
}
int acquire_on_busy(int who, int now, int subscribed, int busy_left) {
  return told(fsm_of(who).on_busy(at(now), view(now, subscribed, busy_left)));
}
int acquire_on_time(int who, int now, int subscribed, int busy_left) {
  return told(fsm_of(who).on_time(at(now), view(now, subscribed, busy_left)));
}
int acquire_lets_others_ask(int who) { return fsm_of(who).lets_others_ask() ? 1 : 0; }
