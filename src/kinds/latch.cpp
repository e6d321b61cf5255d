#include "kinds/kinds.hpp"
#include "wire/latch_calls.hpp"

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
