// The outcome of one acquire command, in the engine's terms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <system_error>

#include "engine/decide/lease.hpp"
#include "wire/calls.hpp"

namespace holdfast::engine {

/// The terms of a hold, with the lease that the server reports, if it does.
inline LeaseTerms as_granted(LeaseTerms asked, const wire::Grant& grant) {
  if (grant.lease) asked.length = *grant.lease;
  return asked;
}

/// The outcome of one acquire command.
struct Attempt {
  enum class Kind {
    granted,
    busy,         // `busy_for`: remaining time to live; negative: it has none
    refused,      // a permanent error reply, nothing changed
    transient,    // a temporary error reply (loading, a failover, ...), nothing changed
    failed,       // an error reply from the middle of a script: it may have taken the lock
    not_sent,     // the server cannot have seen it
    unknown,      // sent, no reply
    not_durable,  // granted, but without the required confirmations
  };
  Kind kind = Kind::not_sent;
  wire::Grant grant{};  // of the owner that asked, whatever the outcome; if granted, as the server replied
  milliseconds busy_for{};
  bool subscribed = false;        // the wake channels were subscribed before the server checked the lock
  bool cannot_subscribe = false;  // busy: subscribing is not permitted; the wait does without the wake channels
  // How many listen for its release. If busy: connections; negative: unknown. If granted in shared mode: waiters, and
  // clients elsewhere.
  std::optional<std::int64_t> listeners{};
  bool of_stranger = false;               // busy: the holder uses another library
  std::optional<Duration> retry_after{};  // busy, but no holder was seen: the votes were split
  bool pointless = false;                 // not_sent, transient: a retry will not help
  std::optional<bool> may_pass{};         // see Error::may_pass; empty: as usual for `error`
  std::error_code error{};
  std::string cause{};
  TimePoint sent_at{};
  std::uint32_t acks_era = 0;  // granted and confirmed: see Confirmations::era
  std::uint64_t server = 0;    // for a group's member: which server answered, see Shard::server

  /// The owner may have it: it must be used, requested again, or undone.
  bool may_stand() const {
    return kind == Kind::granted || kind == Kind::unknown || kind == Kind::failed || kind == Kind::not_durable;
  }
};

}  // namespace holdfast::engine
