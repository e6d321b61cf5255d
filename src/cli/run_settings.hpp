// Settings that `holdfast run` derives and checks before anything is sent: dependent times, names.
#pragma once

#include <chrono>

#include <holdfast/config.hpp>

#include "cli/options.hpp"

namespace holdfast::cli {

struct RunTimes {
  std::chrono::milliseconds lease{};
  /// Between SIGTERM and SIGKILL, inside the lease.
  std::chrono::milliseconds kill_after{};
  /// How long before the end SIGKILL is sent.
  std::chrono::milliseconds margin{};
};

/// Throws UsageError when they do not fit together.
RunTimes run_times(const RunOptions& options, const Config& config);

/// The label in the connection's name.
std::string run_label(const RunOptions& options, const Config& config);

}  // namespace holdfast::cli
