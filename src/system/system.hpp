// SPDX-License-Identifier: Apache-2.0
// What only Linux has, behind names of ours: linux.cpp. portable.cpp does the same with what POSIX has, a little
// slower; HOLDFAST_PORTABLE chooses it, and every other system has it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <signal.h>
#include <span>

namespace holdfast::system {

/// Makes a descriptor readable, from any thread.
class Bell {
 public:
  /// Throws std::system_error if there are no more descriptors.
  Bell();
  ~Bell();
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  void ring() const noexcept;
  /// Until it rings again the descriptor is not readable.
  void hush() const noexcept;
  /// To be polled.
  int descriptor() const { return heard_; }

 private:
  int heard_;
  int rung_;  // the same where one descriptor is enough
};

/// Sleeps if the word is this, until wake_one(), or for `limit`; perhaps for less.
void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t value, std::chrono::nanoseconds limit) noexcept;
/// Wakes one who sleeps there. It is not looked at, and may be gone; who sleeps on another word may be woken as well.
void wake_one(const void* word) noexcept;

/// poll() for this long, with these signals blocked while it sleeps, and no others.
int poll(std::span<pollfd> looked_at, std::chrono::nanoseconds limit, const sigset_t& signals) noexcept;

/// Combines many sockets into one descriptor to wait for, readable when one of them is. A socket leaves the set by
/// being closed.
class SocketSet {
 public:
  SocketSet();
  ~SocketSet();  // NOLINT(performance-trivially-destructible): not on Linux
  SocketSet(const SocketSet&) = delete;
  SocketSet& operator=(const SocketSet&) = delete;

  /// Ignores negative ones and those already in the set.
  void add(const std::array<int, 2>& sockets);
  /// To be polled; -1: there is none to be had, so these cannot be waited for.
  int descriptor() const { return set_; }

 private:
  const int set_;
};

/// A socket that programs started later do not inherit. -1, and errno, if there is none.
int new_socket(int family, int type) noexcept;
/// What `from` is, under the number `to`, and not inherited. Async-signal-safe.
void put_at(int from, int to) noexcept;
/// Writes everything of the file's file system to the disk. -1, and errno, if that fails.
int sync_file_system(int fd) noexcept;

/// The program's name, without its folder.
const char* program_name() noexcept;

}  // namespace holdfast::system
