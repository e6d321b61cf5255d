// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/ballot.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::engine {
namespace {

std::string reason(const Attempt& vote) {
  std::string text = vote.error.message();
  if (!vote.cause.empty()) text += ": " + vote.cause;
  return text;
}

std::string words(const std::optional<Attempt>& vote) {
  if (!vote) return "has not answered yet";
  switch (vote->kind) {
    case Attempt::Kind::granted:
      return "granted";
    case Attempt::Kind::busy:
      if (vote->busy_for.count() < 0) return "held by somebody else";
      return "held by somebody else, for another " + std::to_string(vote->busy_for.count()) + " ms unless renewed";
    case Attempt::Kind::refused:
    case Attempt::Kind::transient:
    case Attempt::Kind::failed:
    case Attempt::Kind::not_sent:
    case Attempt::Kind::unknown:
    case Attempt::Kind::not_durable:
      return reason(*vote);
  }
  return "?";
}

}  // namespace

void Ballot::record(std::size_t member, Attempt vote) {
  if (!votes_[member]) votes_[member] = std::move(vote);
}

std::size_t Ballot::count(Attempt::Kind kind) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(votes_, [kind](const auto& vote) { return vote && vote->kind == kind; }));
}

std::size_t Ballot::voted() const {
  return static_cast<std::size_t>(std::ranges::count_if(votes_, [](const auto& vote) { return vote.has_value(); }));
}

/// When enough of the taken members will be free, if not renewed. Members that have not answered may be free.
milliseconds Ballot::busy_for() const {
  std::vector<milliseconds> taken;
  for (const auto& vote : votes_) {
    if (!vote || vote->kind != Attempt::Kind::busy) continue;
    taken.push_back(vote->busy_for.count() < 0 ? kLongestLease : vote->busy_for);
  }
  std::ranges::sort(taken);
  const std::size_t perhaps_free = quorum_.members - voted() + count(Attempt::Kind::granted);
  const std::size_t wanted = quorum_.needed > perhaps_free ? quorum_.needed - perhaps_free : 1;
  return taken[std::min(wanted, taken.size()) - 1];
}

Attempt Ballot::result(const std::vector<std::string>& nodes, Duration pause) const {
  Attempt attempt;
  attempt.cause = text(nodes);
  const std::size_t busy = count(Attempt::Kind::busy);
  const std::size_t out_of_order = voted() - busy - count(Attempt::Kind::granted);
  if (busy > 0 && out_of_order <= quorum_.members - quorum_.needed) {
    attempt.kind = Attempt::Kind::busy;
    attempt.busy_for = busy_for();
    const auto heard = [](const auto& vote) { return !vote || vote->kind != Attempt::Kind::busy || vote->subscribed; };
    attempt.subscribed = std::ranges::all_of(votes_, heard);
    attempt.subscribing = std::ranges::any_of(votes_, [](const auto& vote) { return vote && vote->subscribing; });
    const auto cannot = [](const auto& vote) { return vote && vote->cannot_subscribe; };
    attempt.cannot_subscribe = std::ranges::any_of(votes_, cannot);
    // No owner was seen with the quorum: another caller asking at the same time may have failed like us.
    const bool split = quorum_.needed < quorum_.members && busy < quorum_.needed;
    if (split) attempt.retry_after = pause;
    return attempt;
  }
  const auto lasting = [](const auto& vote) {
    return vote && (vote->kind == Attempt::Kind::refused || vote->kind == Attempt::Kind::failed || vote->pointless);
  };
  const auto hopeless = static_cast<std::size_t>(std::ranges::count_if(votes_, lasting));
  attempt.kind = Attempt::Kind::not_sent;
  attempt.pointless = hopeless > quorum_.members - quorum_.needed;
  const auto stays = [](const auto& vote) { return vote && !vote->may_pass.value_or(true); };
  const auto staying = static_cast<std::size_t>(std::ranges::count_if(votes_, stays));
  attempt.may_pass = staying <= quorum_.members - quorum_.needed;
  // Missing acks are the only thing that keeps it from the quorum.
  const bool undurable = out_of_order > 0 && count(Attempt::Kind::not_durable) == out_of_order;
  attempt.error = undurable ? Errc::durability_not_met : Errc::no_quorum;
  // If one member is enough, this is not about a majority: report the trouble of the member that was asked.
  const auto first = std::ranges::find_if(votes_, [](const auto& vote) { return vote.has_value(); });
  if (quorum_.any() && first != votes_.end()) attempt.error = (*first)->error;
  return attempt;
}

