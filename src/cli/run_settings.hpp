// What `holdfast run` works out, and checks, before anything is sent: times that depend on each other, names.
#pragma once

#include <chrono>

#include <holdfast/config.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

struct RunTimes {
  std::chrono::milliseconds lease{};
  /// Between SIGTERM and SIGKILL, inside the lease.
  std::chrono::milliseconds kill_after{};
  /// SIGKILL comes this much before the end.
  std::chrono::milliseconds margin{};
};

/// Throws UsageError when they do not fit together.
RunTimes run_times(const RunOptions& options, const Config& config);

/// What the connection calls itself.
std::string run_label(const RunOptions& options, const Config& config);

}  // namespace holdfast::cli
