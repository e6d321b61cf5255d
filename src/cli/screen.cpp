#include "cli/screen.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <string_view>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

#include "cli/output.hpp"

namespace holdfast::cli {
namespace {

// The alternate screen, without a cursor, with long lines cut.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kRestOfLine = "\x1b[K";
constexpr std::string_view kRestOfPage = "\x1b[J";

std::size_t height() {
  winsize size{};
  const bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return told ? size.ws_row : 24;
}

}  // namespace

Screen::Screen() {
  if (isatty(STDIN_FILENO) != 0) keys_ = STDIN_FILENO;
  take_over();
}

Screen::~Screen() { give_back(); }

bool Screen::exists() { return isatty(STDOUT_FILENO) != 0; }

void Screen::take_over() {
  // In the background the terminal belongs to another job.
  if (keys_ >= 0 && tcgetpgrp(keys_) == getpgrp()) {
    termios modes{};
    if (tcgetattr(keys_, &modes) == 0) {
      if (!found_) found_ = modes;
      modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      modes.c_cc[VSUSP] = _POSIX_VDISABLE;  // a key like others: see suspend()
      modes.c_cc[VMIN] = 0;
      modes.c_cc[VTIME] = 0;
      tcsetattr(keys_, TCSADRAIN, &modes);
    }
  }
  write_all(STDOUT_FILENO, kEnter);
}

void Screen::give_back() noexcept {
  try {
    write_all(STDOUT_FILENO, kLeave);
  } catch (const std::system_error&) {
    // It is gone.
  }
  if (found_) tcsetattr(keys_, TCSADRAIN, &*found_);
  found_.reset();
}

Screen::Key Screen::next_key() const {
  pollfd pressed{keys_, POLLIN, 0};
  if (poll(&pressed, 1, 0) <= 0) return Key::none;
  char key = 0;
  const ssize_t count = read(keys_, &key, 1);
  if (count < 0 && errno == EINTR) return Key::other;
  if (count <= 0) return Key::quit;
  constexpr char kSuspend = '\x1a';
  if (key == 'q' || key == 'Q') return Key::quit;
  if (key == 's' || key == 'S') return Key::sort;
  if (key == '?' || key == 'h') return Key::help;
  return key == kSuspend ? Key::suspend : Key::other;
}

void Screen::draw(const Shown& lines) const {
  std::string out(kHome);
  std::size_t room = height();
  for (std::string_view rest = lines.text(); !rest.empty() && room > 0; --room) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    out.append(line).append(kRestOfLine);
    if (!rest.empty() && room > 1) out += "\r\n";
  }
  write_all(STDOUT_FILENO, out.append(kRestOfPage));
}

void Screen::suspend() {
  give_back();
  kill(0, SIGSTOP);  // the whole job, as the key does
  take_over();
}

}  // namespace holdfast::cli
