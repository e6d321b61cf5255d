// SPDX-License-Identifier: Apache-2.0
#include "quorum.h"

#include "lock/decide/ballot.hpp"
#include "lock/decide/hold_fsm.hpp"
#include "room.hpp"

using namespace holdfast;
using namespace holdfast::engine;
using model::at;
using model::length;

alignas(8) char hold_room[kHoldRoom];

namespace {

HoldFsm& hold() { return model::machine_at<HoldFsm, kHoldRoom>(hold_room, 0); }

Attempt attempt_of(int vote) {
  Attempt attempt;
  attempt.kind = vote == kGranted   ? Attempt::Kind::granted
                 : vote == kRefused ? Attempt::Kind::busy
                                    : Attempt::Kind::unknown;
  return attempt;
}

}  // namespace

void hold_begin(int sent_at, int lease) {
  model::make<HoldFsm, kHoldRoom>(hold_room, 0, at(sent_at), LeaseTerms{.length = length(lease)}, at(sent_at));
}
void hold_forget() { model::clear<kHoldRoom>(hold_room, 0); }
int hold_on_time(int now) {
  const HoldFsm::Todo todo = hold().on_time(at(now));
  return todo == HoldFsm::Todo::renew ? kRenew : todo == HoldFsm::Todo::lost ? kLost : kNothing;
}
void hold_on_renewed(int sent_at, int now) { hold().on_renewed(at(sent_at), at(now)); }
void hold_on_gone() { hold().on_gone(); }
void hold_on_unanswered(int now) { hold().on_unanswered(at(now)); }
int hold_lost() { return hold().state() == HoldState::lost ? 1 : 0; }
int hold_due(int now) { return !hold().ended() && hold().due() <= at(now) ? 1 : 0; }
int hold_valid(int now) { return hold().valid_for(at(now)) > Duration{} ? 1 : 0; }
int hold_in_time(int sent_at, int now, int lease) { return at(now) < lease_end(at(sent_at), length(lease)) ? 1 : 0; }

int ballot_of(int first, int second, int third) {
  Ballot ballot(Quorum::majority(3));
  const int votes[] = {first, second, third};
  for (std::size_t i = 0; i < 3; ++i) {
    if (votes[i] != kNoVote) ballot.record(i, attempt_of(votes[i]));
  }
  return ballot.won() ? kWon : ballot.failed() ? kFailed : kOpen;
}
int vote_may_stand(int vote) { return vote == kNoVote || attempt_of(vote).may_stand() ? 1 : 0; }
