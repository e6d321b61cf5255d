// From the command line to Options.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "cli/options.hpp"

namespace holdfast::cli {

/// A request for a text instead of work: `--help`, `--version`.
struct TextRequest {
  std::string text;
};

/// `args` without the program's name. Throws UsageError.
std::variant<Options, TextRequest> parse(std::vector<std::string> args);

/// For reporting a wrong command line: whether `--json` is among the options, and whether the verb has a command, whose
/// standard output is not the tool's.
struct Glance {
  bool json = false;
  bool has_command = false;
};
Glance glance(const std::vector<std::string>& args);

}  // namespace holdfast::cli
