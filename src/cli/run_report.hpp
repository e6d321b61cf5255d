// The final report of `holdfast run --json`, for details that an exit code shared with the command cannot express.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include <holdfast/lock_info.hpp>
#include <holdfast/outcome.hpp>

#include "base/clock.hpp"
#include "cli/child.hpp"
#include "cli/output.hpp"

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

}  // namespace holdfast::cli
