// SPDX-License-Identifier: Apache-2.0
// Queries to the server whose caller waits for the replies.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/resp.hpp"
#include "redis/connection/lane.hpp"
#include "redis/topology/shard.hpp"

namespace holdfast::engine {

class Runtime;

enum class Errors {
  raise,
  keep,
  keep_rest,  ///< Those after the first two may be errors; an error in the first two is raised.
};

struct Inquiry {
  std::vector<base::Command> commands;
  redis::Shard* where = nullptr;     ///< For this server; null: for the one that serves the key.
  std::vector<std::string> tells{};  ///< See redis::Request.
  /// How long it is resent while its outcome is unknown: for commands that change something, but only once however
  /// often they are sent (wire::Once). For one command, to the server of the key.
  base::Duration repeated{};
  redis::ReplyLimits most = redis::kMostOfReplies;  ///< See redis::Request.
};

/// Sends commands and waits for the replies. Throws Error without replies, or (unless kept) for an error reply.
std::vector<base::Reply> ask(Runtime& runtime, Inquiry inquiry, const std::string& name, Errors errors = Errors::raise);

/// Gets the result. `node`: the server that was asked, as text.
using Answered = std::function<void(redis::Result result, const std::string& node)>;
/// The same without waiting. On the loop.
void send(Runtime& runtime, Inquiry inquiry, Answered answered);
/// Returns the replies, or throws an Error with the reason.
std::vector<base::Reply> replies(const Runtime& runtime, redis::Result result, const std::string& name,
                                 const std::string& node, Errors errors);

}  // namespace holdfast::engine
