// Parses the address on which the exporter listens.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace holdfast::cli {

/// `HOST:PORT`, `[ADDRESS]:PORT`, or a part of that: `:PORT`, `HOST`. Throws UsageError, which names
/// the option.
ListenAddress listen_address(const std::string& option, const std::string& text);

}  // namespace holdfast::cli
