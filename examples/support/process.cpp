// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace support {
namespace {

std::atomic<bool> interrupted = false;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void check_interrupt() {
  if (interrupted) throw std::runtime_error("interrupted");
}

}  // namespace

void end_waits_on_interrupt() {
  struct sigaction action = {};
  action.sa_handler = [](int) { interrupted = true; };
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(signal, &action, nullptr);
  }
}

TempFolder::TempFolder() {
  std::string name = std::filesystem::temp_directory_path() / "holdfast-example.XXXXXX";
  if (mkdtemp(name.data()) == nullptr) fail("cannot make a folder like " + name);
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Process::Process(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) {
    arguments.push_back(argument.data());
  }
  arguments.push_back(nullptr);

  int input[2];
  int output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) fail("pipe");
  pid_ = fork();
  if (pid_ < 0) fail("fork");
  if (pid_ == 0) {
    // The parent may have threads: only calls that are safe after fork until exec.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(input[0], STDIN_FILENO);
    dup2(output[1], STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(input[0]);
  close(output[1]);
  input_ = input[1];
  output_ = output[0];
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      buffer_(std::move(other.buffer_)),
      status_(other.status_) {}

Process::~Process() {
  close_input();
  if (output_ >= 0) close(output_);
  if (pid_ > 0 && !status_) {
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

std::string Process::read_line() {
  std::size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    check_interrupt();
    char bytes[512];
    const ssize_t count = read(output_, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) throw std::runtime_error("a worker process ended before its time");
    buffer_.append(bytes, static_cast<std::size_t>(count));
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

void Process::close_input() {
  if (input_ >= 0) close(std::exchange(input_, -1));
}

void Process::send(int signal) const { kill(pid_, signal); }

bool Process::wait() {
  int status = 0;
  while (!status_) {
    if (waitpid(pid_, &status, 0) == pid_) status_ = status;
    check_interrupt();
  }
  return WIFEXITED(*status_) && WEXITSTATUS(*status_) == 0;
}

bool Process::ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_.has_value();
}

Process start_worker(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), std::filesystem::read_symlink("/proc/self/exe"));
  return Process(std::move(arguments));
}

}  // namespace support
