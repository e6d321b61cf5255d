#include "kinds/simple_lock.hpp"

#include "wire/simple_calls.hpp"

namespace holdfast::kinds {

const engine::Plan kSimpleLock{
    .traits = {.reentrant = false, .announced = false, .exclusive = true, .passable = true, .repeatable = true},
    .transitions = {.names = wire::simple::names,
                    .acquire = wire::simple::acquire,
                    .decode_acquire = wire::decode_acquire,
                    .release = wire::simple::release,
                    .decode_release = wire::decode_release,
                    .renew = wire::simple::renew,
                    .force_release = wire::simple::force_release},
    .questions = {.ask_owner = [](std::string_view key, std::string_view) { return wire::simple::holder(key); },
                  .is_owner = [](const base::Reply& reply, std::string_view owner) { return reply.text == owner; },
                  .holder = wire::simple::holder,
                  .decode_holder = wire::simple::decode_holder},
};

}  // namespace holdfast::kinds
