// SPDX-License-Identifier: Apache-2.0
#include "lock/decide/group_commit.hpp"

#include <algorithm>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::engine {
namespace {

/// A time limit this close counts as reached: no WAIT is shorter, since 0 means for ever.
constexpr milliseconds kShortest{1};

std::string milliseconds_text(Duration time) {
  return std::to_string(std::chrono::duration_cast<milliseconds>(time).count()) + " ms";
}

void decide(Confirm& confirm, std::error_code error, std::string cause, bool for_good = false) {
  confirm.found.error = error;
  confirm.found.cause = std::move(cause);
  confirm.found.for_good = for_good;
  confirm.decided = true;
}

Confirms take_decided(Confirms& from) noexcept {
  Confirms decided;
  for (auto next = from.begin(); next != from.end();) {
    const auto here = next++;
    if (here->decided) decided.splice(decided.end(), from, here);
  }
  return decided;
}

}  // namespace

Attempt as_confirmed(Attempt attempt, const Confirmed& confirmed, std::uint32_t era) {
  using Kind = Attempt::Kind;
  if (confirmed.gone()) {
    attempt.kind = Kind::unknown;
    attempt.error = Errc::unknown_outcome;
    attempt.cause = "the grant was gone again when its acks were asked for";
  } else if (confirmed.acked && confirmed.era == era) {
    attempt.acks_era = era;
  } else if (confirmed.acked) {
    attempt.kind = Kind::unknown;
    attempt.error = Errc::unknown_outcome;
    attempt.cause = "the connection was lost while acks were asked for";
  } else if (confirmed.for_good) {
    attempt.kind = Kind::failed;
    attempt.may_pass = false;
    attempt.error = confirmed.error;
    attempt.cause = confirmed.cause;
  } else {
    attempt.kind = Kind::not_durable;
    attempt.error = Errc::durability_not_met;
    attempt.cause = confirmed.cause;
  }
  return attempt;
}

bool GroupCommit::fits(const Batch::Command& command, const Confirm& confirm) const {
  return !confirm.alone && !command.parts.front()->alone && command.plan == confirm.plan &&
         command.lease == confirm.lease && command.slot == confirm.slot &&
         command.locks + confirm.renewals.size() <= most_locks_;
}

std::optional<GroupCommit::Batch> GroupCommit::next(TimePoint now, const ReplicaCount& replicas) {
  if (!under_way_.empty() || waiting_.empty()) return std::nullopt;
  Batch batch;
  TimePoint acks_until = TimePoint::max();
  TimePoint until = TimePoint::max();
  std::vector<std::vector<Confirms::iterator>> taken;
  for (auto confirm = waiting_.begin(); confirm != waiting_.end(); ++confirm) {
    if (now < confirm->not_before) continue;
    auto command = std::ranges::find_if(batch.commands, [&](const auto& each) { return fits(each, *confirm); });
    if (command == batch.commands.end()) {
      if (batch.commands.size() == kMostCommands) break;
      command = batch.commands.insert(command, {confirm->plan, confirm->lease, confirm->slot});
      taken.emplace_back();
    }
    command->parts.push_back(&*confirm);
    command->locks += confirm->renewals.size();
    taken[static_cast<std::size_t>(command - batch.commands.begin())].push_back(confirm);
    acks_until = std::min(acks_until, confirm->acks_until);
    until = std::min(until, confirm->until);
  }
  if (taken.empty()) return std::nullopt;
  sizes_.clear();
  sizes_.reserve(taken.size());
  for (const auto& command : taken) {
    for (const auto confirm : command) under_way_.splice(under_way_.end(), waiting_, confirm);
    sizes_.push_back(command.size());
  }
  batch.number = ++number_;
  batch.ask_replicas = counts_replicas(acks_) && replicas.to_be_asked(now);
  batch.acks = acks_needed(acks_, replicas.count().value_or(0));
  batch.wait = std::max(std::chrono::duration_cast<milliseconds>(std::min(acks_until - now, longest_wait_)), kShortest);
  batch.timeout = std::max<Duration>(until - now, kShortest);
  return batch;
}

Confirms GroupCommit::on_reply(TimePoint now, const CommitReply& reply, ReplicaCount& replicas) {
  if (reply.replicas) replicas.on_told(*reply.replicas, now);
  if (reply.batch != number_) return {};
  const bool answered = reply.kind == CommitReply::Kind::answered;
  const CommitReply::Renewal none;
  auto confirm = under_way_.begin();
  for (std::size_t command = 0; command < sizes_.size(); ++command) {
    const CommitReply::Renewal& whole = answered ? reply.commands[command] : none;
    auto next_lock = whole.extended.begin();
    for (std::size_t i = 0; i < sizes_[command]; ++i, ++confirm) {
      CommitReply::Renewal part{{}, whole.refused, whole.era};
      if (!whole.extended.empty()) {
        const auto first = next_lock;
        next_lock += static_cast<std::ptrdiff_t>(confirm->renewals.size());
        part.extended.assign(first, next_lock);
      }
      judge(*confirm, now, reply, part, sizes_[command] > 1, replicas);
      if (confirm->decided && !confirm->found.acked && counts_replicas(acks_)) replicas.ask_again();
    }
  }
  Confirms decided = take_decided(under_way_);
  waiting_.splice(waiting_.begin(), under_way_);  // they came first
  return decided;
}

