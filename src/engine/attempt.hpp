// The outcome of one command, in the engine's terms: four kinds, never three.
#pragma once

#include <optional>
#include <string>
#include <system_error>

#include "engine/lease.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::engine {

/// What became of one acquire command.
struct Attempt {
  enum class Kind {
    granted,
    busy,      // `busy_for`: remaining time to live; negative: it has none
    refused,   // a definite error reply, nothing changed
    passing,   // a definite error reply of a server that will be well again (loading, a failover, ...)
    not_sent,  // the server cannot have seen it
    unknown,   // sent, no reply
  };
  Kind kind = Kind::not_sent;
  wire::Owner owner{};  // granted: to whom
  milliseconds busy_for{};
  bool subscribed = false;                // the wake channels were subscribed before the server looked
  bool unheard = false;                   // the channels cannot be subscribed; waiting goes without them
  std::optional<Duration> retry_after{};  // busy, but nobody was seen to have it: the votes were split
  bool pointless = false;                 // not_sent: trying again will not help
  std::error_code error{};
  std::string cause{};
  TimePoint sent_at{};
};

}  // namespace holdfast::engine
