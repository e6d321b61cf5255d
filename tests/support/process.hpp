// SPDX-License-Identifier: Apache-2.0
// A child process with its input and output, which never outlives the test.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "support/wait.hpp"

namespace holdfast::test {

/// How a process ended: with an exit code, or by a signal.
struct ExitStatus {
  int code = 0;    ///< When it exited.
  int signal = 0;  ///< When not 0: it was killed by this signal.
  friend bool operator==(const ExitStatus&, const ExitStatus&) = default;
  friend std::ostream& operator<<(std::ostream& out, const ExitStatus& status) {
    return status.signal != 0 ? out << "killed by signal " << status.signal : out << "exit code " << status.code;
  }
};

struct ProcessOptions {
  /// `NAME=value` sets, `NAME` alone removes; the rest of the environment is the test's own.
  std::vector<std::string> env{};
  std::string working_dir{};  ///< Empty: the test's.
  std::string output_file{};  ///< When set, both outputs are appended to this file and cannot be read from the object.
  bool own_group = false;     ///< The leader of a process group; the destructor then kills the whole group.
};

/// Starts at construction, is killed and reaped by the destructor, and dies with the test process in any case.
/// Output is collected all the time, so that a child never blocks on a full pipe. Methods may be called from any
/// thread; wait() and signal() never touch a recycled pid. Throws std::system_error if the program cannot be started.
class Process {
 public:
  Process(std::string program, std::vector<std::string> args, ProcessOptions options = {});
  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  ~Process();

  pid_t pid() const;

  /// To its standard input. False if it does not read any more.
  bool write(std::string_view bytes);
  bool write_line(std::string_view line);
  void close_stdin();

  /// The next line of standard output without its newline; empty at the end of output or when the time is over.
  std::optional<std::string> read_line(std::chrono::milliseconds limit = kPatience);
  std::optional<std::string> read_error_line(std::chrono::milliseconds limit = kPatience);
  /// Everything written up to now, read_line()'s lines included.
  std::string output() const;
  std::string errors() const;

  void signal(int number);
  bool running();
  /// How it ended, or empty if it still runs after this time.
  std::optional<ExitStatus> wait(std::chrono::milliseconds limit = kPatience);
  /// As wait(), and also until both outputs are closed, so that output() and errors() are complete.
  std::optional<ExitStatus> finish(std::chrono::milliseconds limit = kPatience);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a program to its end; throws std::runtime_error with its output if it fails. Returns its standard output.
std::string run_checked(std::string program, std::vector<std::string> args, ProcessOptions options = {});

}  // namespace holdfast::test
