// A lock that a caller has released and that stays taken at the server for another caller of this client.
#pragma once

#include "engine/decide/lease.hpp"
#include "engine/runtime/pending.hpp"
#include "wire/owner.hpp"

namespace holdfast::engine {

struct Retained {
  wire::Owner owner;
  TimePoint sent_at{};  // of the command that extended the lease last
  milliseconds lease{};
  Acks acks{};
  std::uint32_t acked_era = 0;  // wanted, and by then confirmed: see Confirmations::era
  Pending::Token pending;       // close() waits until somebody has taken it, or has given it back
};

}  // namespace holdfast::engine
