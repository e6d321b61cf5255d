// Servers for tests and trials, which nobody has to install as a service or to clean up, and a test kit that needs no
// server and makes locks get lost to order (docs/testing.md). A library of its own: link
// holdfast::testing (the component `testing` of the CMake package, holdfast-testing for pkg-config). Not for
// production: such a server keeps nothing on disk.
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

/// A server inside this process, for tests of code that takes locks: it needs no program and no network, and does what
/// the test orders. It is the model that the library's own tests compare with real servers, reply by reply: the kinds
/// and commands of docs/testing.md. A client of it is any Client, made from config(), and works as with a real server.
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
    real,   ///< Time passes as ever; a thread of the kit's answers. For code that blocks.
    still,  ///< Time passes only in pass(), and the server answers only there. For clients on an io_context.
  };

  /// With `Time::still` all clients of this process are on the kit's time while it lives, so there can be one such kit
  /// at a time, and no other client: a second one throws Error(invalid_argument). Throws Error(unreachable) or
  /// Error(denied) if there can be no socket in the temporary folder, and std::system_error if there can be no thread.
  explicit TestKit(Time time = Time::real);
  TestKit(const TestKit&) = delete;
  TestKit& operator=(const TestKit&) = delete;
  ~TestKit();

  /// For Client and client_on(). With `Time::real` leases are 600 ms, so that losses show soon; with `Time::still` they
  /// are as long as ever. All else is as by default, and may be changed.
  Config config() const;

  // ---- faults; each takes effect before it returns, and what clients make of it follows ----

  /// The server forgets this lock, as after a restart or a failover: it is free, and nobody is told but by the key's
  /// change. Of the main key of any kind; nothing happens if there is none.
  void lose(std::string_view lock);
  /// The same, and somebody else, who never renews, has it for so long. For Lock, FencedLock, FairLock and SimpleLock;
  /// a lock that nobody has is taken as a Lock.
  void take_elsewhere(std::string_view lock, std::chrono::milliseconds lease = std::chrono::seconds(30));
  /// The server stands still for so long: it accepts connections and answers nothing; leases run on. Afterwards it
  /// does what it was asked meanwhile. A second call while it stands makes it stand at least so long from then on.
  void freeze(std::chrono::milliseconds time);
  /// From now on each command takes the server so long; zero: no time at all, as in the beginning.
  void answer_late(std::chrono::milliseconds by = std::chrono::milliseconds(100));
  /// All connections are closed; clients connect again.
  void cut();

  /// The server has this lock, whoever holds it; a lease that has ended does not count.
  bool is_locked(std::string_view lock) const;

  /// Lets so much time pass, or less if `over` says so, which is asked at the start, after whatever happens, and each
  /// 100 ms. Time goes straight to when the next thing is due. `turn` does what can be done without waiting, and
  /// returns how much that was; see testing_async.hpp, which polls an io_context. True: it was over. Throws
  /// Error(invalid_argument) with `Time::real`, and what the functions throw.
  bool pass(std::chrono::milliseconds time, const std::function<std::size_t()>& turn,
            const std::function<bool()>& over = {});

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace holdfast
