// SPDX-License-Identifier: Apache-2.0
// Process: fork and exec by a thread that lives as long as the test, and a reader for the child's output.
#include "support/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "support/quiet_pipe.hpp"
#include "support/spawn.hpp"

namespace holdfast::test {
namespace {

std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::map<std::string, std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    merged[text.substr(0, text.find('='))] = text;
  }
  for (const std::string& change : changes) {
    const std::size_t equals = change.find('=');
    if (equals == std::string::npos) {
      merged.erase(change);
    } else {
      merged[change.substr(0, equals)] = change;
    }
  }
  std::vector<std::string> out;
  for (auto& [name, text] : merged) out.push_back(std::move(text));
  return out;
}

/// One output of the child: what came so far, and how much of it has been handed out as lines.
struct Stream {
  std::string bytes;
  std::size_t taken = 0;
  bool closed = false;
};

}  // namespace

struct Process::State {
  pid_t pid = -1;
  pid_t maker = getpid();
  bool own_group = false;
  std::string program;
  Fd input;
  Fd stop_reading;  // closing it ends the reader
  std::thread reader;

  mutable std::mutex mutex;
  std::condition_variable changed;
  std::array<Stream, 2> streams;     // guarded by mutex
  std::optional<ExitStatus> status;  // guarded by mutex

  ~State() {
    if (getpid() != maker) {
      // A child made by fork() has neither the reader nor the right to end the process.
      if (reader.joinable()) reader.detach();
      return;
    }
    end();
    stop_reading.reset();
    if (reader.joinable()) reader.join();
  }

  void end() {
    if (pid <= 0) return;
    {
      const std::lock_guard guard(mutex);
      if (own_group) ::kill(-pid, SIGKILL);
      if (!status) ::kill(pid, SIGKILL);
    }
    while (!reap(WEXITED)) {
    }
  }

  /// Reaps the child if it has ended; with `options` WEXITED alone it waits for that.
  bool reap(int options) {
    {
      const std::lock_guard guard(mutex);
      if (status) return true;
    }
    siginfo_t info{};
    // WNOWAIT: the pid stays ours until the status is stored, so that signal() cannot hit somebody else.
    if (waitid(P_PID, static_cast<id_t>(pid), &info, options | WNOWAIT) != 0 && errno == EINTR) return false;
    const std::lock_guard guard(mutex);
    if (status) return true;
    int raw = 0;
    if (waitpid(pid, &raw, WNOHANG) == 0) return false;
    status = WIFSIGNALED(raw) ? ExitStatus{0, WTERMSIG(raw)} : ExitStatus{WEXITSTATUS(raw), 0};
    return true;
  }

