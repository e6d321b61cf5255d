// SPDX-License-Identifier: Apache-2.0
#include "kinds/any_lock.hpp"

#include "kinds/kinds.hpp"
#include "kinds/lock.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::any {

base::Command acquire(const AcquireCall& call) { return wire::acquire(scripts::lock_acquire_any, call); }

AcquireReply decode_acquire(const base::Reply& reply) {
  const bool has_two = reply.is_array() && reply.elements.size() == 2;
  if (has_two && reply.elements[0].integer == -1 && reply.elements[1].integer > 0) {
    AcquireReply granted{true, std::nullopt};
    granted.grant.which = static_cast<std::size_t>(reply.elements[1].integer - 1);
    return granted;
  }
  return reply.is_array() ? wire::decode_acquire(reply) : AcquireReply{};
}

base::Command release(const ReleaseCall& call) { return wire::release(scripts::lock_release_any, call); }

}  // namespace holdfast::wire::any

namespace holdfast::kinds {

// Not re-entrant, since it is undefined which one would be re-entered. Not passed on, since they are never held
// together.
const engine::Plan kAnyLock{
    .traits = {.reentrant = false, .passable = false},
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::any::acquire,
                    .decode_acquire = wire::any::decode_acquire,
                    .release = wire::any::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::lock::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder},
    .each = &kLock,
};

}  // namespace holdfast::kinds
