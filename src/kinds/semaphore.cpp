#include "kinds/kinds.hpp"
#include "wire/semaphore_calls.hpp"

namespace holdfast::kinds {

const engine::Plan kSemaphore{
    .traits = {.reentrant = false, .holders = engine::Traits::Holders::several, .repeatable = false, .holds = false},
    .transitions = {.names = wire::semaphore::names,
                    .acquire = wire::semaphore::acquire,
                    .decode_acquire = wire::semaphore::decode_acquire,
                    .release = wire::semaphore::release},
};

}  // namespace holdfast::kinds
