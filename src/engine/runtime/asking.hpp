// Questions to the server whose asker waits for the replies.
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
  keep_rest,  ///< Those behind the first two may be errors; of these two one is raised.
};

struct Inquiry {
  std::vector<base::Command> commands;
  redis::Shard* where = nullptr;     ///< For this very server; null: for the one that serves the key.
  std::vector<std::string> tells{};  ///< See redis::Request.
  /// For how long it is sent again, as nobody knows whether it was carried out: for what changes something, and no more
  /// when it is sent once more (wire::Once). Of one command, for whoever serves the key.
  base::Duration repeated{};
};

/// Sends commands and waits for the replies. Throws Error if they do not come, or (unless kept) if one is an error.
std::vector<base::Reply> ask(Runtime& runtime, Inquiry inquiry, const std::string& name, Errors errors = Errors::raise);

/// What came of it. `node`: who was asked, in words.
using Answered = std::function<void(redis::Result result, const std::string& node)>;
/// The same without waiting. On the loop.
void send(Runtime& runtime, Inquiry inquiry, Answered answered);
/// The replies, or an Error that says why there are none.
std::vector<base::Reply> replies(redis::Result result, const std::string& name, const std::string& node, Errors errors);

}  // namespace holdfast::engine
