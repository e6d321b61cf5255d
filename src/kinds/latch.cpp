// SPDX-License-Identifier: Apache-2.0
#include "kinds/latch.hpp"

#include <algorithm>

#include "kinds/kinds.hpp"
#include "kinds/scripts.hpp"
#include "kinds/semaphore.hpp"

namespace holdfast::wire::latch {
namespace {

base::Command counted(const base::Script& script, const CountCall& call) {
  base::Command command = with_once(script, call.names.key, call.once, {}, 4);
  command.args.push_back(std::to_string(call.count));
  command.args.push_back(remembered(call.once));
  command.args.push_back(call.names.channel);
  add_way(command, call.publish);
  return command;
}

}  // namespace

LockNames names(std::string raw_name) {
  std::string channel = "redisson_countdownlatch__channel__{" + raw_name + "}";
  return {std::move(raw_name), std::move(channel)};
}

bool fits_cluster(std::string_view raw_name) { return raw_name.find('}') == std::string_view::npos; }

base::Command set(const CountCall& call) { return counted(scripts::latch_set, call); }
base::Command count_down(const CountCall& call) { return counted(scripts::latch_count_down, call); }

base::Command remove(const RemoveCall& call) {
  base::Command command = with_once(scripts::latch_remove, call.names.key, call.once, {}, 3);
  command.args.push_back(remembered(call.once));
  command.args.push_back(call.names.channel);
  add_way(command, call.publish);
  return command;
}

std::optional<std::int64_t> decode_number(const base::Reply& reply) { return semaphore::decode_number(reply); }

base::Command count(std::string_view key) { return {{"GET", std::string(key)}}; }

std::optional<std::int64_t> decode_count(const base::Reply& reply) {
  std::optional<std::int64_t> count = semaphore::decode_available(reply);
  if (count) count = std::max<std::int64_t>(*count, 0);
  return count;
}

}  // namespace holdfast::wire::latch

namespace holdfast::kinds {
namespace {

/// Open: granted. Closed: for an unknown time.
wire::AcquireReply decode(const base::Reply& reply) {
  wire::AcquireReply said;
  const std::optional<std::int64_t> count = wire::latch::decode_count(reply);
  if (!count) return said;
  said.granted = *count == 0;
  if (!said.granted) said.busy_for = std::chrono::milliseconds(-1);
  return said;
}

}  // namespace

// Waiters have no order: each checks by itself, and each gets the message.
const engine::Plan kLatch{
    .traits = {.reentrant = false,
               .holders = engine::Traits::Holders::several,
               .order = engine::Traits::Order::server,
               .passable = false,
               .holds = false},
    .transitions = {.names = wire::latch::names,
                    .acquire = [](const wire::AcquireCall& call) { return wire::latch::count(call.names.front().key); },
                    .decode_acquire = decode,
                    .wake_channel = [](const wire::LockNames& names, const wire::Owner&) { return names.channel; }},
};

}  // namespace holdfast::kinds
