// SPDX-License-Identifier: Apache-2.0
#include "kinds/lock.hpp"

#include "base/text.hpp"
#include "kinds/kinds.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::lock {
namespace {

constexpr LockScripts kScripts{scripts::lock_acquire, scripts::lock_acquire_all, scripts::lock_release,
                               scripts::lock_release_all, scripts::lock_force_release};

}  // namespace

LockNames names(std::string raw_name) {
  std::string channel = prefixed("redisson_lock__channel", raw_name);
  return {std::move(raw_name), std::move(channel)};
}

base::Command acquire(const AcquireCall& call) {
  base::Command command = wire::acquire(kScripts, call);
  if (call.publish_busy && call.count_listeners && call.names.size() == 1) {
    if (!sharded(call.publish)) command.args.emplace_back("NUMSUB");
    command.args.emplace_back(way(call.publish));
  }
  return command;
}
base::Command release(const ReleaseCall& call) { return wire::release(kScripts, call); }
base::Command force_release(const LockNames& names, const std::optional<Owner>& owner, Publish publish) {
  return wire::force_release(kScripts, names, owner, publish);
}
base::Command renew(const std::vector<Renewal>& renewals, std::chrono::milliseconds lease) {
  return wire::renew(scripts::lock_renew, renewals, lease);
}

base::Command count_fields(std::string_view key) { return {{"HLEN", std::string(key)}}; }
base::Command has_owner(std::string_view key, const Owner& owner) {
  return {{"HEXISTS", std::string(key), owner.text}};
}
base::Command fields(std::string_view key) { return {{"HGETALL", std::string(key)}}; }
base::Command holder(std::string_view key) { return base::Command::call(scripts::lock_look, "1", std::string(key)); }

Held decode_holder(const base::Reply& reply) {
  if (!reply.is_array() || reply.elements.size() != 2 || !looks_like_holder(reply.elements[0].text)) return {};
  const auto count = base::to_number<long long>(reply.elements[1].text);
  return count.value_or(0) < 1 ? Held() : Held{reply.elements[0].text, *count};
}

}  // namespace holdfast::wire::lock

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
