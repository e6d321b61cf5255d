// What the owner of a lane hears of it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/resp.hpp"
#include "redis/connection/request.hpp"

namespace holdfast::redis {

/// The cause of an end that is no trouble.
inline constexpr const char* kNotNeeded = "the server is not needed any more";

/// Called on the loop, must not block.
struct LaneEvents {
  std::function<void()> connected;
  std::function<void(const std::string& cause)> disconnected;
  std::function<void()> message;
  std::function<void()> command;
  std::function<void(std::size_t bytes)> to_be_flushed;
  /// So long after the send all commands of a request were answered, by the server that serves it.
  std::function<void(Operation operation, base::Duration took)> answered = [](Operation, base::Duration) {};
  /// These keys were changed, or may have been: an array; null: all. Only where CLIENT TRACKING was asked for.
  std::function<void(const base::Reply& keys)> invalidated = [](const base::Reply&) {};
  /// Where it is set: a request that this server does not serve; whoever is told sees to it that its handler runs.
  std::function<void(Misdirected&&)> misdirected{};
  /// Where it is set: each error reply, before the request's handler runs.
  std::function<void(const std::string& error_text)> refused{};
  /// The server has ended the subscription to a sharded channel: its slot is served elsewhere.
  std::function<void(const std::string& channel)> taken_away = [](const std::string&) {};
  /// What a message says, for channels on which that matters.
  std::function<void(const std::string& channel, const std::string& text)> said = [](const std::string&,
                                                                                     const std::string&) {};
};

}  // namespace holdfast::redis
