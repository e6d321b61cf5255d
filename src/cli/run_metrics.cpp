#include "cli/run_metrics.hpp"

#include "base/duration.hpp"
#include "cli/json.hpp"

namespace holdfast::cli {
namespace {

using base::in_seconds;

/// Adds families of one metric each, of this lock.
auto adding_to(Metrics& metrics, const std::string& lock) {
  return [&metrics, label = std::string(text_json(lock))](const char* name, const char* help, double value) {
    metrics.families.push_back(
        {.name = name, .help = help, .metrics = {{.labels = {{"lock", label}}, .value = value}}});
  };
}

}  // namespace

Metrics metrics_of(const std::string& name, const Terms& terms) {
  Metrics metrics;
  const auto add = adding_to(metrics, name);
  add("holdfast_elect_leading", "Whether this candidate leads.", terms.leads ? 1 : 0);
  add("holdfast_elect_change_timestamp_seconds", "Since when it leads, or does not.",
      in_seconds(terms.changed.time_since_epoch()));
  add("holdfast_elect_token", "The fencing token of its latest term; 0 before the first.",
      static_cast<double>(terms.token));
  add("holdfast_elect_terms", "How many terms it has had.", static_cast<double>(terms.begun));
  add("holdfast_elect_lost_terms", "How many of them were lost.", static_cast<double>(terms.lost));
  return metrics;
}

Metrics metrics_of(const RunReport& report, std::chrono::system_clock::time_point ended) {
  Metrics metrics;
  const auto add = adding_to(metrics, report.name);
  add("holdfast_run_end_timestamp_seconds", "When the latest run ended.", in_seconds(ended.time_since_epoch()));
  add("holdfast_run_exit_code", "The exit code of the latest run.", report.exit_code);
  add("holdfast_run_acquired", "Whether the latest run got the lock.", report.acquired ? 1 : 0);
  add("holdfast_run_lost", "Whether the latest run lost the lock.", report.lost ? 1 : 0);
  add("holdfast_run_wait_seconds", "How long the latest run waited for the lock.", in_seconds(report.waited));
  add("holdfast_run_hold_seconds", "How long the latest run held the lock.", in_seconds(report.held));
  return metrics;
}

}  // namespace holdfast::cli
