// SPDX-License-Identifier: Apache-2.0
// Starts a private Redis server on a unix socket, and checks one.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::private_server {

using SteadyClock = std::chrono::steady_clock;
using Deadline = SteadyClock::time_point;

constexpr std::chrono::milliseconds kPause{10};  ///< Between two checks on another process.

/// Paths.
struct Files {
  std::string folder, socket, turn, log;
};
/// Their names in the folder.
inline constexpr const char *kSocketName = "redis.sock", *kTurnName = "start.lock", *kLogName = "redis.log",
                            *kPidName = "redis.pid";
Files files_in(const std::string& folder);

/// The system's message for an errno.
std::string words(int error);
Error unreachable(const Files& files, const std::string& cause);
Error denied(const Files& files, const std::string& cause);
/// Throws Error if the path is too long for a socket.
void require_short_path(const Files& files);

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor();
  int get() const noexcept { return number_; }
  bool ok() const noexcept { return number_ >= 0; }

 private:
  int number_;
};

/// A folder that belongs to this user, and that nobody else may enter. Whoever uses its descriptor uses the folder that
/// was checked, whatever somebody puts in the place of its path. Throws Error(denied) if it is not like that, or if one
/// of our files in it is a link or belongs to somebody else.
class PrivateFolder {
 public:
  explicit PrivateFolder(const Files& files);
  int get() const noexcept { return descriptor_.get(); }

 private:
  Descriptor descriptor_;
};

/// `silent`: a process has the socket, and no answer came before the deadline.
enum class State { answers, absent, silent };

/// One connection, one PING. A server that answers with an error (busy, password required) also counts; the client will
/// get that error itself. Throws Error if the listener is not a Redis server.
State look(const Files& files, Deadline deadline);

/// A process that we started. It is always waited for, so that no zombie stays; if it has not ended, it is killed.
class Child {
 public:
  explicit Child(pid_t pid) noexcept : pid_(pid) {}
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();
  bool ended() const noexcept { return pid_ == 0; }
  /// True if it has ended with a failure. The program's own SIGCHLD handler may have waited for it first; then its
  /// result is unknown.
  bool failed();

 private:
  pid_t pid_;
};

enum class Stays {
  with_us,  ///< Ends with the returned Child.
  for_all,  ///< In a session of its own, outliving us; the returned Child has ended.
};

/// Starts redis-server, or else valkey-server, from PATH, and waits until it answers. Throws Error(unreachable) if it
/// does not come up.
Child start(const Files& files, Stays stays);

/// `local:`: makes sure that this user's private server on a unix socket runs, and returns its socket's path. Takes
/// some 10 ms; with a server or another starter that hangs, half a minute at most. Throws Error(unreachable) if there
/// is no redis-server (or valkey-server) to start, or it does not come up, and Error(denied) if the folder for the
/// socket is not this user's alone.
std::string ensure_local_server();

}  // namespace holdfast::private_server
