// The command that runs under the lock: a process group of its own, started, signalled and reaped here.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "cli/fd.hpp"
#include "cli/guard.hpp"
#include "cli/inherited.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// How the command ended.
struct ChildEnd {
  int exit_code = 0;
  int signal = 0;      ///< When not 0: killed by it.
  int exec_error = 0;  ///< When not 0: it never started, for this reason (errno).

  /// As a shell reports it: the exit code, 128 + signal, 127 not found, 126 not executable.
  int shell_status() const;
};

/// What happened to the command since the last call of look().
struct ChildNews {
  std::optional<int> stopped_by;
  bool ended = false;
};

/// Threads: the constructor must run on the thread that lives as long as the process, since the kernel kills the
/// command when *that thread* ends. Everything else on any one thread.
class Child {
 public:
  /// Starts it. `environment` has `NAME=value` entries to add or replace. Throws std::system_error if no process can be
  /// made; a command that cannot be executed shows in end(). `terminal`: given to it before it starts; -1: none.
  Child(const std::vector<std::string>& argv, const std::vector<std::string>& environment, const SignalGate& signals,
        const InheritedFds& inherited, const Guard& guard, int terminal);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Kills what is left of the group.
  ~Child();

  pid_t pid() const { return pid_; }

  /// Signals its whole process group. False if not permitted, since the command runs as another user.
  bool signal_group(int signal) const noexcept;
  /// True while the group has members, the command itself included until it is reaped.
  bool group_exists() const noexcept;

  /// Reaps what has ended. Call it on SIGCHLD. Does not wait.
  ChildNews look();
  /// Valid after look() returned `ended`.
  const ChildEnd& end() const { return end_; }

 private:
  void reap_adopted() const;
  int read_exec_error() const;

  pid_t pid_ = -1;
  bool reaped_ = false;
  ChildEnd end_;
  Fd exec_error_;  // closed by a successful exec, otherwise delivers errno
};

}  // namespace holdfast::cli
