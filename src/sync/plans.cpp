#include "sync/plans.hpp"

#include "wire/simple_calls.hpp"

namespace holdfast::sync {

using Names = engine::Plan::Names;
using std::chrono::milliseconds;

const engine::Plan kLockPlan{
    .names = [](std::string raw_name) { return wire::LockNames(std::move(raw_name)); },
    .acquire =
        [](Names names, const wire::Owner& owner, milliseconds lease) {
          return names.size() == 1 ? wire::acquire(names.front(), owner, lease)
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

const engine::Plan kSimplePlan{
    .names = wire::simple::names,
    .acquire =
        [](Names names, const wire::Owner& owner, milliseconds lease) {
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

}  // namespace holdfast::sync
