// SPDX-License-Identifier: Apache-2.0
#include "failover.h"

#include <utility>

#include <holdfast/error.hpp>

#include "lock/decide/group_commit.hpp"
#include "lock/decide/hold_fsm.hpp"
#include "lock/decide/recent_releases.hpp"
#include "room.hpp"

using namespace holdfast;
using namespace holdfast::engine;
using model::at;
using model::length;

alignas(8) char hold_room[kHoldRoom];

namespace {

HoldFsm& hold() { return model::machine_at<HoldFsm, kHoldRoom>(hold_room, 0); }

constexpr std::size_t kMostLocks = 100;
constexpr Duration kLongestWait = std::chrono::seconds(1);
/// Nothing is sent or decoded here.
const Plan plan{.transitions = {.decode_acquire = nullptr, .decode_release = nullptr}};

ReplicaCount replicas_of(int on_record, int connected, int now) {
  ReplicaCount replicas;
  replicas.set_configured(on_record);
  replicas.on_told(connected, at(now));
  return replicas;
}

int confirm(int asked_at, int now, ReplicaCount replicas, CommitReply reply) {
  GroupCommit commit(Acks::all(), kMostLocks, kLongestWait);
  commit.add(Confirm{.renewals = {{"lock", "owner"}},
                     .plan = &plan,
                     .lease = std::chrono::milliseconds(20),
                     .asked_at = at(asked_at),
                     .acks_until = at(asked_at + kForAcks),
                     .until = at(asked_at + kForAll)});
  if (const auto batch = commit.next(at(asked_at), replicas)) reply.batch = batch->number;
  const Confirms decided = commit.on_reply(at(now), reply, replicas);
  if (decided.empty()) return kAgain;
  const Confirmed& found = decided.front().found;
  return found.gone() ? kGoneThere : found.acked ? kConfirmed : kMissed;
}

}  // namespace

void hold_begin(int sent_at, int lease, int acks, int era) {
  const LeaseTerms terms{.length = length(lease), .acks = acks != 0 ? Acks::all() : Acks::none()};
  model::make<HoldFsm, kHoldRoom>(hold_room, 0, at(sent_at), terms, at(sent_at), static_cast<std::uint32_t>(era));
}
void hold_forget() { model::clear<kHoldRoom>(hold_room, 0); }
int hold_on_time(int now) {
  const HoldFsm::Todo todo = hold().on_time(at(now));
  return todo == HoldFsm::Todo::renew ? kRenew : todo == HoldFsm::Todo::lost ? kLost : kNothing;
}
void hold_on_renewed(int sent_at, int now, int era) {
  hold().on_renewed(at(sent_at), at(now), static_cast<std::uint32_t>(era));
}
void hold_on_gone() { hold().on_gone(); }
void hold_on_unanswered(int now) { hold().on_unanswered(at(now)); }
void hold_on_reconnect(int now) { hold().on_reconnect(at(now)); }
int hold_lost() { return hold().state() == HoldState::lost ? 1 : 0; }
int hold_due(int now) { return !hold().ended() && hold().due() <= at(now) ? 1 : 0; }
int hold_valid(int now) { return hold().valid_for(at(now)) > Duration{} ? 1 : 0; }
int hold_durable(int now, int era) {
  return hold().durable_for(at(now), static_cast<std::uint32_t>(era)) > Duration{} ? 1 : 0;
}
int hold_in_time(int sent_at, int now, int lease) { return at(now) < lease_end(at(sent_at), length(lease)) ? 1 : 0; }

int acks_to_wait_for(int on_record, int connected) {
  return acks_needed(Acks::all(), replicas_of(on_record, connected, 0).count().value_or(0));
}

int confirm_answered(int asked_at, int now, int extended, int acks, int on_record, int connected, int interrupted) {
  CommitReply reply;
  reply.kind = CommitReply::Kind::answered;
  reply.sent_at = at(asked_at);
  reply.commands.push_back({{extended != 0}, {}, 1});
  if (interrupted != 0) {
    reply.refused.error = Errc::server_error;
  } else {
    reply.acks = acks;
  }
  return confirm(asked_at, now, replicas_of(on_record, connected, now), std::move(reply));
}

int confirm_unknown(int asked_at, int now, int on_record) {
  CommitReply reply;
  reply.kind = CommitReply::Kind::unknown;
  return confirm(asked_at, now, replicas_of(on_record, 0, now), std::move(reply));
}

int worth(int confirmed, int era_asked, int era_now) {
  Attempt granted;
  granted.kind = Attempt::Kind::granted;
  Confirmed found;
  found.extended = {confirmed != kGoneThere};
  found.acked = confirmed == kConfirmed;
  found.era = static_cast<std::uint32_t>(era_asked);
  const Attempt::Kind kind = as_confirmed(granted, found, static_cast<std::uint32_t>(era_now)).kind;
  return kind == Attempt::Kind::granted ? kStands : kind == Attempt::Kind::not_durable ? kNotDurable : kInDoubt;
}

int releases_to_repeat(int released_at, int now, int lease) {
  RecentReleases releases;
  releases.add({}, at(released_at), gone_by(at(released_at), length(lease)));
  return static_cast<int>(releases.to_repeat(at(now)).size());
}
