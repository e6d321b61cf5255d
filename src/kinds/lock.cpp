#include "kinds/kinds.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::kinds {

const engine::Plan kLock{
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::lock::acquire,
                    .release = wire::lock::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::lock::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder},
};

}  // namespace holdfast::kinds
