// SPDX-License-Identifier: Apache-2.0
#include "kinds/simple_lock.hpp"

#include "kinds/kinds.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::simple {
namespace {

constexpr LockScripts kScripts{scripts::simple_acquire, scripts::simple_acquire_all, scripts::simple_release,
                               scripts::simple_release_all, scripts::simple_force_release};

}  // namespace

LockNames names(std::string raw_name) {
  std::string channel = prefixed("holdfast_simple_lock__channel", raw_name);
  return {std::move(raw_name), std::move(channel)};
}

base::Command acquire(const AcquireCall& call) {
  AcquireCall without_count = call;
  without_count.count_listeners = false;
  return wire::acquire(kScripts, without_count);
}
base::Command release(const ReleaseCall& call) { return wire::release(kScripts, call); }
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner, Publish publish) {
  return wire::force_release(kScripts, names, owner, publish);
}
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  return wire::renew(scripts::simple_renew, renewals, lease);
}

base::Command holder(std::string_view key) { return {{"GET", std::string(key)}}; }

Held decode_holder(const base::Reply& reply) {
  if (reply.is_null() || reply.is_error()) return {};
  return {reply.text, 1};
}

}  // namespace holdfast::wire::simple

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
