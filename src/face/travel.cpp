// SPDX-License-Identifier: Apache-2.0
// Hold::extend and detach, and KeyLock::adopt.
#include "face/travel.hpp"

#include <holdfast/detail/hold_access.hpp>
#include <holdfast/error.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/lock.hpp>

#include "base/text.hpp"
#include "face/parts.hpp"
#include "kinds/kinds.hpp"
#include "kinds/leased_semaphore.hpp"
#include "lock/hold/acquire.hpp"
#include "lock/hold/changes.hpp"
#include "lock/hold/hold_events.hpp"
#include "lock/hold/hold_release.hpp"

namespace holdfast {
namespace {

/// Empty: a hold of this kind is not described by one owner and one name.
std::optional<Ticket::Kind> kind_of(const engine::Target& target) {
  if (!target.batch_place() || target.locks() != 1) return std::nullopt;
  const engine::Plan* const plan = &target.plan();
  if (plan == &kinds::kLock) return Ticket::Kind::lock;
  if (plan == &kinds::kFencedLock) return Ticket::Kind::fenced;
  if (plan == &kinds::kFairLock) return Ticket::Kind::fair;
  if (plan == &kinds::kSimpleLock) return Ticket::Kind::simple;
  if (plan == &kinds::kLeasedSemaphore) return Ticket::Kind::permit;
  return std::nullopt;
}

Error refusal(const engine::Target& target, std::string cause) {
  return face::error_about(target, Errc::invalid_argument, std::move(cause));
}

/// The number of permits is that of the ids.
wire::Owner owner_of(const engine::Target& target, const Ticket& ticket) {
  wire::Owner owner{ticket.owner};
  if (ticket.kind != Ticket::Kind::permit) return owner;
  const std::size_t permits = wire::permits::ids_of(owner).size();
  if (permits == 0 || permits > wire::permits::kMostPermits) throw refusal(target, "the ticket names no permits");
  owner.ask.permits = static_cast<std::uint32_t>(permits);
  return owner;
}

const engine::Claim& required(const std::shared_ptr<engine::Claim>& held) {
  if (!held) throw Error(Errc::not_owner, {}, {}, "the hold is empty");
  return *held;
}

}  // namespace

void face::require_extendable(const std::shared_ptr<engine::Claim>& held, std::chrono::milliseconds lease) {
  const engine::Target& target = *required(held).target();
  if (held->tenancy().renewed()) throw refusal(target, "the hold is renewed: only a fixed lease can be extended");
  if (!target.batch_place()) throw refusal(target, "a hold on several servers cannot be extended");
  if (lease < engine::kShortestLease || lease > engine::kLongestLease) {
    throw refusal(target, "a lease of " + std::to_string(lease.count()) + " ms; it must be between 10 ms and 10 years");
  }
  face::require_valid(*held);
}

face::Adoption face::adoption_of(const detail::Parts& parts, std::string_view ticket, const AdoptOptions& options) {
  const engine::Target& target = *parts.target;
  const Ticket given = Ticket::parse(ticket);
  const std::optional<Ticket::Kind> kind = kind_of(target);
  if (kind != given.kind || given.name != target.name()) {
    throw refusal(
        target, std::string("the ticket is of another lock: ") + to_string(given.kind) + " " + base::quote(given.name));
  }
  AcquireOptions all{
      .lease = options.lease, .max_hold = options.max_hold, .acks = options.acks, .on_lost = options.on_lost};
  if (parts.defaults) all = face::with_defaults(std::move(all), *parts.defaults);
  const Lease lease = all.lease.value_or(Lease());
  if (!lease.length()) all.lease = Lease(lease.kind(), given.lease);
  return {{owner_of(target, given), given.token, std::nullopt},
          engine::lease_terms(*parts.runtime, all, target.name()),
          std::move(all.on_lost)};
}

void Hold::extend(std::chrono::milliseconds lease) {
  face::require_extendable(held_, lease);
  engine::Changed extended = engine::extend(*held_, lease);
  if (extended.error) throw face::error_about(*held_->target(), extended.error, std::move(extended.cause));
}

std::string Hold::detach() {
  const engine::Target& target = *required(held_).target();
  const std::optional<Ticket::Kind> kind = kind_of(target);
  if (!kind) throw refusal(target, "a hold of this kind of lock cannot be detached");
  throw_if_lost();
  const engine::Tenancy& tenancy = held_->tenancy();
  const Ticket ticket{*kind, target.name(), tenancy.owner().text, tenancy.token(), tenancy.lease()};
  std::string text = ticket.text();
  const bool stood = engine::detach(*held_);
  outcome_ = stood ? ReleaseOutcome::left : ReleaseOutcome::was_lost;
  loss_ = engine::checked(*held_).loss_reason();
  const std::shared_ptr<engine::Claim> held = std::move(held_);
  if (!stood) throw face::error_about(*held->target(), Errc::lost, {});
  return text;
}

Hold KeyLock::adopt(std::string_view ticket, const AdoptOptions& options) const {
  face::Adoption adoption = face::adoption_of(*parts(), ticket, options);
  engine::Acquired adopted =
      engine::adopt(parts()->runtime, parts()->target, std::move(adoption.grant), adoption.lease, adoption.on_lost);
  if (adopted.error) throw face::error_about(*parts()->target, std::move(adopted));
  return detail::HoldAccess::make(std::move(adopted.held), face::end_waits(*parts()));
}

}  // namespace holdfast
