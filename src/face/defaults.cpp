#include "face/defaults.hpp"

namespace holdfast::face {

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

}  // namespace holdfast::face
