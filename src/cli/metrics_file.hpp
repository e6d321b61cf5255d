// `holdfast run --metrics-file`: a run's metrics for node_exporter's textfile collector.
#pragma once

#include <string>

#include <holdfast/metrics.hpp>

#include "cli/output.hpp"

namespace holdfast::cli {

/// Writes a new file in the same folder and renames it over the old one, so that readers see either one complete. A
/// failure is only noted on the console.
void write_metrics_file(const std::string& path, const Metrics& metrics, const Console& console) noexcept;

}  // namespace holdfast::cli
