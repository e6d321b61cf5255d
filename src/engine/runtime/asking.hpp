// Questions to the server whose asker waits for the replies.
#pragma once

#include <string>
#include <vector>

#include "base/resp.hpp"
#include "redis/connection/lane.hpp"

namespace holdfast::engine {

class Runtime;

enum class Errors { raise, keep };

/// Sends commands and waits for the replies. Throws Error if they do not come, or (unless kept) if one is an error.
/// `tells`: see redis::Request.
std::vector<base::Reply> ask(Runtime& runtime, std::vector<base::Command> commands, const std::string& name,
                             Errors errors = Errors::raise, std::vector<std::string> tells = {});
/// The replies, or an Error that says why there are none.
std::vector<base::Reply> replies(const Runtime& runtime, redis::Result result, const std::string& name, Errors errors);

}  // namespace holdfast::engine