  void read_outputs(std::array<Fd, 2> pipes, const Fd& stop) {
    std::array<char, 16384> buffer{};
    while (pipes[0].valid() || pipes[1].valid()) {
      std::array<pollfd, 3> polled{{{pipes[0].get(), POLLIN, 0}, {pipes[1].get(), POLLIN, 0}, {stop.get(), POLLIN, 0}}};
      if (poll(polled.data(), polled.size(), -1) < 0) continue;
      if (polled[2].revents != 0) return;
      for (std::size_t i = 0; i < 2; ++i) {
        if (polled[i].revents == 0) continue;
        const ssize_t count = ::read(pipes[i].get(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        const std::lock_guard guard(mutex);
        if (count > 0) {
          streams[i].bytes.append(buffer.data(), static_cast<std::size_t>(count));
        } else {
          streams[i].closed = true;
          pipes[i].reset();
        }
        changed.notify_all();
      }
    }
  }

  std::optional<std::string> next_line(std::size_t which, std::chrono::milliseconds limit) {
    std::unique_lock guard(mutex);
    Stream& stream = streams[which];
    std::size_t end = std::string::npos;
    const auto ready = [&] {
      end = stream.bytes.find('\n', stream.taken);
      return end != std::string::npos || stream.closed;
    };
    if (!changed.wait_for(guard, limit, ready)) return std::nullopt;
    if (end == std::string::npos) {
      if (stream.taken == stream.bytes.size()) return std::nullopt;
      end = stream.bytes.size();
    }
    std::string line = stream.bytes.substr(stream.taken, end - stream.taken);
    stream.taken = std::min(end + 1, stream.bytes.size());
    return line;
  }
};

Process::Process(std::string program, std::vector<std::string> args, ProcessOptions options)
    : state_(std::make_unique<State>()) {
  auto [input_read, input_write] = make_pipe();
  auto [output_read, output_write] = make_pipe();
  auto [error_read, error_write] = make_pipe();
  auto [stop_read, stop_write] = make_pipe();
  if (!options.output_file.empty()) {
    output_write = Fd(open(options.output_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!output_write.valid()) throw std::system_error(errno, std::generic_category(), options.output_file);
    error_write = Fd(fcntl(output_write.get(), F_DUPFD_CLOEXEC, 0));
  }
  args.insert(args.begin(), program);
  state_->program = program;
  state_->own_group = options.own_group;
  state_->pid = spawn({program,
                       std::move(args),
                       merged_environment(options.env),
                       options.working_dir,
                       {input_read.get(), output_write.get(), error_write.get()},
                       options.own_group});
  state_->input = std::move(input_write);
  state_->stop_reading = std::move(stop_write);
  std::array<Fd, 2> pipes{std::move(output_read), std::move(error_read)};
  state_->reader = std::thread([state = state_.get(), pipes = std::move(pipes), stop = std::move(stop_read)]() mutable {
    state->read_outputs(std::move(pipes), stop);
  });
}

Process::Process(Process&&) noexcept = default;
Process& Process::operator=(Process&&) noexcept = default;
Process::~Process() = default;

pid_t Process::pid() const { return state_->pid; }

bool Process::write(std::string_view bytes) {
  const QuietPipe quiet;
  while (!bytes.empty()) {
    const ssize_t count = ::write(state_->input.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool Process::write_line(std::string_view line) { return write(std::string(line) + "\n"); }
void Process::close_stdin() { state_->input.reset(); }

std::optional<std::string> Process::read_line(std::chrono::milliseconds limit) { return state_->next_line(0, limit); }
std::optional<std::string> Process::read_error_line(std::chrono::milliseconds limit) {
  return state_->next_line(1, limit);
}

std::string Process::output() const {
  const std::lock_guard guard(state_->mutex);
  return state_->streams[0].bytes;
}

std::string Process::errors() const {
  const std::lock_guard guard(state_->mutex);
  return state_->streams[1].bytes;
}

void Process::signal(int number) {
  const std::lock_guard guard(state_->mutex);
  if (!state_->status) ::kill(state_->pid, number);
}

bool Process::running() { return !state_->reap(WEXITED | WNOHANG); }

std::optional<ExitStatus> Process::wait(std::chrono::milliseconds limit) {
  if (!eventually([this] { return !running(); }, limit)) return std::nullopt;
  const std::lock_guard guard(state_->mutex);
  return state_->status;
}

std::optional<ExitStatus> Process::finish(std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  const std::optional<ExitStatus> status = wait(limit);
  if (!status) return std::nullopt;
  std::unique_lock guard(state_->mutex);
  const auto closed = [this] { return state_->streams[0].closed && state_->streams[1].closed; };
  if (!state_->changed.wait_until(guard, end, closed)) return std::nullopt;
  return status;
}

std::string run_checked(std::string program, std::vector<std::string> args, ProcessOptions options) {
  std::string command = program;
  for (const std::string& arg : args) command += " " + arg;
  Process process(std::move(program), std::move(args), std::move(options));
  process.close_stdin();
  const std::optional<ExitStatus> status = process.finish();
  if (status != ExitStatus{}) {
    throw std::runtime_error(command + (status ? " failed: " : " does not end: ") + process.output() +
                             process.errors());
  }
  return process.output();
}

}  // namespace holdfast::test
