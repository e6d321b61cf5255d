// SPDX-License-Identifier: Apache-2.0
#include "kinds/fenced_lock.hpp"

#include "base/text.hpp"
#include "kinds/kinds.hpp"
#include "kinds/lock.hpp"

namespace holdfast::wire::fenced {

std::string counter(std::string_view key) { return prefixed("redisson_lock_token", key); }

base::Command acquire(const AcquireCall& call) {
  base::Command command = lock::acquire(call);
  command.args.front() = std::to_string(2);
  command.args.insert(command.args.begin() + 2, counter(call.names.front().key));
  return command;
}

AcquireReply decode_acquire(const base::Reply& reply) {
  const bool has_two = reply.is_array() && reply.elements.size() == 2;
  if (has_two && reply.elements[0].integer == -1 && reply.elements[1].is_integer()) {
    AcquireReply granted{true, std::nullopt};
    granted.grant.token = reply.elements[1].integer;
    return granted;
  }
  if (reply.is_null()) return {};
  return wire::decode_acquire(reply);
}

base::Command latest_token(std::string_view key) { return {{"GET", counter(key)}}; }

std::optional<std::int64_t> decode_latest_token(const base::Reply& reply) {
  if (reply.is_null()) return 0;
  return reply.is_text() ? base::to_number<std::int64_t>(reply.text) : std::nullopt;
}

}  // namespace holdfast::wire::fenced

namespace holdfast::kinds {

// Not passable: every grant needs a token of its own.
const engine::Plan kFencedLock{
    .traits = {.passable = false},
    .transitions = {.names = wire::lock::names,
                    .acquire = wire::fenced::acquire,
                    .decode_acquire = wire::fenced::decode_acquire,
                    .release = wire::lock::release,
                    .renew = wire::lock::renew,
                    .force_release = wire::lock::force_release},
    .questions = {.ask_owner = wire::lock::has_owner,
                  .holder = wire::lock::holder,
                  .decode_holder = wire::lock::decode_holder,
                  .latest_token = wire::fenced::latest_token,
                  .decode_latest_token = wire::fenced::decode_latest_token},
};

}  // namespace holdfast::kinds
