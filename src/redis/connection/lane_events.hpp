// The events of a lane, for its owner.
#pragma once

#include <cstddef>
#include <string>

#include "base/resp.hpp"
#include "redis/connection/request.hpp"

namespace holdfast::redis {

/// The cause of a disconnection that is no failure.
inline constexpr const char* kNotNeeded = "the server is not needed any more";

/// What happens on a lane, for its owner, who outlives that. Called on the loop, must not block.
class LaneEvents {
 public:
  LaneEvents() = default;
  virtual ~LaneEvents() = default;
  LaneEvents(const LaneEvents&) = delete;
  LaneEvents& operator=(const LaneEvents&) = delete;

  virtual void connected() {}
  virtual void disconnected(const std::string& /*cause*/) {}
  virtual void message() {}
  virtual void command() {}
  virtual void to_be_flushed(std::size_t /*bytes*/) {}
  /// All commands of a request were answered by the server that serves it, this long after the send.
  virtual void answered(Operation, base::Duration /*took*/) {}
  /// These keys (an array; null: all) were changed, or may have been. Only with CLIENT TRACKING.
  virtual void invalidated(const base::Reply& /*keys*/) {}
  /// A request that this server does not serve. False: it is not taken, and its handler gets the refusal. Otherwise the
  /// receiver ensures that the handler runs.
  virtual bool takes_misdirected() const { return false; }
  virtual void misdirected(Misdirected&&) {}
  /// Each error reply, before the request's handler runs.
  virtual void refused(const std::string& /*error_text*/) {}
  /// The server has ended the subscription to a sharded channel: its slot is served elsewhere.
  virtual void taken_away(const std::string& /*channel*/) {}
  /// The text of each message.
  virtual void said(const std::string& /*channel*/, const std::string& /*text*/) {}
};

}  // namespace holdfast::redis
