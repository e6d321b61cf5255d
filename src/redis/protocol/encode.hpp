// Commands as bytes (RESP arrays of bulk strings).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/resp.hpp"

namespace holdfast::redis {

/// Appends the command. A script goes by its hash, or with `full_text` by its text.
void encode(std::string& out, const base::Command& command, bool full_text);
/// Appends `verb` with these arguments.
void encode(std::string& out, std::string_view verb, const std::vector<std::string>& args);

}  // namespace holdfast::redis
