// SPDX-License-Identifier: Apache-2.0
#include "face/parts.hpp"

#include <chrono>
#include <utility>

#include <holdfast/error.hpp>

#include "lock/hold/acquire.hpp"
#include "lock/hold/hold_events.hpp"

namespace holdfast::face {

Error error_about(const engine::Target& target, std::error_code error, std::string cause,
                  std::optional<bool> may_pass) {
  return {static_cast<Errc>(error.value()), target.name(), target.where(), std::move(cause), may_pass};
}

Error error_about(const engine::Target& target, engine::Acquired&& failed) {
  return error_about(target, failed.error, std::move(failed.cause), failed.may_pass);
}

void require_valid(engine::Claim& held) {
  if (std::chrono::floor<std::chrono::milliseconds>(engine::valid_for(held)).count() > 0) return;
  throw error_about(*held.target(), Errc::lost, {});
}

NotGranted reason_of(std::error_code error) {
  if (error == Errc::timed_out) return NotGranted::timed_out;
  if (error == Errc::cancelled) return NotGranted::stopped;
  return error == Errc::crowded ? NotGranted::crowded : NotGranted::busy;
}

namespace {

// These functions name all members, so that adding one does not compile until it is handled here.

bool are_empty(const LockOptions& options) {
  const auto& [wait, lease, max_hold, acks, stop, on_lost, reentrant, max_waiters, end_waits] = options;
  return !wait && !lease && !max_hold && !acks && stop == std::stop_token() && !on_lost && !reentrant && !max_waiters &&
         !end_waits;
}

LockOptions with_defaults(LockOptions options, const LockOptions& defaults) {
  auto& [wait, lease, max_hold, acks, stop, on_lost, reentrant, max_waiters, end_waits] = options;
  AcquireOptions common = face::with_defaults(
      AcquireOptions{wait, lease, max_hold, acks, std::move(stop), std::move(on_lost), max_waiters, end_waits},
      defaults);
  return {common.wait,
          common.lease,
          common.max_hold,
          common.acks,
          std::move(common.stop),
          std::move(common.on_lost),
          reentrant ? reentrant : defaults.reentrant,
          common.max_waiters,
          common.end_waits};
}

}  // namespace

AcquireOptions with_defaults(AcquireOptions options, const LockOptions& defaults) {
  auto& [wait, lease, max_hold, acks, stop, on_lost, max_waiters, end_waits] = options;
  if (!wait) wait = defaults.wait;
  if (!lease) lease = defaults.lease;
  if (!max_hold) max_hold = defaults.max_hold;
  if (!acks) acks = defaults.acks;
  if (stop == std::stop_token()) stop = defaults.stop;
  if (!on_lost) on_lost = defaults.on_lost;
  if (!max_waiters) max_waiters = defaults.max_waiters;
  if (!end_waits) end_waits = defaults.end_waits;
  return options;
}

detail::PartsPtr make_parts(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<engine::Target> target,
                            LockOptions defaults, const wire::Ask& ask) {
  static_cast<void>(engine::lease_terms(*runtime, with_defaults(AcquireOptions(), defaults), target->name()));
  if (defaults.reentrant.value_or(false) && !target->plan().traits.reentrant) {
    throw Error(Errc::invalid_argument, target->name(), runtime->node(), "locks of this kind are not re-entrant");
  }
  engine::Meter& meter = runtime->reporter().meter;
  if (meter.classifies() && target->lock_class() == 0) target->set_lock_class(meter.class_of(target->name()));
  std::unique_ptr<const LockOptions> some;
  if (!are_empty(defaults)) some = std::make_unique<const LockOptions>(std::move(defaults));
  return std::make_shared<const detail::Parts>(
      detail::Parts{std::move(runtime), std::move(target), std::move(some), ask});
}

bool end_waits(const detail::Parts& parts, std::optional<bool> own) {
  return own.value_or(!parts.defaults || parts.defaults->end_waits.value_or(true));
}

detail::PartsPtr make_parts(const detail::Parts& from, LockOptions defaults, const wire::Ask& ask) {
  if (from.defaults) defaults = with_defaults(std::move(defaults), *from.defaults);
  return make_parts(from.runtime, from.target, std::move(defaults), ask);
}

}  // namespace holdfast::face
