#include "wire/fenced_calls.hpp"

#include "base/text.hpp"
#include "wire/lock_calls.hpp"

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
