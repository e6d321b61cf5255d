// SPDX-License-Identifier: Apache-2.0
// What `holdfast run` and `holdfast elect` have in common: from the command line to the end of the process.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <holdfast/config.hpp>

#include "cli/console.hpp"
#include "cli/process.hpp"
#include "cli/run/command.hpp"
#include "cli/run/lock.hpp"
#include "cli/run/options.hpp"
#include "cli/run/report.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

class Watcher;

/// One use of such a verb. The order of the members matters: descriptors are listed before any is opened, signals are
/// taken over before any thread starts.
class RunSession {
 public:
  /// What it refers to must outlive it. Throws UsageError if there is no descriptor for the report.
  RunSession(const RunOptions& options, const Console& console);
  virtual ~RunSession() = default;
  RunSession(const RunSession&) = delete;
  RunSession& operator=(const RunSession&) = delete;

  /// Does it, releases what may still be ours, as far as that can be done soon, and reports. Then ends the process
  /// without destroying this object, which might wait for a silent server.
  [[noreturn]] void carry_out();

 protected:
  /// Returns the exit code.
  virtual int go() = 0;
  /// When it is over.
  virtual void write_metrics() = 0;
  /// The signal that ended the command, if any: the tool dies of it too.
  virtual SharedEnd ended_by() const = 0;

  /// Settles the times, and makes the lock.
  void make_lock(std::vector<Config> configs);
  RunCommand command();

  const RunOptions& options_;
  const Console& console_;
  InheritedFds inherited_;
  SignalGate signals_;
  std::shared_ptr<Watcher> watcher_;
  RunReport report_;
  RunTimes times_;
  std::optional<RunLock> lock_;
};

}  // namespace holdfast::cli
