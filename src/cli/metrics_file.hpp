// `holdfast run --metrics-file`: what a run has to say to node_exporter's textfile collector.
#pragma once

#include <string>

#include <holdfast/metrics.hpp>

#include "cli/output.hpp"

namespace holdfast::cli {

/// Writes a new file in the same folder and puts it in the other's place, so a reader sees the whole of either. What
/// cannot be written is a note on the console, and nothing else.
void write_metrics_file(const std::string& path, const Metrics& metrics, const Console& console) noexcept;

}  // namespace holdfast::cli
