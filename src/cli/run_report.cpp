#include "cli/run_report.hpp"

#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/json.hpp"

namespace holdfast::cli {
namespace {

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

}  // namespace holdfast::cli
