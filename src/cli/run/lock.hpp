// SPDX-License-Identifier: Apache-2.0
// The lock of `holdfast run`: made of all its names on all its servers, acquired while signals are handled, and
// released; and what is kept beside it for later runs.
#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/hold.hpp>

#include "cli/at_servers.hpp"
#include "cli/console.hpp"
#include "cli/run/options.hpp"
#include "cli/run/report.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

struct AcquisitionResult {
  std::optional<Hold> hold;
  /// Why there is no hold. Errc::busy, timed_out and cancelled are the ordinary reasons.
  std::exception_ptr failure;
  std::optional<LockInfo> holder;  ///< Who had it, if queried and if somebody had.
  base::Duration waited{};
};

/// What `holdfast run` keeps on the server besides its lock, for later runs: that the command has succeeded
/// (`--fresh`), and that this firing was handled (`--at`). Such a mark is a key with an expiry that nobody waits for.
/// Only the holder of the lock checks and sets it, so this happens one run at a time. Used by one thread.
class RunMarks {
 public:
  /// What they refer to must outlive it.
  RunMarks(const RunOptions& options, const Client& client) : options_(options), client_(client) {}
  /// Releases a firing for which no command has begun.
  ~RunMarks();
  RunMarks(const RunMarks&) = delete;
  RunMarks& operator=(const RunMarks&) = delete;

  struct Skip {
    const char* option;  ///< Without its dashes.
    std::string why;
  };
  /// Right after the grant: why there is nothing to do. Empty: go ahead, and the firing is ours from now on. Throws
  /// Error.
  std::optional<Skip> reason_to_skip();
  /// The firing stays ours, whatever happens to the command.
  void command_begins() { begun_ = true; }
  /// The command could not be started after all.
  void command_never_began() { begun_ = false; }
  /// Call while the lock is still held. Empty: done. Otherwise why the mark may be missing.
  std::optional<std::string> command_succeeded();

 private:
  SimpleLock mark(std::string_view what) const;

  const RunOptions& options_;
  const Client& client_;
  std::optional<Hold> firing_;
  bool begun_ = false;
};

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

  std::uint64_t renewals() const { return servers_.first().counters().renewals; }

 private:
  class Acquisition;

  /// All names together; with several servers, on a majority of them. With --any, any one of them.
  BasicLock lock() const;
  /// The names that are held on any server, so that this lock must wait; empty: no answer in this time, or only
  /// failures. By one thread at a time.
  std::optional<std::vector<LockInfo>> holders(std::chrono::milliseconds limit);
  /// Sees to it, in the background and from now on, that the number of permits stays.
  void keep_number();
  /// True if there was a connection to the server, or to a majority of several.
  bool reached() const;

  const RunOptions& options_;
  const Console& console_;
  RunReport& report_;
  /// How long a server that has gone away is tolerated.
  const std::chrono::milliseconds patience_;
  std::vector<std::future<void>> late_calls_;  // ended by the closing of the clients
  std::jthread number_keeper_;                 // likewise
  AtServers servers_;
  std::optional<RunMarks> marks_;
  int interrupted_by_ = 0;
  std::future<ReleaseOutcome> last_word_;
};

}  // namespace holdfast::cli
