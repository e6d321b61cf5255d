// SPDX-License-Identifier: Apache-2.0
#include "kinds/semaphore.hpp"

#include "base/text.hpp"
#include "kinds/kinds.hpp"
#include "kinds/latch.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::semaphore {
namespace {

base::Command change(const base::Script& script, const ChangeCall& call) {
  base::Command command = with_once(script, call.names.key, call.once, {}, 5);
  command.args.push_back(std::to_string(call.permits));
  command.args.push_back(remembered(call.once));
  return command;
}

}  // namespace

LockNames names(std::string raw_name) {
  std::string channel = prefixed("redisson_sc", raw_name);
  return {std::move(raw_name), std::move(channel)};
}

base::Command acquire(const AcquireCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_once(scripts::semaphore_acquire, names.key, call.once, {}, 4);
  command.args.push_back(std::to_string(call.owner.ask.permits));
  command.args.push_back(remembered(call.once));
  if (call.count_listeners) {
    command.args.push_back(names.channel);
    if (sharded(call.publish)) command.args.emplace_back("SHARDNUMSUB");
  }
  return command;
}

AcquireReply decode_acquire(const base::Reply& reply) {
  constexpr std::chrono::milliseconds kUnset{-2};
  AcquireReply decoded = wire::decode_acquire(reply);
  decoded.unset = decoded.busy_for == kUnset;
  return decoded;
}

base::Command release(const ReleaseCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_once(scripts::semaphore_release, names.key, call.once, call.undoes, 4);
  command.args.push_back(std::to_string(call.owner.ask.permits));
  command.args.push_back(remembered(call.once));
  command.args.push_back(names.channel);
  add_way(command, call.publish);
  return command;
}

base::Command add(const ChangeCall& call) {
  base::Command command = change(scripts::semaphore_add, call);
  command.args.push_back(call.names.channel);
  add_way(command, call.publish);
  return command;
}

base::Command add_if_there(const ChangeCall& call) {
  base::Command command = change(scripts::semaphore_release, call);
  command.args.push_back(call.names.channel);
  add_way(command, call.publish);
  return command;
}

base::Command set(const ChangeCall& call, std::optional<std::chrono::milliseconds> lives) {
  base::Command command = change(scripts::semaphore_set, call);
  command.args.push_back(std::to_string(lives ? lives->count() : 0));
  command.args.push_back(call.names.channel);
  add_way(command, call.publish);
  return command;
}

base::Command remove(const LockNames& names, const std::optional<Once>& once, Publish publish) {
  return latch::remove({names, once, publish});
}

base::Command drain(const LockNames& names, const std::optional<Once>& once) {
  base::Command command = with_once(scripts::semaphore_drain, names.key, once, {}, 1);
  command.args.push_back(remembered(once));
  return command;
}

base::Command available(std::string_view key) { return {{"GET", std::string(key)}}; }

std::optional<std::int64_t> decode_available(const base::Reply& reply) {
  if (reply.is_null()) return 0;
  if (reply.kind != base::Reply::Kind::text) return std::nullopt;
  return base::to_number<std::int64_t>(reply.text);
}

std::optional<std::int64_t> decode_number(const base::Reply& reply) {
  if (!reply.is_integer()) return std::nullopt;
  return reply.integer;
}

}  // namespace holdfast::wire::semaphore

namespace holdfast::kinds {

const engine::Plan kSemaphore{
    .traits = {.reentrant = false, .holders = engine::Traits::Holders::several, .repeatable = false, .holds = false},
    .transitions = {.names = wire::semaphore::names,
                    .acquire = wire::semaphore::acquire,
                    .decode_acquire = wire::semaphore::decode_acquire,
                    .release = wire::semaphore::release},
};

}  // namespace holdfast::kinds