std::string Ballot::text(const std::vector<std::string>& nodes) const {
  std::string out = std::to_string(count(Attempt::Kind::granted)) + " of " + std::to_string(quorum_.members) +
                    " servers granted it, " + std::to_string(quorum_.needed) + " are needed (";
  if (quorum_.any()) out = "none of " + std::to_string(quorum_.members) + " slots had a free one (";
  for (std::size_t i = 0; i < votes_.size(); ++i) out += (i == 0 ? "" : "; ") + nodes[i] + ": " + words(votes_[i]);
  return out + ")";
}

namespace {

bool is_lasting(const Attempt& vote) {
  return vote.kind == Attempt::Kind::refused || vote.kind == Attempt::Kind::failed;
}

}  // namespace

std::vector<std::size_t> Candidates::round(TimePoint now, bool listens) {
  std::vector<std::size_t> asked;
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const std::size_t slot = (turn_ + i) % seen_.size();
    if (!listens || now >= seen_[slot].rests_until) asked.push_back(slot);
  }
  if (asked.empty()) {  // the caller has a reason to ask anyway
    on_doubt();
    return round(now, listens);
  }
  std::ranges::sort(asked, {}, [this, first = turn_](std::size_t slot) {
    const Seen& seen = seen_[slot];
    return std::pair(seen.told ? 0 : seen.trouble ? 2 : 1, (slot + seen_.size() - first) % seen_.size());
  });
  turn_ = (turn_ + 1) % seen_.size();
  for (const std::size_t slot : asked) {
    seen_[slot].vote.reset();
    seen_[slot].told_in_round = false;
  }
  return asked;
}

void Candidates::on_vote(std::size_t slot, Attempt vote, TimePoint now) {
  Seen seen{.at = now, .trouble = vote.kind != Attempt::Kind::busy && vote.kind != Attempt::Kind::granted};
  seen.told = seen_[slot].told_in_round;  // a connection of its own for messages may be faster than the vote
  if (seen.trouble || (vote.kind == Attempt::Kind::busy && vote.subscribed)) seen.rests_until = now + rest_;
  if (vote.kind == Attempt::Kind::busy && vote.busy_for.count() >= 0) {
    seen.rests_until = std::min<TimePoint>(seen.rests_until, now + std::min(vote.busy_for, kLongestLease));
  }
  if (seen.told) seen.rests_until = {};
  if (vote.kind != Attempt::Kind::granted) seen.vote = std::move(vote);
  seen_[slot] = std::move(seen);
}

void Candidates::on_passed_over(std::size_t slot, TimePoint now) {
  seen_[slot].trouble = true;
  seen_[slot].rests_until = now + rest_;
}

void Candidates::on_release(std::size_t slot) {
  seen_[slot].told = seen_[slot].told_in_round = true;
  seen_[slot].rests_until = {};
}

void Candidates::on_doubt() {
  for (Seen& seen : seen_) seen.rests_until = {};
}

/// A permanent refusal is reported, as when one command requests all of them, even if another one might still become
/// free.
Attempt Candidates::result(const std::vector<std::string>& names, TimePoint now) const {
  Ballot ballot(quorum_);
  for (std::size_t slot = 0; slot < seen_.size(); ++slot) {
    if (!seen_[slot].vote) continue;
    Attempt vote = *seen_[slot].vote;
    if (is_lasting(vote)) {
      vote.kind = Attempt::Kind::refused;  // the caller undoes what it may have taken
      vote.cause = names[slot] + ": " + vote.cause;
      return vote;
    }
    if (vote.kind == Attempt::Kind::busy && vote.busy_for.count() >= 0) {
      const auto since = std::chrono::duration_cast<milliseconds>(now - seen_[slot].at);
      vote.busy_for = std::max(vote.busy_for - since, milliseconds(0));
    }
    ballot.record(slot, std::move(vote));
  }
  Attempt none = ballot.result(names, {});
  // Who waits for any one of them listens in each slot, so the largest count has them all.
  for (const Seen& seen : seen_) {
    if (seen.vote) none.listeners = std::max(none.listeners, seen.vote->listeners);
  }
  return none;
}

bool InTheWay::on_vote(std::size_t member, const Attempt& vote) {
  const bool released = found_[member] == Found::release;
  const bool given_back = vote.kind == Attempt::Kind::granted || vote.kind == Attempt::Kind::not_durable;
  found_[member] = given_back ? Found::nothing : vote.kind == Attempt::Kind::busy ? Found::taken : Found::silence;
  return released && on_release(member);
}

bool InTheWay::on_release(std::size_t member) {
  Found& found = found_[member];
  if (found == Found::no_vote) found = Found::release;
  if (found == Found::release || found == Found::nothing) return false;
  found = Found::nothing;
  const auto taken = static_cast<std::size_t>(std::ranges::count(found_, Found::taken));
  return quorum_.members - taken >= quorum_.needed;
}

}  // namespace holdfast::engine
