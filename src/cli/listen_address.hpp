// Parses the address on which the exporter listens.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace holdfast::cli {

/// `ADDRESS:PORT`, `[ADDRESS]:PORT`, or a part of that: `ADDRESS`, or `PORT` of this machine alone. `:PORT` and
/// `*:PORT`: of every address, as other exporters read it. `localhost` is 127.0.0.1; other names are refused. Throws
/// UsageError, which names the option.
ListenAddress listen_address(const std::string& option, const std::string& text);

}  // namespace holdfast::cli
