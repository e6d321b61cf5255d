// Starts a private Redis server on a unix socket, and looks at one.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <utility>

#include <holdfast/error.hpp>

namespace holdfast::private_server {

using SteadyClock = std::chrono::steady_clock;
using Deadline = SteadyClock::time_point;

constexpr std::chrono::milliseconds kPause{10};  ///< Between two looks at what another process does.

struct Files {
  std::string folder, socket, turn, log, pid;
};
Files files_in(const std::string& folder);

/// The system's words for an errno.
std::string words(int error);
Error unreachable(const Files& files, const std::string& cause);
Error denied(const Files& files, const std::string& cause);
/// Throws Error if a socket cannot have this path.
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

/// `silent`: somebody has the socket, and no answer came before the deadline.
enum class State { answers, absent, silent };

/// One connection, one PING. A server that answers with an error (busy, password wanted) is there too; the client will
/// hear that error itself. Throws Error if what listens there is no Redis server.
State look(const Files& files, Deadline deadline);

/// A process that we started. It is always collected, so that no zombie stays; one that has not ended is killed.
class Child {
 public:
  explicit Child(pid_t pid) noexcept : pid_(pid) {}
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();
  bool ended() const noexcept { return pid_ == 0; }
  /// True if it has ended and says that it failed. The program's own SIGCHLD handler may have collected it first; then
  /// nothing is known.
  bool failed();

 private:
  pid_t pid_;
};

enum class Stays {
  with_us,  ///< Ends with the Child that is returned.
  for_all,  ///< In a session of its own, after we have ended; the Child that is returned has ended.
};

/// Starts redis-server, or else valkey-server, from PATH, and waits until it answers. Throws Error(unreachable) if it
/// does not come up.
Child start(const Files& files, Stays stays);

}  // namespace holdfast::private_server
