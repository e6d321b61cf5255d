// SPDX-License-Identifier: Apache-2.0
// How a run went, for programs: the final report of `holdfast run --json`, and the metrics that `run` writes at its end
// and `elect` whenever the lead changes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include <holdfast/error.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/observer.hpp>

#include "base/clock.hpp"
#include "cli/console.hpp"
#include "cli/run/child.hpp"
#include "cli/run/options.hpp"

namespace holdfast::cli {

struct RunReport {
  std::string name;  ///< Several are separated by commas.
  std::vector<std::string> names;
  std::string node;  ///< For several servers, their number.
  std::vector<std::string> nodes;
  std::string owner;
  bool acquired = false;
  base::Duration waited{};
  std::optional<LockInfo> waited_for;  ///< Who had the lock, if anybody.
  base::Duration held{};
  std::uint64_t renewals = 0;
  std::optional<pid_t> pid;  ///< The command's, once started.
  std::optional<ChildEnd> end;
  std::optional<std::string> skipped;  ///< The option, without dashes, that made it skip the command.
  bool lost = false;
  std::optional<LossReason> loss_reason;
  std::optional<ReleaseOutcome> release;
  std::optional<Problem> problem;
  int exit_code = kExitInternal;

  /// `lock "name" on node`
  std::string lock_in_words() const;
  boost::json::object to_json() const;
};

/// With --json or --status-fd: writes it to that descriptor, or to standard error, since standard output is the
/// command's. False if that fails.
bool write_report(const RunOptions& options, const Console& console, const RunReport& report);

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

/// Writes a new file in the same folder and renames it over the old one, so that readers see either one complete. A
/// failure is only noted on the console.
void write_metrics_file(const std::string& path, const Metrics& metrics, const Console& console) noexcept;

}  // namespace holdfast::cli
