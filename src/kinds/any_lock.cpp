// SPDX-License-Identifier: Apache-2.0
#include "kinds/any_lock.hpp"

#include "kinds/kinds.hpp"
#include "kinds/lock.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::any {

base::Command acquire(const AcquireCall& call) {
  base::Command command{{}, &scripts::lock_acquire_any};
  command.args.push_back(std::to_string(call.names.size()));
  for (const LockNames& name : call.names) command.args.push_back(name.key);
  command.args.push_back(std::to_string(call.lease.count()));
  command.args.push_back(call.owner.text);
  if (call.count_listeners) {
    command.args.push_back(call.names.front().channel);
    if (sharded(call.publish)) command.args.emplace_back("SHARDNUMSUB");
  }
  return command;
}

AcquireReply decode_acquire(const base::Reply& reply) {
  const bool has_two = reply.is_array() && reply.elements.size() == 2;
  if (has_two && reply.elements[0].integer == -1 && reply.elements[1].integer > 0) {
    AcquireReply granted{true, std::nullopt};
    granted.grant.which = static_cast<std::size_t>(reply.elements[1].integer - 1);
    return granted;
  }
  return reply.is_array() ? wire::decode_acquire(reply) : AcquireReply{};
}

base::Command release(const ReleaseCall& call) {
  base::Command command{{}, &scripts::lock_release_any};
  command.args.push_back(std::to_string(call.names.size()));
  for (const LockNames& name : call.names) command.args.push_back(name.key);
  command.args.push_back(call.owner.text);
  for (const LockNames& name : call.names) command.args.push_back(name.channel);
  add_way(command, call.publish);
  return command;
}

}  // namespace holdfast::wire::any

namespace holdfast::kinds {

// Not re-entrant, since it is undefined which one would be re-entered. Not passed on, since they are never held
// together.
const engine::Plan kAnyLock{
    .traits = {.reentrant = false, .passable = false},
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::any::acquire,
                    .decode_acquire = wire::any::decode_acquire,
                    .release = wire::any::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::lock::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder},
    .each = &kLock,
};

}  // namespace holdfast::kinds
