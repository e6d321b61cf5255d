// The outcome of one acquire command, in the engine's terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "engine/decide/lease.hpp"
#include "wire/calls.hpp"

namespace holdfast::engine {

/// The terms of a hold: the lease is what the server says, where it says something.
inline LeaseTerms as_granted(LeaseTerms asked, const wire::Grant& grant) {
  if (grant.lease) asked.length = *grant.lease;
  return asked;
}

/// What became of one acquire command.
struct Attempt {
  enum class Kind {
    granted,
    busy,         // `busy_for`: remaining time to live; negative: it has none
    refused,      // an error reply for good, nothing changed
    transient,    // an error reply of a server that will be well again (loading, a failover, ...), nothing changed
    failed,       // an error reply out of the middle of a script: it may have taken it
    not_sent,     // the server cannot have seen it
    unknown,      // sent, no reply
    not_durable,  // granted, and not confirmed by as many as were asked for
  };
  Kind kind = Kind::not_sent;
  wire::Grant grant{};  // of `owner`, who asked, whatever became of it; granted: as the server says
  milliseconds busy_for{};
  bool subscribed = false;        // the wake channels were subscribed before the server looked
  bool cannot_subscribe = false;  // busy: refused for good; waiting goes without the wake channels
  // How many listen for its release. Busy: connections; negative: unknown. Granted together with others: waiters, and
  // clients elsewhere.
  std::optional<std::int64_t> listeners{};
  bool of_stranger = false;               // busy: the holder's client is not of this library
  std::optional<Duration> retry_after{};  // busy, but nobody was seen to have it: the votes were split
  bool pointless = false;                 // not_sent, transient: trying again will not help
  std::error_code error{};
  std::string cause{};
  TimePoint sent_at{};
  std::uint32_t acks_era = 0;  // granted and confirmed: see Confirmations::era
  std::uint64_t server = 0;    // a group's member: which one said so, see Shard::server

  /// The owner may have it: it must be used, asked for again, or undone.
  bool may_stand() const {
    return kind == Kind::granted || kind == Kind::unknown || kind == Kind::failed || kind == Kind::not_durable;
  }
};

}  // namespace holdfast::engine
