#include "wire/semaphore_calls.hpp"

#include "base/text.hpp"
#include "wire/scripts.hpp"

namespace holdfast::wire::semaphore {
namespace {

/// The script with the key, followed by those under which the server remembers; reserves room for this many arguments.
base::Command with_keys(const base::Script& script, std::string_view key, const std::optional<Once>& once,
                        std::string_view undoes, std::size_t arguments) {
  base::Command command{{}, &script};
  command.args.reserve(4 + arguments);
  command.args.emplace_back("1");
  command.args.emplace_back(key);
  if (once) command.args.push_back(once_key(key, once->key));
  if (once && !undoes.empty()) command.args.push_back(once_key(key, undoes));
  command.args.front() = std::to_string(command.args.size() - 1);
  return command;
}

std::string remembered(const std::optional<Once>& once) { return std::to_string(once ? once->remembered.count() : 0); }

base::Command change(const base::Script& script, const ChangeCall& call) {
  base::Command command = with_keys(script, call.names.key, call.once, {}, 5);
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
  base::Command command = with_keys(scripts::semaphore_acquire, names.key, call.once, {}, 4);
  command.args.push_back(std::to_string(call.owner.ask.permits));
  command.args.push_back(remembered(call.once));
  if (call.count_listeners) {
    command.args.push_back(names.channel);
    if (call.publish == Publish::spublish || call.publish == Publish::both) command.args.emplace_back("SHARDNUMSUB");
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
  base::Command command = with_keys(scripts::semaphore_release, names.key, call.once, call.undoes, 4);
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

base::Command drain(const LockNames& names, const std::optional<Once>& once) {
  base::Command command = with_keys(scripts::semaphore_drain, names.key, once, {}, 1);
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
