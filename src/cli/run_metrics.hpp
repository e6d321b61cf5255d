// What `holdfast run` tells as metrics at its end.
#pragma once

#include <chrono>

#include <holdfast/metrics.hpp>

#include "cli/run_report.hpp"

namespace holdfast::cli {

/// As families of one metric each, with the label `lock`. `ended`: by the system's clock.
Metrics metrics_of(const RunReport& report, std::chrono::system_clock::time_point ended);

}  // namespace holdfast::cli
