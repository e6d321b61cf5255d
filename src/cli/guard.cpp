#include "cli/guard.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include "cli/inherited.hpp"
#include "cli/title.hpp"

namespace holdfast::cli {
namespace {

/// A message to the guard; small enough for one atomic write.
struct Word {
  pid_t group = 0;                  // 0: not about the group
  std::int64_t must_end_by_ns = 0;  // with group 0; 0: no limit
};

/// The guard's life. Only async-signal-safe calls: it is forked from a process with threads.
[[noreturn]] void stand_guard(int words, const Timer& timer) noexcept {
  setpgid(0, 0);
  set_title("holdfast-guard");
  // Signals that end the tool must leave the guard time to act.
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  [[maybe_unused]] const int changed = chdir("/");
  close_all_but(words, timer.get());

  pid_t group = 0;
  while (true) {
    pollfd polled[2] = {{words, POLLIN, 0}, {timer.get(), POLLIN, 0}};
    if (poll(polled, 2, -1) < 0) continue;
    if (polled[0].revents != 0) {
      Word word;
      if (read(words, &word, sizeof word) != static_cast<ssize_t>(sizeof word)) break;
      if (word.group != 0) {
        group = word.group;
      } else if (word.must_end_by_ns == 0) {
        timer.arm(std::nullopt);
      } else {
        timer.arm(base::TimePoint(base::Duration(word.must_end_by_ns)));
      }
      continue;
    }
    if (group != 0) kill(-group, SIGKILL);
    timer.arm(std::nullopt);
  }
  if (group != 0) kill(-group, SIGKILL);
  _exit(0);
}

}  // namespace

Guard::Guard() { start(); }

void Guard::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const Fd read_end(ends[0]);
  words_ = Fd(ends[1]);
  fcntl(words_.get(), F_SETFL, O_NONBLOCK);
  const Timer timer;
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ == 0) stand_guard(read_end.get(), timer);
}

bool Guard::stands() const noexcept {
  // Nobody else reads from the pipe, so its state is reliable. The process id is not, since an ended guard is reaped
  // along with the command's orphans.
  pollfd polled{words_.get(), 0, 0};
  return words_.get() >= 0 && poll(&polled, 1, 0) == 0;
}

void Guard::replace() {
  words_.reset();
  pid_ = -1;
  start();
}

void Guard::dismiss() const noexcept {
  // If it was killed, it has been reaped along with the command's orphans, and its process id may belong to another
  // process.
  siginfo_t info{};
  if (pid_ <= 0 || waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
  kill(pid_, SIGKILL);
}

Guard::~Guard() {
  dismiss();
  while (pid_ > 0 && waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guard::watch_group(pid_t group) const noexcept {
  const Word word{.group = group, .must_end_by_ns = 0};
  [[maybe_unused]] const ssize_t written = write(words_.get(), &word, sizeof word);
}

void Guard::must_end_by(std::optional<base::TimePoint> time) const noexcept {
  const Word word{.group = 0, .must_end_by_ns = time ? time->time_since_epoch().count() : 0};
  [[maybe_unused]] const ssize_t written = write(words_.get(), &word, sizeof word);
}

}  // namespace holdfast::cli
