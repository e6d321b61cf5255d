// The events of a lane, for its owner.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/resp.hpp"
#include "redis/connection/request.hpp"

namespace holdfast::redis {

/// The cause of a disconnection that is no failure.
inline constexpr const char* kNotNeeded = "the server is not needed any more";

/// Called on the loop, must not block.
struct LaneEvents {
  std::function<void()> connected;
  std::function<void(const std::string& cause)> disconnected;
  std::function<void()> message;
  std::function<void()> command;
  std::function<void(std::size_t bytes)> to_be_flushed;
  /// All commands of a request were answered by the server that serves it, this long after the send.
  std::function<void(Operation operation, base::Duration took)> answered = [](Operation, base::Duration) {};
  /// These keys (an array; null: all) were changed, or may have been. Only with CLIENT TRACKING.
  std::function<void(const base::Reply& keys)> invalidated = [](const base::Reply&) {};
  /// Optional. A request that this server does not serve; the receiver must ensure that its handler runs.
  std::function<void(Misdirected&&)> misdirected{};
  /// Optional. Each error reply, before the request's handler runs.
  std::function<void(const std::string& error_text)> refused{};
  /// The server has ended the subscription to a sharded channel: its slot is served elsewhere.
  std::function<void(const std::string& channel)> taken_away = [](const std::string&) {};
  /// The text of each message.
  std::function<void(const std::string& channel, const std::string& text)> said = [](const std::string&,
                                                                                     const std::string&) {};
};

}  // namespace holdfast::redis
