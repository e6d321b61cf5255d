// SPDX-License-Identifier: Apache-2.0
#include "lock/targets/any_target.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/entropy.hpp"
#include "lock/runtime/runtime.hpp"
#include "lock/targets/targets.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

std::string title_of(const std::vector<std::string>& names) {
  std::string title;
  for (const std::string& name : names) title += (title.empty() ? "" : ", ") + name;
  return title;
}

/// Chance, so that not all clients ask the same one first.
Candidates candidates(const std::vector<Member>& members) {
  const std::size_t slots = members.size();
  // The least time between two safety polls, so that each of those asks everywhere.
  const Duration rest = members.front().runtime->config().timing.safety_poll / 2;
  return {slots, rest, static_cast<std::size_t>(base::random_share() * static_cast<double>(slots))};
}

}  // namespace

/// Keeps itself alive until it has told its outcome.
class AnyTarget::Round : public std::enable_shared_from_this<Round> {
 public:
  Round(std::shared_ptr<AnyTarget> group, Order order, AttemptDone done)
      : group_(std::move(group)),
        order_(std::move(order)),
        done_(std::move(done)),
        until_(Clock::now() + order_.timeout),
        to_ask_(group_->let([&](Candidates& all) { return all.round(Clock::now(), order_.subscribe); })) {
    std::ranges::reverse(to_ask_);
  }

  void ask_next() {
    const TimePoint now = Clock::now();
    if (to_ask_.empty() || now >= until_) {
      const std::vector<std::string> nodes = nodes_of(group_->members_);
      Attempt none = group_->let([&](Candidates& all) { return all.result(nodes, now); });
      return std::exchange(done_, {})(std::move(none));
    }
    const std::size_t next = to_ask_.back();
    to_ask_.pop_back();
    Order order = order_;
    order.timeout = std::min(until_ - now, vote_timeout(group_->runtime().config(), order_.lease));
    target(next).attempt(std::move(order),
                         [self = shared_from_this(), next](Attempt vote) { self->on_vote(next, std::move(vote)); });
  }

 private:
  KeyTarget& target(std::size_t member) const { return *group_->members_[member].target; }

  void on_vote(std::size_t member, Attempt vote) {
    if (vote.kind == Attempt::Kind::granted) {
      std::size_t before = 0;
      for (std::size_t i = 0; i < member; ++i) before += target(i).locks();
      vote.grant.which = before + vote.grant.which.value_or(0);
      return std::exchange(done_, {})(std::move(vote));
    }
    if (vote.may_stand()) target(member).undo(order_.owner, order_.lease);
    if (vote.kind == Attempt::Kind::unknown || vote.kind == Attempt::Kind::not_sent) pass_over(target(member).shard());
    group_->let([&](Candidates& all) { all.on_vote(member, std::move(vote), Clock::now()); });
    ask_next();
  }
  /// That would cost as much time for each of its slots.
  void pass_over(const redis::Shard& silent) {
    std::erase_if(to_ask_, [&](std::size_t member) {
      if (!target(member).stands_on(silent)) return false;
      group_->let([&](Candidates& all) { all.on_passed_over(member, Clock::now()); });
      return true;
    });
  }

  const std::shared_ptr<AnyTarget> group_;
  const Order order_;
  AttemptDone done_;
  const TimePoint until_;
  std::vector<std::size_t> to_ask_;  // the last one is next
};

AnyTarget::AnyTarget(std::vector<std::string> names, std::vector<Member> members)
    : Target(title_of(names)),
      names_(std::move(names)),
      members_(std::move(members)),
      candidates_(candidates(members_)) {}

bool AnyTarget::stands_on(const redis::Shard& shard) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return member.target->stands_on(shard); });
}

bool AnyTarget::lies_in(const Runtime& client, const redis::cluster::SlotSet& slots) const {
  return std::ranges::any_of(members_, [&](const Member& member) { return member.target->lies_in(client, slots); });
}

/// A connection is new, or slots have moved.
void AnyTarget::wake() {
  let([](Candidates& all) { all.on_doubt(); });
  Target::wake();
}

void AnyTarget::on_part_free(const KeyTarget& part) {
  if (plan().each != &part.plan()) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].target->has(part.name())) continue;
    let([i](Candidates& all) { all.on_release(i); });
    return Target::wake();
  }
}

std::shared_ptr<Target> AnyTarget::granted(const wire::Grant& grant) {
  wire::Grant its = grant;
  std::size_t member = 0;
  for (; *its.which >= members_[member].target->locks(); ++member) *its.which -= members_[member].target->locks();
  return members_[member].target->granted(its);
}

bool AnyTarget::subscribed(const wire::Owner& waiter) const {
  return std::ranges::all_of(members_, [&](const Member& member) { return member.target->subscribed(waiter); });
}

/// What was told before nobody has heard.
Target::Use AnyTarget::begin_use(const wire::Owner& waiter, const Listener& listener) {
  let([](Candidates& all) { all.on_doubt(); });
  const auto uses = std::make_shared<std::vector<Use>>();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    uses->push_back(members_[i].target->begin_use(waiter, [weak = weak_from_this(), i, listener](Busy busy) {
      const auto group = std::static_pointer_cast<AnyTarget>(weak.lock());
      if (!group || busy) return;  // others may do
      group->let([i](Candidates& all) { all.on_release(i); });
      listener({});
    }));
  }
  return uses;
}

/// Every round has an owner of its own, as for a group: releases of an earlier round that are still being repeated must
/// not hit a later one.
void AnyTarget::attempt(Order order, AttemptDone done) {
  order.owner.text = runtime().make_owner().text;
  const auto group = std::static_pointer_cast<AnyTarget>(shared_from_this());
  std::make_shared<Round>(group, std::move(order), std::move(done))->ask_next();
}

void AnyTarget::undo(const wire::Owner& owner, milliseconds lease) noexcept {
  for (const Member& member : members_) member.target->undo(owner, lease);
}

std::shared_ptr<Target> any_of(const std::shared_ptr<Runtime>& client, Targets& its,
                               const std::vector<std::string>& names, const Plan& plan) {
  std::map<std::uint16_t, std::vector<std::string>> slots;
  for (const std::string& name : names) slots[its.slot_of(name, plan)].push_back(name);
  if (slots.size() == 1) return its.target(names, plan);
  std::vector<Member> members;
  for (const auto& [slot, its_names] : slots) members.push_back({client, its.target(its_names, plan)});
  return only_one_of(its, std::make_shared<AnyTarget>(names, std::move(members)));
}

std::shared_ptr<Target> only_one_of(Targets& its, const std::shared_ptr<AnyTarget>& made) {
  return its.only_one_of(made, [&](const Target& other) {
    const auto* const same = dynamic_cast<const AnyTarget*>(&other);
    return same != nullptr && same->names() == made->names() && &same->plan() == &made->plan();
  });
}

}  // namespace holdfast::engine
