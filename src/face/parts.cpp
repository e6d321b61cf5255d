#include "face/parts.hpp"

#include <chrono>
#include <utility>

#include <holdfast/error.hpp>

#include "engine/acquire/acquire.hpp"
#include "engine/hold/hold_events.hpp"

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

// Both functions name all members, so that adding one does not compile until it is handled here.

bool are_empty(const AcquireOptions& options) {
  const auto& [wait, lease, max_hold, acks, stop, on_lost, reentrant, max_waiters] = options;
  return !wait && !lease.given() && !max_hold && !acks && stop == std::stop_token() && !on_lost && !reentrant &&
         !max_waiters;
}

AcquireOptions with_defaults(AcquireOptions options, const AcquireOptions& defaults) {
  auto& [wait, lease, max_hold, acks, stop, on_lost, reentrant, max_waiters] = options;
  if (!wait) wait = defaults.wait;
  if (!lease.given()) lease = defaults.lease;
  if (!max_hold) max_hold = defaults.max_hold;
  if (!acks) acks = defaults.acks;
  if (stop == std::stop_token()) stop = defaults.stop;
  if (!on_lost) on_lost = defaults.on_lost;
  if (!reentrant) reentrant = defaults.reentrant;
  if (!max_waiters) max_waiters = defaults.max_waiters;
  return options;
}

detail::PartsPtr make_parts(std::shared_ptr<engine::Runtime> runtime, std::shared_ptr<engine::Target> target,
                            AcquireOptions defaults, const wire::Ask& ask) {
  static_cast<void>(engine::lease_terms(*runtime, defaults, target->name()));
  if (defaults.reentrant.value_or(false) && !target->plan().traits.reentrant) {
    throw Error(Errc::invalid_argument, target->name(), runtime->node(), "locks of this kind are not re-entrant");
  }
  engine::Meter& meter = runtime->reporter().meter;
  if (meter.classifies() && target->lock_class() == 0) target->set_lock_class(meter.class_of(target->name()));
  std::unique_ptr<const AcquireOptions> some;
  if (!are_empty(defaults)) some = std::make_unique<const AcquireOptions>(std::move(defaults));
  return std::make_shared<const detail::Parts>(
      detail::Parts{std::move(runtime), std::move(target), std::move(some), ask});
}

}  // namespace holdfast::face
