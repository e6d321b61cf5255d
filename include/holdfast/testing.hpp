// SPDX-License-Identifier: Apache-2.0
// Servers for tests and trials that need no installation as a service and no clean-up, and a test kit that needs no
// server and loses locks on demand (docs/testing.md). A library of its own: link
// holdfast::testing (the component `testing` of the CMake package, holdfast-testing for pkg-config). Not for
// production: these servers keep nothing on disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <holdfast/config.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

/// A Redis server that belongs to this object: redis-server, or else valkey-server, from PATH, empty, without
/// persistence, on a unix socket in a temporary folder that only this user can enter. Thread-safe, except construction,
/// move and destruction. Each has its own server, so tests do not affect each other. A process that is killed leaves
/// its server running and the folder behind.
class HOLDFAST_EXPORT TestServer {
 public:
  /// Starts it and waits until it answers: some 10 ms, 10 s at most. Throws Error(unreachable) if there is none on PATH
  /// or it does not come up, with its last words.
  TestServer();
  TestServer(TestServer&&) noexcept;
  TestServer& operator=(TestServer&&) noexcept;
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;
  /// Kills it and removes its folder. Clients that are still connected lose their locks; close them first. In a child
  /// of fork() it leaves both alone.
  ~TestServer();

  /// For Client and Config::from_url(): `unix:///tmp/holdfast-test-…/redis.sock`. Empty if it was moved from.
  const std::string& url() const noexcept;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

/// Makes `local:` URLs, and LocalServer, work in this process: they use a server of this user, which is started if it
/// does not run yet, and left running. Its socket is `redis.sock` in `$XDG_RUNTIME_DIR/holdfast`, or in
/// `/tmp/holdfast-UID`; where another user could put a server of theirs, the constructor of such a client throws
/// Error(denied). Call it before the first client is made, best in main(). Without it that constructor throws
/// Error(invalid_argument). From any thread; a second call has no effect.
HOLDFAST_EXPORT void enable_local_urls() noexcept;

/// A server inside this process, for tests of code that takes locks: it needs no program and no network, and fails on
/// demand. It is the model that the library's own tests compare with real servers, reply by reply; docs/testing.md
/// lists its kinds and commands. Any Client made from config() uses it, and works as with a real server.
///
///     holdfast::TestKit kit;
///     holdfast::Client client{kit.config()};
///     holdfast::Hold hold = client.lock("report").acquire();
///     kit.lose("report");  // and soon hold.is_lost()
///
/// Thread-safe, except construction, destruction and pass(). It must outlive its clients. Not for a child of fork().
class HOLDFAST_EXPORT TestKit {
 public:
  enum class Time {
    real,   ///< Time passes as usual; a thread of the kit answers. For code that blocks.
    still,  ///< Time passes only in pass(), and the server answers only there. For clients on an io_context.
  };

  /// With `Time::still` all clients of this process use the kit's time while it lives, so there can be only one such
  /// kit at a time, and no other client: a second kit throws Error(invalid_argument). Throws Error(unreachable) or
  /// Error(denied) if the socket in the temporary folder, and std::system_error if the thread, cannot be created.
  explicit TestKit(Time time = Time::real);
  TestKit(const TestKit&) = delete;
  TestKit& operator=(const TestKit&) = delete;
  ~TestKit();

  /// For Client and client_on(). With `Time::real` leases are 600 ms, so that losses show soon; with `Time::still` they
  /// have their usual length. Everything else has its default, and may be changed.
  Config config() const;

  // ---- faults; each takes effect before it returns, and clients react after that ----

  /// The server loses this lock, as after a restart or a failover: it is free, and the only notice is that of the key's
  /// change. Works on the main key of any kind; no effect if there is none.
  void lose(std::string_view lock);
  /// The same, and somebody else, who never renews, holds it for that long. For Lock, FencedLock, FairLock and
  /// SimpleLock; a free lock is taken as a Lock.
  void take_elsewhere(std::string_view lock, std::chrono::milliseconds lease = std::chrono::seconds(30));
  /// The server freezes for that long: it accepts connections but does not answer; leases run on. Afterwards it carries
  /// out the commands that arrived meanwhile. A second call while it is frozen lasts at least that long from then on.
  void freeze(std::chrono::milliseconds time);
  /// From now on each command takes the server that long; zero: no time at all, as at the start.
  void answer_late(std::chrono::milliseconds by = std::chrono::milliseconds(100));
  /// All connections are closed; clients connect again.
  void cut();

  /// True if anyone holds this lock at the server; a lease that has ended does not count.
  bool is_locked(std::string_view lock) const;

  /// Lets that much time pass, or less if `over` returns true; it is called at the start, after every event, and each
  /// 100 ms. Time jumps to when the next event is due. `turn` does what can be done without waiting, and returns how
  /// much that was; see testing_async.hpp, which polls an io_context. Returns true if `over` did. Throws
  /// Error(invalid_argument) with `Time::real`, and what the functions throw.
  bool pass(std::chrono::milliseconds time, const std::function<std::size_t()>& turn,
            const std::function<bool()>& over = {});

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace holdfast
