// The terminal of `holdfast run`: lent to the command, which has its own process group, and taken back at the end.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include "cli/fd.hpp"

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

}  // namespace holdfast::cli
