// SPDX-License-Identifier: Apache-2.0
// Descriptors of the event loop of `holdfast run`: owned, woken by other threads, and timed by the clock of leases.
#pragma once

#include <optional>
#include <poll.h>
#include <span>
#include <utility>

#include "base/clock.hpp"

namespace holdfast::cli {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  ~Fd() { reset(); }

  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

/// Readable once set. set() may be called from any thread.
class EventFd {
 public:
  EventFd();
  int get() const { return fd_.get(); }
  void set() const noexcept;
  /// True if it was set since the last call.
  bool take() const noexcept;

 private:
  Fd fd_;
};

/// Readable when its time has come. Counts time spent suspended, which poll()'s timeout does not.
class Timer {
 public:
  Timer();
  int get() const { return fd_.get(); }
  /// Empty: never. Replaces the time set before.
  void arm(std::optional<base::TimePoint> time) const;

 private:
  Fd fd_;
};

/// Waits until one of them is readable; empty members are skipped. Ignores interruptions.
void wait_readable(std::span<const int> fds);

}  // namespace holdfast::cli
