#include "kinds/kinds.hpp"
#include "wire/any_calls.hpp"
#include "wire/lock_calls.hpp"

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
