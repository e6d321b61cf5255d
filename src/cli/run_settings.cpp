#include "cli/run_settings.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "cli/output.hpp"

namespace holdfast::cli {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

/// The first program that a shell line runs, without its folder; empty if that is unclear. The line itself may be
/// confidential.
std::optional<std::string> program_of(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  while (words >> word && word.find('=') != word.npos) continue;  // a variable for it
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._+-", c); };
  if (word.empty() || word.find('=') != word.npos || !std::ranges::all_of(word, plain)) return std::nullopt;
  return std::filesystem::path(word).filename();
}

}  // namespace

RunTimes run_times(const RunOptions& options, const Config& config) {
  RunTimes times;
  // So --at-least holds even if the tool is killed at once.
  times.lease = std::max(options.lease.value_or(config.lease), options.at_least.value_or(milliseconds()));
  // The hold ends with the shorter of the two, and renewals come every third of the lease: a healthy one always has
  // more than half of it left.
  const milliseconds shortest = std::min(times.lease, options.max_hold.value_or(times.lease));
  times.kill_after = options.kill_after.value_or(std::min<milliseconds>(5s, shortest / 4));
  times.margin = std::min<milliseconds>(100ms, shortest / 20);
  if (times.kill_after > shortest / 2) {
    throw UsageError(fmt::format("--kill-after {} is taken out of the end of the {}, so it can be at most {}",
                                 in_words(times.kill_after), options.max_hold ? "lease or --max-hold" : "lease",
                                 in_words(shortest / 2)));
  }
  return times;
}

std::string run_label(const RunOptions& options, const Config& config) {
  if (options.label) return *options.label;
  if (!config.label.empty()) return config.label;
  const std::string name = std::filesystem::path(options.command.front()).filename();
  return options.is_shell_line ? program_of(options.command.back()).value_or(name) : name;
}

}  // namespace holdfast::cli
