// SPDX-License-Identifier: Apache-2.0
// The command of `holdfast run`, from its start under a hold to the messages at its end.
#pragma once

#include <string>
#include <vector>

#include <holdfast/hold.hpp>

#include "cli/console.hpp"
#include "cli/process.hpp"
#include "cli/run/lock.hpp"
#include "cli/run/options.hpp"
#include "cli/run/report.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// A signal that ended the command and was meant for the tool too.
struct SharedEnd {
  int signal = 0;       ///< 0: none.
  bool by_key = false;  ///< From a key, while the command had the terminal; otherwise sent to the tool and passed on.
};

/// Used once, by the main thread.
class RunCommand {
 public:
  /// What the process passes to the command, or watches while it runs.
  struct Surroundings {
    const InheritedFds& inherited;
    const SignalGate& signals;
    const EventFd& wake;  ///< Set whenever the hold was renewed.
  };

  /// What it refers to must outlive it.
  RunCommand(const RunOptions& options, RunTimes times, const Console& console, RunReport& report,
             Surroundings surroundings)
      : options_(options), times_(times), console_(console), report_(report), surroundings_(surroundings) {}

  /// Runs it, releases the lock, and returns the exit code.
  int run(RunLock& lock, Hold& hold);
  /// The signal that ended the command, if any: the tool dies of it too.
  const SharedEnd& ended_by() const { return ended_by_; }
  /// True if the tool was asked to end meanwhile.
  bool told_to_end() const { return told_to_end_; }

 private:
  class Supervisor;

  int conclude(bool acted);
  std::chrono::milliseconds rest(base::TimePoint held_since) const;
  const char* reason_in_words() const;
  int fail(const Problem& problem);
  std::vector<std::string> environment(const Hold& hold) const;

  const RunOptions& options_;
  const RunTimes times_;
  const Console& console_;
  RunReport& report_;
  const Surroundings surroundings_;
  SharedEnd ended_by_;
  bool told_to_end_ = false;
  bool gone_ = false;  // the lock was lost before the command had ended
};

}  // namespace holdfast::cli
