#include "cli/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace holdfast::cli {
namespace {

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

}  // namespace holdfast::cli
