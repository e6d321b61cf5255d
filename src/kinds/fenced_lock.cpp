#include "kinds/kinds.hpp"
#include "wire/fenced_calls.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::kinds {

// Not passable: every grant needs a token of its own.
const engine::Plan kFencedLock{
    .traits = {.passable = false},
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::fenced::acquire,
                    .decode_acquire = wire::fenced::decode_acquire,
                    .release = wire::lock::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::lock::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder,
                  .latest_token = wire::fenced::latest_token,
                  .decode_latest_token = wire::fenced::decode_latest_token},
};

}  // namespace holdfast::kinds