void GroupCommit::judge(Confirm& confirm, TimePoint now, const CommitReply& reply, const CommitReply::Renewal& renewal,
                        bool shared, const ReplicaCount& replicas) const {
  confirm.found = {};
  confirm.found.sent_at = reply.sent_at;
  confirm.found.era = renewal.era;
  if (reply.kind != CommitReply::Kind::answered) {
    // For commands that were not sent, the lane decides whether to keep trying.
    if (reply.kind == CommitReply::Kind::unknown && now < confirm.until) return;
    const bool asked = reply.kind == CommitReply::Kind::unknown;
    return decide(confirm, Errc::durability_not_met,
                  (asked ? "no acks came: " : "acks could not be asked for: ") + reply.cause);
  }
  if (renewal.extended.empty()) {
    confirm.found.for_one = renewal.refused.for_one;
    confirm.found.elsewhere = renewal.refused.elsewhere && now < confirm.until;
    if (shared && !confirm.found.elsewhere && !confirm.alone && now < confirm.until) {
      confirm.alone = true;
      return;
    }
    return decide(confirm, renewal.refused.error, renewal.refused.cause, renewal.refused.for_good);
  }
  confirm.found.extended = renewal.extended;
  judge_acks(confirm, now, reply, replicas);
  if (confirm.found.gone()) confirm.decided = true;
}

void GroupCommit::judge_acks(Confirm& confirm, TimePoint now, const CommitReply& reply,
                             const ReplicaCount& replicas) const {
  if (reply.refused.error) return decide(confirm, reply.refused.error, reply.refused.cause, reply.refused.for_good);
  if (reply.resent) return miss(confirm, now, "the server had forgotten a script");
  const std::string time = milliseconds_text(confirm.acks_until - confirm.asked_at);
  const long long acks = reply.acks.value_or(0);
  if (acks_.level() == Acks::Level::aof) {
    confirm.decided = confirm.found.acked = acks > 0;
    if (acks > 0) return;
    return miss(confirm, now, "the primary's append-only file was not on disk within " + time);
  }
  const std::optional<int> count = replicas.count();
  if (counts_replicas(acks_) && count.value_or(0) == 0) {
    return decide(confirm, Errc::durability_not_met,
                  count ? "the primary has no replicas" : "the primary does not say how many replicas it has");
  }
  const int needed = acks_needed(acks_, count.value_or(0));
  confirm.decided = confirm.found.acked = acks >= needed;
  if (confirm.decided) return;
  miss(confirm, now,
       std::to_string(acks) + " of " + std::to_string(needed) + (needed == 1 ? " replica has" : " replicas have") +
           " confirmed it within " + time);
}

/// Not confirmed this time; perhaps with the next batch.
void GroupCommit::miss(Confirm& confirm, TimePoint now, std::string cause) const {
  if (now + kShortest < confirm.acks_until) return;
  decide(confirm, Errc::durability_not_met, std::move(cause));
}

Confirms GroupCommit::on_time(TimePoint now) {
  for (Confirm& confirm : waiting_) {
    if (now < confirm.until) continue;
    decide(confirm, Errc::durability_not_met,
           "acks could not be asked for within " + milliseconds_text(confirm.until - confirm.asked_at));
  }
  return take_decided(waiting_);
}

TimePoint GroupCommit::due() const {
  TimePoint due = TimePoint::max();
  for (const Confirm& confirm : waiting_) {
    const bool pauses = under_way_.empty() && confirm.not_before != TimePoint{};
    due = std::min(due, pauses ? std::min(confirm.not_before, confirm.until) : confirm.until);
  }
  return due;
}

Confirms GroupCommit::take_moved(const std::function<bool(std::uint16_t slot)>& moved) {
  Confirms taken;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto here = next++;
    if (moved(here->slot)) taken.splice(taken.end(), waiting_, here);
  }
  for (Confirm& here : under_way_) {
    if (here.taken || !moved(here.slot)) continue;
    Confirm place;  // stays in the batch instead
    place.renewals = here.renewals;
    place.taken = true;
    taken.push_back(std::exchange(here, std::move(place)));
  }
  for (Confirm& each : taken) {
    each.alone = each.decided = false;
    each.found = {};
  }
  return taken;
}

Confirms GroupCommit::take_under_way() noexcept {
  sizes_.clear();
  return std::exchange(under_way_, {});
}

Confirms GroupCommit::take_all() noexcept {
  Confirms all = take_under_way();
  all.splice(all.end(), waiting_);
  return all;
}

}  // namespace holdfast::engine
