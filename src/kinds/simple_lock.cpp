#include "kinds/kinds.hpp"
#include "wire/simple_calls.hpp"

namespace holdfast::kinds {

const engine::Plan kSimpleLock{
    .traits = {.reentrant = false, .announced = engine::Traits::Announced::some},
    .transitions = {.names = wire::simple::names,
                    .acquire = wire::simple::acquire,
                    .release = wire::simple::release,
                    .renew = wire::simple::renew,
                    .force_release = wire::simple::force_release},
    .questions = {.ask_owner = [](std::string_view key, const wire::Owner&) { return wire::simple::holder(key); },
                  .is_owner =
                      [](const base::Reply& reply, const wire::Owner& owner) {
                        return reply.is_null() || reply.is_text() ? std::optional(reply.text == owner.text)
                                                                  : std::nullopt;
                      },
                  .holder = wire::simple::holder,
                  .decode_holder = wire::simple::decode_holder},
};

}  // namespace holdfast::kinds
