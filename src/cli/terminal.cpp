#include "cli/terminal.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace holdfast::cli {

Terminal::Terminal() : fd_(open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)) {}

Terminal::~Terminal() { take_back(); }

bool Terminal::hung_up() const { return exists() && tcgetpgrp(fd_.get()) < 0 && (errno == EIO || errno == ENOTTY); }

bool Terminal::is_all_ours() const { return exists() && isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0; }

void Terminal::keep_modes() { modes_known_ = tcgetattr(fd_.get(), &modes_) == 0; }

int Terminal::to_begin_with() {
  if (!is_all_ours() || tcgetpgrp(fd_.get()) != getpgrp()) return -1;
  keep_modes();
  return fd_.get();
}

bool Terminal::lend(pid_t group) {
  if (!exists()) return false;
  const pid_t foreground = tcgetpgrp(fd_.get());
  if (foreground != group) {
    if (foreground != getpgrp()) return false;
    keep_modes();
    if (tcsetpgrp(fd_.get(), group) != 0) return false;
  }
  lent_to_ = group;
  was_lent_ = true;
  return true;
}

void Terminal::take_back() {
  if (lent_to_ == 0) return;
  // Another job may have been put into the foreground meanwhile; then we must not take the terminal.
  if (tcgetpgrp(fd_.get()) == lent_to_) tcsetpgrp(fd_.get(), getpgrp());
  lent_to_ = 0;
}

void Terminal::take_back_from_killed() {
  if (lent_to_ != 0 && modes_known_ && tcgetpgrp(fd_.get()) == lent_to_) {
    tcsetattr(fd_.get(), TCSADRAIN, &modes_);
  }
  take_back();
}

}  // namespace holdfast::cli
