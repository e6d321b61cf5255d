// SPDX-License-Identifier: Apache-2.0
// The signals of `holdfast run`: always read from a descriptor, and passed unchanged to the command.
#pragma once

#include <csignal>
#include <optional>

#include "cli/fd.hpp"

namespace holdfast::cli {

/// Takes over the process's signals. Make it before any thread starts, so that all threads have them blocked.
/// A signal that was ignored when the tool started (nohup, a background job of a script) stays ignored.
class SignalGate {
 public:
  SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// Readable when next() has a signal.
  int fd() const { return fd_.get(); }
  /// The next signal that has arrived, if any. Does not wait.
  std::optional<int> next() const;

  /// From now on the terminal's suspend key is ignored, since a suspended holder cannot renew its lease.
  void refuse_suspension() const;

  /// For the command's process, between fork and exec: restores the mask and dispositions that this process started
  /// with. Async-signal-safe.
  void hand_back() const noexcept;

  /// Signals that ask a program to end.
  static bool is_ending(int signal) noexcept;
  /// Ends this process by the signal, so that its parent sees that, such as a shell that should stop a loop. If that is
  /// not possible (process 1 of a container) it exits with 128 + signal.
  [[noreturn]] static void die_of(int signal) noexcept;
  /// Signals our whole process group, as a key does. This process reads it like any other signal.
  static void signal_own_group(int signal) noexcept;
  /// `SIGTERM` and so on.
  static const char* name(int signal) noexcept;

 private:
  sigset_t found_mask_{};
  // The dispositions that this process changes for itself.
  struct Changed {
    int signal;
    struct sigaction found{};
  };
  Changed changed_[4] = {{SIGPIPE}, {SIGCHLD}, {SIGTTOU}, {SIGTSTP}};
  Fd fd_;
};

}  // namespace holdfast::cli
