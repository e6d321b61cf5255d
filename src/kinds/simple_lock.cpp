#include "kinds/simple_lock.hpp"

#include "wire/simple_calls.hpp"

namespace holdfast::kinds {

using Names = engine::Plan::Names;
using std::chrono::milliseconds;

const engine::Plan kSimpleLock{
    .names = wire::simple::names,
    .acquire =
        [](Names names, const wire::Owner& owner, milliseconds lease, bool) {
          return names.size() == 1 ? wire::simple::acquire(names.front(), owner, lease)
                                   : wire::simple::acquire_all(names, owner, lease);
        },
    .decode_acquire = wire::decode_acquire,
    .release =
        [](Names names, const wire::Owner& owner) {
          return names.size() == 1 ? wire::simple::release(names.front(), owner)
                                   : wire::simple::release_all(names, owner);
        },
    .decode_release = wire::decode_release,
    .renew = wire::simple::renew,
    .force_release = wire::simple::force_release,
    .count = wire::simple::length,
    .ask_owner = [](std::string_view key, std::string_view) { return wire::simple::holder(key); },
    .is_owner = [](const base::Reply& reply, std::string_view owner) { return reply.text == owner; },
    .holder = wire::simple::holder,
    .decode_holder = wire::simple::decode_holder,
    .reentrant = false,
    .announced = false,
};

}  // namespace holdfast::kinds
