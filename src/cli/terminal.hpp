// The terminal of `holdfast run`: lent to the command, whose process group is not ours, and taken back at the end.
#pragma once

#include <sys/types.h>
#include <termios.h>

#include "cli/fd.hpp"

namespace holdfast::cli {

/// Does nothing where there is no controlling terminal.
class Terminal {
 public:
  Terminal();
  /// Takes it back.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// True if the command would have it from the start were it run without us: not if a pager or another part of a
  /// pipeline may need it too. Then it is lent when the command asks (SIGTTIN, SIGTTOU).
  bool is_all_ours() const;
  /// Makes this process group the foreground one. False if our group is not, so that there is nothing to lend.
  bool lend(pid_t group);
  void take_back();
  /// The same, and its modes as they were: a command that was killed cannot have put them back.
  void take_back_from_killed();

 private:
  Fd fd_;
  pid_t lent_to_ = 0;
  termios modes_{};
  bool modes_known_ = false;
};

}  // namespace holdfast::cli
