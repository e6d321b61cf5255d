// SPDX-License-Identifier: Apache-2.0
// The command that runs under the lock: a process group of its own, started, signalled and reaped here; the terminal,
// which is lent to it; and the small process that ends it when the tool itself cannot, because it was killed or no
// longer runs.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <termios.h>
#include <vector>

#include "base/clock.hpp"
#include "cli/fd.hpp"
#include "cli/process.hpp"
#include "cli/signals.hpp"

namespace holdfast::cli {

/// Does nothing without a controlling terminal.
class Terminal {
 public:
  Terminal();
  /// Takes it back.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  bool exists() const { return fd_.get() >= 0; }
  /// True once the terminal is gone: its window was closed, or the session's leader has ended.
  bool hung_up() const;
  /// True if the command, run without us, would have it from the start: not if a pager or another part of a pipeline
  /// may need it too. Then it is lent when the command requests it (SIGTTIN, SIGTTOU).
  bool is_all_ours() const;
  /// The terminal, which the new process takes before it becomes the command, so that a key pressed at once goes there;
  /// -1 if it should not have it from the start.
  int to_begin_with();
  /// Makes this process group the foreground one. False if neither it nor ours is in the foreground, so there is
  /// nothing to lend.
  bool lend(pid_t group);
  /// True if it was ever lent.
  bool was_lent() const { return was_lent_; }
  void take_back();
  /// The same, and restores its modes, which a killed command could not do.
  void take_back_from_killed();

 private:
  void keep_modes();

  Fd fd_;
  pid_t lent_to_ = 0;
  bool was_lent_ = false;
  termios modes_{};
  bool modes_known_ = false;
};

/// Lives beside the command, from before its start to its end. It sends SIGKILL to the command's process group
/// - when the tool is gone (the kernel does that only for the command, not for processes that it has started);
/// - when the time given by must_end_by() is over and the tool, stopped or starved, has neither extended it nor acted.
/// Used by the main thread.
class Guard {
 public:
  /// Throws std::system_error.
  Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  /// Dismisses it, and waits for its end.
  ~Guard();
  /// Ends it without waiting; the command must have ended.
  void dismiss() const noexcept;

  /// Readable when the guard has ended, which only another process can cause; -1 when there is none.
  int fd() const { return words_.get(); }
  bool stands() const noexcept;
  /// Starts a new guard, which does not know the group or the time yet. Throws std::system_error, and then there is
  /// none.
  void replace();

  /// For the command's process, before it becomes the command: puts its group under guard. Async-signal-safe.
  void watch_group(pid_t group) const noexcept;
  /// Empty: no limit.
  void must_end_by(std::optional<base::TimePoint> time) const noexcept;

 private:
  void start();

  pid_t pid_ = -1;
  Fd words_;  // the write end; when it closes, the guard assumes that the tool has ended
};

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
