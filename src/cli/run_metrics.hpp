// The metrics that `holdfast run` writes at its end, and `holdfast elect` whenever the lead changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <holdfast/metrics.hpp>

#include "cli/run_report.hpp"

namespace holdfast::cli {

/// As families of one metric each, with the label `lock`. `ended`: by the system's clock.
Metrics metrics_of(const RunReport& report, std::chrono::system_clock::time_point ended);

/// The state of a candidate of `holdfast elect`.
struct Terms {
  bool leads = false;
  std::chrono::system_clock::time_point changed{};  ///< When that last changed.
  std::uint64_t token = 0;                          ///< Of the latest term; 0: there was none.
  std::uint64_t begun = 0;
  std::uint64_t lost = 0;
};
/// The same for those.
Metrics metrics_of(const std::string& name, const Terms& terms);

}  // namespace holdfast::cli
