// The signals of `holdfast run`: read from a descriptor in every phase, and handed back unchanged to the command.
#pragma once

#include <csignal>
#include <optional>

#include "cli/fd.hpp"

namespace holdfast::cli {

/// Takes the signals of the process over. Make it before any thread is started, so that all threads leave them alone.
/// A signal that was ignored when the tool started (nohup, a background job of a script) stays ignored.
class SignalGate {
 public:
  SignalGate();
  SignalGate(const SignalGate&) = delete;
  SignalGate& operator=(const SignalGate&) = delete;

  /// Readable when next() has something to give.
  int fd() const { return fd_.get(); }
  /// The next signal that has arrived, if any. Does not wait.
  std::optional<int> next() const;

  /// From now on the terminal's suspend key is ignored: nobody would renew the lease of a suspended holder.
  void refuse_suspension() const;

  /// For the command's process, between fork and exec: mask and dispositions as this process found them.
  /// Async-signal-safe.
  void hand_back() const noexcept;

  /// Signals that ask a program to end.
  static bool is_ending(int signal) noexcept;
  /// Ends this process by the signal, so that whoever waits for it sees that, as a shell does that is to stop a loop.
  /// Where that is not possible (process 1 of a container) it exits with 128 + signal.
  [[noreturn]] static void die_of(int signal) noexcept;
  /// To all of our own process group, as a key does. This process takes it for one more signal to read.
  static void signal_own_group(int signal) noexcept;
  /// `SIGTERM` and so on.
  static const char* name(int signal) noexcept;

 private:
  sigset_t found_mask_{};
  // What this process changes for itself.
  struct Changed {
    int signal;
    struct sigaction found{};
  };
  Changed changed_[4] = {{SIGPIPE}, {SIGCHLD}, {SIGTTOU}, {SIGTSTP}};
  Fd fd_;
};

}  // namespace holdfast::cli
