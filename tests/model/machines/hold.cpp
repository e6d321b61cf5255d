// SPDX-License-Identifier: Apache-2.0
#include "hold.h"

#include "lock/decide/hold_fsm.hpp"
#include "lock/decide/release_fsm.hpp"
#include "room.hpp"

using namespace holdfast;
using namespace holdfast::engine;
using model::at;
using model::length;

alignas(8) char hold_room[kHolds * kHoldRoom];
alignas(8) char release_room[kHolds * kReleaseRoom];

namespace {

HoldFsm& hold_of(int hold) { return model::machine_at<HoldFsm, kHoldRoom>(hold_room, hold); }
int again_at = 0;

ReleaseFsm& release_of(int release) { return model::machine_at<ReleaseFsm, kReleaseRoom>(release_room, release); }

}  // namespace

void hold_begin(int hold, int sent_at, int lease) {
  const LeaseTerms terms{.length = length(lease)};
  model::make<HoldFsm, kHoldRoom>(hold_room, hold, at(sent_at), terms, at(sent_at));
}
void hold_forget(int hold) { model::clear<kHoldRoom>(hold_room, hold); }

int hold_on_time(int hold, int now) {
  switch (hold_of(hold).on_time(at(now))) {
    case HoldFsm::Todo::nothing:
      return kNothing;
    case HoldFsm::Todo::renew:
      return kRenew;
    case HoldFsm::Todo::lost:
      return kLost;
  }
  return kNothing;
}
void hold_on_renewed(int hold, int sent_at, int now) { hold_of(hold).on_renewed(at(sent_at), at(now)); }
void hold_on_gone(int hold) { hold_of(hold).on_gone(); }
void hold_on_unanswered(int hold, int now) { hold_of(hold).on_unanswered(at(now)); }
void hold_on_reconnect(int hold, int now) { hold_of(hold).on_reconnect(at(now)); }
void hold_on_doubt(int hold, int now) { hold_of(hold).on_doubt(at(now)); }
void hold_begin_release(int hold) { hold_of(hold).begin_release(); }

int hold_state(int hold) {
  switch (hold_of(hold).state()) {
    case HoldState::held:
      return kStateHeld;
    case HoldState::suspect:
      return kStateSuspect;
    case HoldState::lost:
      return kStateLost;
    case HoldState::released:
      return kStateReleased;
  }
  return kStateLost;
}
int hold_due(int hold, int now) { return !hold_of(hold).ended() && hold_of(hold).due() <= at(now) ? 1 : 0; }
int hold_valid(int hold, int now) { return hold_of(hold).valid_for(at(now)) > Duration{} ? 1 : 0; }
int hold_stays_ended(int hold, int now, int lease) {
  const HoldFsm ended = hold_of(hold);
  const auto stays = [&](auto event) {
    HoldFsm later = ended;
    return !event(later) && later.state() == ended.state() && later.valid_for(at(now)) == Duration{};
  };
  const auto tells = [](HoldFsm::Change change) { return change != HoldFsm::Change::none; };
  for (const int then : {now, now + lease / 2, now + lease}) {
    const bool all = stays([&](HoldFsm& fsm) { return fsm.on_time(at(then)) != HoldFsm::Todo::nothing; }) &&
                     stays([&](HoldFsm& fsm) { return tells(fsm.on_renewed(at(now), at(then))); }) &&
                     stays([&](HoldFsm& fsm) { return tells(fsm.on_unanswered(at(then))); }) &&
                     stays([&](HoldFsm& fsm) { return tells(fsm.on_gone()); }) &&
                     stays([&](HoldFsm& fsm) { return tells(fsm.on_moved(at(then))); }) &&
                     stays([&](HoldFsm& fsm) { return fsm.on_doubt(at(then)); }) &&
                     stays([&](HoldFsm& fsm) { return fsm.on_reconnect(at(then)), false; });
    if (!all) return 0;
  }
  return 1;
}
int hold_in_time(int sent_at, int now, int lease) { return at(now) < lease_end(at(sent_at), length(lease)) ? 1 : 0; }

void release_begin(int release, int hold_stood, int now, int lease) {
  const TimePoint deadline = hold_stood != 0 ? hold_of(release).deadline() : kNeverOurs;
  model::make<ReleaseFsm, kReleaseRoom>(release_room, release, deadline, gone_by(at(now), length(lease)));
}
void release_forget(int release) { model::clear<kReleaseRoom>(release_room, release); }

int release_on_reply(int release, int reply, int now) {
  using Kind = ReleaseReply::Kind;
  const Kind kind = reply == kDeleted ? Kind::deleted : reply == kAbsent ? Kind::absent : Kind::unknown;
  const ReleaseAction action = release_of(release).on_reply(at(now), {kind});
  again_at = action.kind == ReleaseAction::Kind::pause ? model::steps_until(action.until, 2000) * 2000 : 0;
  if (action.kind != ReleaseAction::Kind::finish) return kSendAgain;
  if (action.outcome == ReleaseOutcome::released) return kGivenBack;
  return action.outcome == ReleaseOutcome::was_lost ? kWasLost : kUnknown;
}
int release_again_at() { return again_at; }
int release_must_end(int release, int now) { return at(now) >= release_of(release).give_up() ? 1 : 0; }
