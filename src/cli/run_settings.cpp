#include "cli/run_settings.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "cli/output.hpp"

namespace holdfast::cli {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

RunTimes run_times(const RunOptions& options, const Config& config) {
  RunTimes times;
  times.lease = options.lease.value_or(config.lease);
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
  return std::filesystem::path(options.command.front()).filename();
}

}  // namespace holdfast::cli
