// SPDX-License-Identifier: Apache-2.0
#include "cli/run/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

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

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;

/// Pointers to strings that outlive them, ended by a null pointer.
std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> out;
  for (const std::string& string : strings) out.push_back(const_cast<char*>(string.c_str()));
  out.push_back(nullptr);
  return out;
}

/// An entry without a value removes the variable.
std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  const auto name_of = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string& change : changes) replaced = replaced || name_of(change) == name_of(*entry);
    if (!replaced) merged.emplace_back(*entry);
  }
  for (const std::string& change : changes) {
    if (change.find('=') != change.npos) merged.push_back(change);
  }
  return merged;
}

/// Runs in the new process until it becomes the command. It shares the memory of its parent, which is suspended
/// meanwhile, and other threads may hold any lock: only async-signal-safe calls, and no changes to the parent's data.
[[noreturn]] void become(char* const* argv, char* const* environment, const SignalGate& signals,
                         const InheritedFds& inherited, const Guard& guard, int terminal, pid_t parent,
                         int error_pipe) noexcept {
  setpgid(0, 0);
  guard.watch_group(getpid());
  if (terminal >= 0) tcsetpgrp(terminal, getpid());
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before that took effect.
  if (getppid() != parent) _exit(kNotFound);
  inherited.close_others_on_exec();
  signals.hand_back();
  execvpe(argv[0], argv, environment);
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(error_pipe, &error, sizeof error);
  _exit(kNotFound);
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

int ChildEnd::shell_status() const {
  if (exec_error != 0) return exec_error == ENOENT ? kNotFound : kNotExecutable;
  return signal != 0 ? 128 + signal : exit_code;
}

Child::Child(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
             const SignalGate& signals, const InheritedFds& inherited, const Guard& guard, int terminal) {
  // Orphans of the command become our children, so that they are reaped even without an init process.
  prctl(PR_SET_CHILD_SUBREAPER, 1);

  const std::vector<std::string> merged = merged_environment(environment);
  const std::vector<char*> argv_pointers = pointers(argv);
  const std::vector<char*> environment_pointers = pointers(merged);
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  exec_error_ = Fd(pipe_ends[0]);
  const Fd write_end(pipe_ends[1]);
  const pid_t parent = getpid();

  // Copying the address space, only to discard it, would take longer than the rest of the start.
  // NOLINTBEGIN(bugprone-unsafe-functions,clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  const pid_t started = vfork();
  if (started == 0) {
    become(argv_pointers.data(), environment_pointers.data(), signals, inherited, guard, terminal, parent,
           write_end.get());
  }
  // NOLINTEND(bugprone-unsafe-functions,clang-analyzer-security.insecureAPI.vfork,clang-analyzer-unix.Vfork)
  if (started < 0) throw std::system_error(errno, std::generic_category(), "vfork");
  pid_ = started;
  // Usually fails because the command runs already; under a sanitizer vfork is a plain fork.
  setpgid(pid_, pid_);
}

Child::~Child() {
  if (reaped_) return;
  signal_group(SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool Child::signal_group(int signal) const noexcept { return kill(-pid_, signal) == 0 || errno != EPERM; }

bool Child::group_exists() const noexcept { return kill(-pid_, 0) == 0 || errno == EPERM; }

ChildNews Child::look() {
  ChildNews news;
  siginfo_t info{};
  while (!reaped_ && waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WSTOPPED | WNOHANG) == 0 &&
         info.si_pid != 0) {
    if (info.si_code == CLD_STOPPED) {
      news.stopped_by = info.si_status;
      info = {};
      continue;
    }
    reaped_ = true;
    if (info.si_code == CLD_EXITED) {
      end_.exit_code = info.si_status;
    } else {
      end_.signal = info.si_status;
    }
    end_.exec_error = read_exec_error();
    news.ended = true;
  }
  reap_adopted();
  return news;
}

void Child::reap_adopted() const {
  siginfo_t info{};
  while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0) {
    // The command itself is left for the next call.
    if (!reaped_ && info.si_pid == pid_) return;
    waitpid(info.si_pid, nullptr, WNOHANG);
    info = {};
  }
}

int Child::read_exec_error() const {
  int error = 0;
  return read(exec_error_.get(), &error, sizeof error) == static_cast<ssize_t>(sizeof error) ? error : 0;
}

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
