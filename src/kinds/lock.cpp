#include "kinds/lock.hpp"

#include "wire/lock_calls.hpp"

namespace holdfast::kinds {

using Names = engine::Plan::Names;
using std::chrono::milliseconds;

const engine::Plan kLock{
    .names = [](std::string raw_name) { return wire::LockNames(std::move(raw_name)); },
    .acquire =
        [](Names names, const wire::Owner& owner, milliseconds lease, bool count) {
          return names.size() == 1 ? wire::acquire(names.front(), owner, lease, count)
                                   : wire::acquire_all(names, owner, lease);
        },
    .decode_acquire = wire::decode_acquire,
    .release =
        [](Names names, const wire::Owner& owner) {
          return names.size() == 1 ? wire::release(names.front(), owner) : wire::release_all(names, owner);
        },
    .decode_release = wire::decode_release,
    .renew = wire::renew,
    .force_release = wire::force_release,
    .count = wire::count_fields,
    .ask_owner = wire::has_owner,
    .is_owner = [](const base::Reply& reply, std::string_view) { return reply.integer == 1; },
    .holder = wire::holder,
    .decode_holder = wire::decode_holder,
    .reentrant = true,
    .announced = true,
};

}  // namespace holdfast::kinds
