// SPDX-License-Identifier: Apache-2.0
#include "cli/run/report.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/text.hpp"
#include "cli/fd.hpp"
#include "cli/json.hpp"

namespace holdfast::cli {
namespace {

using base::in_seconds;

std::int64_t in_ms(base::Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

boost::json::value command_json(const RunReport& report) {
  if (!report.pid) return nullptr;
  boost::json::object out;
  out["pid"] = *report.pid;
  out["exit_code"] = nullptr;
  out["signal"] = nullptr;
  if (report.end && report.end->signal != 0) {
    out["signal"] = report.end->signal;
  } else if (report.end && report.end->exec_error == 0) {
    out["exit_code"] = report.end->exit_code;
  }
  return out;
}

/// Adds families of one metric each, of this lock.
auto adding_to(Metrics& metrics, const std::string& lock) {
  return [&metrics, label = std::string(text_json(lock))](MetricFamily family, double value) {
    family.metrics = {{.labels = {{"lock", label}}, .value = value}};
    metrics.families.push_back(std::move(family));
  };
}

[[noreturn]] void throw_errno() { throw std::system_error(errno, std::generic_category()); }

/// A name unique to this process, which collectors do not read (not *.prom).
std::string beside(const std::string& path) {
  const std::filesystem::path whole(path);
  return (whole.parent_path() / fmt::format(".{}.{}", whole.filename().string(), getpid())).string();
}

void write_to(const std::string& path, const std::string& text) {
  constexpr mode_t kForEverybody = 0644;  // the collector is another user
  const Fd file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kForEverybody));
  if (file.get() < 0) throw_errno();
  write_all(file.get(), text);
}

void replace(const std::string& path, const std::string& text) {
  const std::string fresh = beside(path);
  unlink(fresh.c_str());  // from an earlier process with the same id
  try {
    write_to(fresh, text);
    if (rename(fresh.c_str(), path.c_str()) != 0) throw_errno();
  } catch (...) {
    unlink(fresh.c_str());
    throw;
  }
}

}  // namespace

std::string RunReport::lock_in_words() const { return fmt::format("lock {} on {}", base::quote(name), node); }

boost::json::object RunReport::to_json() const {
  boost::json::object out;
  put_text(out, "name", name);
  out["names"] = boost::json::array();
  for (const std::string& each : names) out["names"].as_array().push_back(text_json(each));
  out["node"] = node;
  out["nodes"] = boost::json::value_from(nodes);
  out["acquired"] = acquired;
  out["owner"] = acquired ? boost::json::value(owner) : boost::json::value(nullptr);
  out["waited_ms"] = in_ms(waited);
  out["waited_for"] = nullptr;
  if (waited_for) put_text(out, "waited_for", waited_for->owner);
  out["held_ms"] = in_ms(held);
  out["renewals"] = renewals;
  out["command"] = command_json(*this);
  out["skipped"] = skipped ? boost::json::value(*skipped) : boost::json::value(nullptr);
  out["lost"] = lost;
  out["loss_reason"] = loss_reason ? boost::json::value(to_string(*loss_reason)) : boost::json::value(nullptr);
  out["release"] = release ? boost::json::value(to_string(*release)) : boost::json::value(nullptr);
  out["exit_code"] = exit_code;
  if (problem) out["error"] = holdfast::cli::to_json(*problem);
  return out;
}

bool write_report(const RunOptions& options, const Console& console, const RunReport& report) {
  if (!options.status_fd && !console.json()) return true;
  try {
    show(options.status_fd.value_or(STDERR_FILENO), Shown(json_line(report.to_json())));
    return true;
  } catch (const std::system_error& error) {
    console.problem(Problem::internal(error.what()));
    return false;
  }
}

Metrics metrics_of(const std::string& name, const Terms& terms) {
  Metrics metrics;
  const auto add = adding_to(metrics, name);
  add({.name = "holdfast_elect_leading", .help = "Whether this candidate leads."}, terms.leads ? 1 : 0);
  add({.name = "holdfast_elect_change_timestamp_seconds", .help = "Since when it leads, or does not."},
      in_seconds(terms.changed.time_since_epoch()));
  add({.name = "holdfast_elect_token", .help = "The fencing token of its latest term; 0 before the first."},
      static_cast<double>(terms.token));
  add({.name = "holdfast_elect_terms", .help = "How many terms it has had."}, static_cast<double>(terms.begun));
  add({.name = "holdfast_elect_lost_terms", .help = "How many of them were lost."}, static_cast<double>(terms.lost));
  return metrics;
}

Metrics metrics_of(const RunReport& report, std::chrono::system_clock::time_point ended) {
  Metrics metrics;
  const auto add = adding_to(metrics, report.name);
  add({.name = "holdfast_run_end_timestamp_seconds", .help = "When the latest run ended."},
      in_seconds(ended.time_since_epoch()));
  add({.name = "holdfast_run_exit_code", .help = "The exit code of the latest run."}, report.exit_code);
  add({.name = "holdfast_run_acquired", .help = "Whether the latest run got the lock."}, report.acquired ? 1 : 0);
  add({.name = "holdfast_run_lost", .help = "Whether the latest run lost the lock."}, report.lost ? 1 : 0);
  add({.name = "holdfast_run_wait_seconds", .help = "How long the latest run waited for the lock."},
      in_seconds(report.waited));
  add({.name = "holdfast_run_hold_seconds", .help = "How long the latest run held the lock."}, in_seconds(report.held));
  return metrics;
}

void write_metrics_file(const std::string& path, const Metrics& metrics, const Console& console) noexcept {
  try {
    try {
      std::ostringstream text;
      metrics.write_prometheus(text);
      replace(path, text.str());
    } catch (const std::system_error& error) {
      console.note(fmt::format("--metrics-file: cannot write {}: {}", printable(path), error.code().message()));
    } catch (const std::exception& error) {
      console.note(fmt::format("--metrics-file: cannot write {}: {}", printable(path), error.what()));
    }
  } catch (...) {
    // Out of memory, so it cannot be reported.
  }
}

}  // namespace holdfast::cli
