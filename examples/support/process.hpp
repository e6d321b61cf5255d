// SPDX-License-Identifier: Apache-2.0
// Processes for the examples that show something between several: this same program started again with a role.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace support {

/// Makes Ctrl-C and SIGTERM end waits in `Process` with an exception, so that everything started is also stopped.
void end_waits_on_interrupt();

/// A folder in the place for temporary files, removed with all it holds.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A child process. Its standard output comes here line by line; its standard input stays open until `close_input`.
/// Killed and reaped on destruction; killed by the kernel if this process dies first.
class Process {
 public:
  explicit Process(std::vector<std::string> command);
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  ~Process();

  /// The next line of output. Throws if there is none any more.
  std::string read_line();
  void close_input();
  void send(int signal) const;
  /// Waits for the end. True if it ended by itself with status 0.
  bool wait();
  bool ended();

 private:
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  std::string buffer_;
  std::optional<int> status_;
};

/// This program again, with these arguments.
Process start_worker(std::vector<std::string> arguments);

}  // namespace support
