#include "kinds/kinds.hpp"
#include "wire/lock_calls.hpp"
#include "wire/spin_calls.hpp"

namespace holdfast::kinds {

const engine::Plan kSpinLock{
    .traits = {.announced = engine::Traits::Announced::none},
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::lock::acquire,
                    .release = wire::spin::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::spin::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder},
};

}  // namespace holdfast::kinds
