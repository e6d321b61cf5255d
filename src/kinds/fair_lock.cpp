// SPDX-License-Identifier: Apache-2.0
#include "kinds/fair_lock.hpp"

#include "kinds/kinds.hpp"
#include "kinds/lock.hpp"
#include "kinds/scripts.hpp"

namespace holdfast::wire::fair {
namespace {

/// The script with the lock's key, its queue and its deadlines; reserves room for this many arguments after them.
base::Command with_queue(const base::Script& script, const std::string& key, std::size_t arguments) {
  base::Command command{{}, &script};
  command.args.reserve(4 + arguments);
  command.args.assign({"3", key, queue(key), deadlines(key)});
  return command;
}

/// Without the queue: a waiter has no place in it, and a release notifies nobody.
std::vector<base::Command> without_queue(const base::Command& command) { return {with_first_key(command)}; }

std::string text(std::chrono::milliseconds time) { return std::to_string(time.count()); }

}  // namespace

std::string queue(std::string_view key) { return prefixed("redisson_lock_queue", key); }
std::string deadlines(std::string_view key) { return prefixed("redisson_lock_timeout", key); }

LockNames names(std::string raw_name) { return lock::names(std::move(raw_name)); }

std::string wake_channel(const LockNames& names, const Owner& waiter) { return names.channel + ":" + waiter.text; }

base::Command acquire(const AcquireCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_queue(scripts::fair_acquire, names.key, 6);
  command.pieces = without_queue;
  command.args.push_back(text(call.lease));
  command.args.push_back(call.owner.text);
  command.args.push_back(text(call.turn.value_or(std::chrono::milliseconds(0))));
  command.args.push_back(text(kRedissonsTurn));
  command.args.push_back(names.channel);
  add_way(command, call.publish);
  return command;
}

base::Command release(const ReleaseCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_queue(scripts::fair_release, names.key, 5);
  command.pieces = without_queue;
  command.args.push_back(call.owner.text);
  command.args.push_back(names.channel);
  command.args.push_back(text(call.turn));
  command.args.push_back(text(kRedissonsTurn));
  add_way(command, call.publish);
  return command;
}

base::Command leave(const LeaveCall& call) {
  const LockNames& names = call.names.front();
  base::Command command = with_queue(scripts::fair_leave, names.key, 5);
  command.args.push_back(call.owner.text);
  command.args.push_back(text(call.turn));
  command.args.push_back(names.channel);
  command.args.push_back(text(kRedissonsTurn));
  add_way(command, call.publish);
  return command;
}

base::Command force_release(const LockNames& names, const std::optional<Owner>& owner, Publish publish) {
  base::Command command = with_queue(scripts::fair_force_release, names.key, 3);
  command.pieces = without_queue;
  command.args.push_back(names.channel);
  command.args.emplace_back(way(publish));
  if (owner) command.args.push_back(owner->text);
  return command;
}

base::Command line(std::string_view key, std::size_t most) {
  base::Command command = with_queue(scripts::fair_look, std::string(key), 1);
  command.args.push_back(std::to_string(most));
  return command;
}

Line decode_line(const base::Reply& reply) {
  const std::vector<base::Reply>& parts = reply.elements;
  if (!reply.is_array() || parts.size() < 4 || parts.size() % 2 != 0) return {};
  if (!parts[2].is_integer() || !parts[3].is_integer() || parts[3].integer < 0) return {};
  Line line;
  if (!parts[0].is_null()) {
    line.holder = lock::decode_holder({base::Reply::Kind::array, 0, {}, {parts[0], parts[1]}});
    if (line.holder.owner.empty()) return {};
  }
  line.waiting = static_cast<std::size_t>(parts[3].integer);
  for (std::size_t i = 4; i < parts.size(); i += 2) {
    Line::Waiter waiter{parts[i].text, std::nullopt};
    if (parts[i + 1].is_integer()) waiter.left = std::chrono::milliseconds(parts[i + 1].integer);
    line.first.push_back(std::move(waiter));
  }
  return line;
}

}  // namespace holdfast::wire::fair

namespace holdfast::kinds {

// Not passable: the server decides who is next.
const engine::Plan kFairLock{
    .traits = {.order = engine::Traits::Order::server, .passable = false},
    .transitions = {.names = wire::fair::names,
                    .acquire = wire::fair::acquire,
                    .release = wire::fair::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::fair::force_release,
                    .leave = wire::fair::leave,
                    .wake_channel = wire::fair::wake_channel},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder,
                  .line = wire::fair::line,
                  .decode_line = wire::fair::decode_line},
};

}  // namespace holdfast::kinds
