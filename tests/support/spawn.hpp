// SPDX-License-Identifier: Apache-2.0
// The system's side of Process: descriptors, pipes, and a fork that ties the child's life to the test's.
#pragma once

#include <array>
#include <string>
#include <sys/types.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace holdfast::test {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void reset() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

/// Read end and write end, both closed on exec.
std::pair<Fd, Fd> make_pipe();

struct SpawnRequest {
  std::string program;  ///< Looked for on the PATH unless it has a slash.
  std::vector<std::string> args;
  std::vector<std::string> env;
  std::string working_dir;
  std::array<int, 3> standard;  ///< Become standard input, output and error.
  bool own_group = false;
};

/// Starts a program that is killed when this process ends, however that happens. Returns its pid; throws
/// std::system_error if it cannot be started.
pid_t spawn(const SpawnRequest& request);

}  // namespace holdfast::test
