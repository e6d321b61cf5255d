#include "cli/run_metrics.hpp"

#include <string>

#include "cli/json.hpp"

namespace holdfast::cli {
namespace {

double seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Metrics metrics_of(const RunReport& report, std::chrono::system_clock::time_point ended) {
  Metrics metrics;
  const std::string label = std::string(text_json(report.name));
  const auto add = [&](const char* name, const char* help, double value) {
    metrics.families.push_back(
        {.name = name, .help = help, .metrics = {{.labels = {{"lock", label}}, .value = value}}});
  };
  add("holdfast_run_end_timestamp_seconds", "When the latest run ended.",
      std::chrono::duration<double>(ended.time_since_epoch()).count());
  add("holdfast_run_exit_code", "The exit code of the latest run.", report.exit_code);
  add("holdfast_run_acquired", "Whether the latest run got the lock.", report.acquired ? 1 : 0);
  add("holdfast_run_lost", "Whether the latest run lost the lock.", report.lost ? 1 : 0);
  add("holdfast_run_wait_seconds", "How long the latest run waited for the lock.", seconds(report.waited));
  add("holdfast_run_hold_seconds", "How long the latest run held the lock.", seconds(report.held));
  return metrics;
}

}  // namespace holdfast::cli
