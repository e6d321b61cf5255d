// Servers for tests and trials, which nobody has to install as a service or to clean up. A library of its own: link
// holdfast::testing (the component `testing` of the CMake package, holdfast-testing for pkg-config). Not for
// production: such a server keeps nothing on disk.
#pragma once

#include <memory>
#include <string>

#include <holdfast/export.hpp>

namespace holdfast {

/// A Redis server that belongs to this object: redis-server, or else valkey-server, from PATH, empty, without
/// persistence, on a unix socket in a temporary folder that only this user can enter. Thread-safe, except construction,
/// move and destruction. Each has its own server, so tests do not meet in it. A process that is killed leaves its
/// server running and the folder behind.
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

  /// For Client and Config::from_url(): `unix:///tmp/holdfast-test-…/redis.sock`.
  const std::string& url() const noexcept;

 private:
  struct Running;
  std::unique_ptr<Running> running_;
};

/// Makes `local:` URLs, and Config::local, work in this process: a server of this user that is joined if it runs,
/// started if not, and left running. Its socket is `redis.sock` in `$XDG_RUNTIME_DIR/holdfast`, or in
/// `/tmp/holdfast-UID`. To be called before the first client is made, best in main(). Without it such a client is
/// refused with Error(invalid_argument). From any thread; a second call has no effect.
HOLDFAST_EXPORT void enable_local_urls() noexcept;

}  // namespace holdfast
