// The lock of `holdfast run`: acquired while signals are handled, and released.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/hold.hpp>

#include "cli/acquisition.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/run_marks.hpp"
#include "cli/run_report.hpp"
#include "cli/run_settings.hpp"
#include "cli/servers.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// Used by the main thread. Destruction waits for the server; if that may be silent, end the process instead.
class RunLock {
 public:
  /// What it refers to must outlive it. A client for each of the configs.
  RunLock(const RunOptions& options, const Console& console, RunReport& report, std::vector<Config> configs);

  /// Waits for it until an ending signal comes.
  AcquisitionResult acquire(const RunTimes& times, const SignalGate& signals);
  /// That signal; 0: none came.
  int interrupted_by() const { return interrupted_by_; }
  /// Reports why there is no hold, and returns the exit code if somebody else has the lock. Throws any other cause.
  int not_acquired(const AcquisitionResult& result);

  /// After the grant: why there is nothing to do, if so. Throws Error.
  std::optional<RunMarks::Skip> reason_to_skip();
  /// Records the start for later runs, while the lock is held.
  void command_begins();
  void command_ended(const Hold& hold, const ChildEnd& end);

  /// Releases it, or leaves it taken for `rest`. If it is lost, or could not be renewed, it gives up after 0.3 s, since
  /// the lease ends it anyway.
  void release(Hold& hold, std::chrono::milliseconds rest = {});
  /// Releases what may still be ours, as far as that can be done soon.
  void close();

  std::uint64_t renewals() const { return servers_.renewals(); }

 private:
  Prepare prepare();
  AskHolder ask_holder();
  Perseverance perseverance();

  const RunOptions& options_;
  const Console& console_;
  RunReport& report_;
  /// How long a server that has gone away is tolerated.
  const std::chrono::milliseconds patience_;
  Servers servers_;
  std::optional<RunMarks> marks_;
  int interrupted_by_ = 0;
  std::future<ReleaseOutcome> last_word_;
};

}  // namespace holdfast::cli
