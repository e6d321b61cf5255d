// SPDX-License-Identifier: Apache-2.0
#include "sim/ledger.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test::sim {
namespace {

/// What was given up has come back by then, if its client lives, and no fault lasts longer.
constexpr base::Duration kBack = std::chrono::minutes(1);

}  // namespace

Ledger::Ledger(World& world, const Plan& plan, Sight sight) : world_(world), plan_(plan), sight_(std::move(sight)) {
  for (int lock = 0; lock < plan.locks; ++lock) accounts_.push_back({.total = plan.total(lock)});
}

Ledger::UseId Ledger::asks(int lock, std::int64_t permits, const Process& process) {
  return uses_.insert(uses_.end(), {.lock = lock, .permits = permits, .process = &process, .since = world_.now()});
}

void Ledger::enter(UseId use, Use::State state) {
  use->state = state;
  use->since = world_.now();
}

void Ledger::got_nothing(UseId use) {
  if (!use->cut_short) return enter(use, Use::State::given_up);
  accounts_[static_cast<std::size_t>(use->lock)].perhaps_gone += use->permits;
  uses_.erase(use);
}

void Ledger::gave(UseId use, bool known) {
  if (!known) accounts_[static_cast<std::size_t>(use->lock)].perhaps_gone += use->permits;
  uses_.erase(use);
}

void Ledger::killed(const Process& process) {
  std::erase_if(uses_, [&](const Use& use) {
    if (use.process != &process) return false;
    Account& account = accounts_[static_cast<std::size_t>(use.lock)];
    const bool in_hand = use.state == Use::State::in_hand;
    const bool back = use.state == Use::State::given_up && world_.now() - use.since > kBack;
    if (!back) (in_hand ? account.gone : account.perhaps_gone) += use.permits;
    return true;
  });
}

void Ledger::closed(const Process& process) {
  for (auto use = uses_.begin(); use != uses_.end();) {
    const auto each = use++;
    if (each->process != &process) continue;
    each->cut_short = each->state != Use::State::in_hand;
    if (each->state == Use::State::given_up) got_nothing(each);
  }
}

void Ledger::passes(int lock) {
  const Account& account = accounts_[static_cast<std::size_t>(lock)];
  if (account.begun >= account.total) return;
  found("early", "somebody has passed latch " + std::to_string(lock) + " after " + std::to_string(account.begun) +
                     " of " + std::to_string(account.total) + " steps");
}

void Ledger::look_at_all(bool at_rest) {
  if (finding_) return;
  for (int lock = 0; lock < plan_.locks; ++lock) {
    const Account& account = accounts_[static_cast<std::size_t>(lock)];
    if (plan_.kind == LockKind::semaphore) look_at_semaphore(lock, account, at_rest);
    if (plan_.kind == LockKind::permits) look_at_permits(lock, account);
    if (plan_.kind == LockKind::latch) look_at_latch(lock, account);
  }
}

void Ledger::look_at_semaphore(int lock, const Account& account, bool at_rest) {
  const std::int64_t there = sight_.number(lock);
  std::int64_t in_hand = 0;
  for (const Use& use : uses_) {
    if (use.lock == lock && use.state == Use::State::in_hand) in_hand += use.permits;
  }
  const std::string of = " of " + std::to_string(account.total) + " permits of semaphore " + std::to_string(lock);
  if (in_hand > account.total) found("permits", std::to_string(in_hand) + of + " are used at once");
  if (there + in_hand + account.gone > account.total) {
    found("created", "there are " + std::to_string(there) + of + ", and " + std::to_string(in_hand) + " are used, " +
                         std::to_string(account.gone) + " died with their users");
  }
  if (at_rest && there + account.gone + account.perhaps_gone < account.total) {
    found("lost", "there are " + std::to_string(there) + of + " when nobody has any; " +
                      std::to_string(account.gone + account.perhaps_gone) + " may have died with their users");
  }
}

/// Available, held, and over: all of them are there at any time.
void Ledger::look_at_permits(int lock, const Account& account) {
  if (adds_up(lock)) return;
  found("conservation", std::to_string(sight_.number(lock)) + " permits of semaphore " + std::to_string(lock) +
                            " are there and " + std::to_string(sight_.leased(lock)) + " are leased, of " +
                            std::to_string(account.total));
}

void Ledger::look_at_latch(int lock, const Account& account) {
  const std::int64_t left = sight_.number(lock);
  const auto after = [&account](std::int64_t steps) { return std::max<std::int64_t>(account.total - steps, 0); };
  if (left >= after(account.begun) && left <= after(account.made)) return;
  found("steps", "latch " + std::to_string(lock) + " has " + std::to_string(left) + " steps left of " +
                     std::to_string(account.total) + "; " + std::to_string(account.begun) + " were begun, and " +
                     std::to_string(account.made) + " answered");
}

void Ledger::found(std::string promise, std::string what) {
  if (!finding_ && !plan_.forgets()) finding_ = {std::move(promise), std::move(what)};
}

}  // namespace holdfast::test::sim
