// A client: one connection, one watchdog, and the locks of one server.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/multi_lock.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/simple_lock.hpp>

namespace holdfast {

namespace engine {
class Core;
struct Plan;
}  // namespace engine

/// The connection to one server, with the watchdog that renews its holds. Thread-safe, except construction, move and
/// destruction. Owns a thread that talks to the server, and
/// from their first use one that runs callbacks and one that stops stop tokens. Make one per process and
/// server. Destruction closes: holds are given back (or left, see Config::on_close) within `release_timeout`
/// for all together; then it waits for its threads, so for callbacks that are under way.
/// fork(): a child must make its own client. In a child, calls throw Error(forked) and destruction does nothing.
class HOLDFAST_EXPORT Client {
 public:
  /// From a URL (see Config::from_url) or a Config. Returns at once and connects in the background; a server that
  /// cannot be reached shows at the first call, or with ping(). Throws Error(invalid_argument) for a bad URL or
  /// setting, Error(tls) if a certificate file cannot be read. With `local:` it blocks while the server starts, and
  /// throws Error(unreachable) or Error(denied).
  explicit Client(std::string_view url);
  explicit Client(Config config);
  /// As client_on() of async.hpp makes it.
  explicit Client(std::shared_ptr<engine::Core> core) noexcept;
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// A handle to the lock of this name; nothing is sent. Any bytes are allowed but none at all is not
  /// (Error(invalid_argument)). `defaults` is what the std face (`lock()`, `try_lock()`, …) uses: lease, max_hold,
  /// on_lost; its `wait` and `stop` apply to `lock()`.
  Lock lock(std::string_view name, AcquireOptions defaults = {});

  /// The same for the lock of the SET NX PX family: see SimpleLock.
  SimpleLock simple_lock(std::string_view name, AcquireOptions defaults = {});

  /// All locks of these names together: see MultiLock. A name that stands twice counts once.
  MultiLock multi_lock(const std::vector<std::string>& names, AcquireOptions defaults = {});

  /// One round trip. Throws Error if the server cannot be reached or refuses.
  void ping();

  /// Locks on this server whose name matches a glob pattern, as SCAN sees them (never KEYS). Not a snapshot.
  /// Cost: SCAN over the whole key space, 500 keys a step; HLEN of every hash that matches, HGETALL and PTTL of those
  /// with one field. A hash counts as a lock if its one field has an owner's form. The pattern goes behind
  /// `name_prefix`. Throws Error.
  std::vector<LockInfo> list(std::string_view pattern = "*");

  Counters counters() const;
  /// This client's id on the wire, the part of every owner before the colon (a UUID).
  const std::string& id() const noexcept;
  /// The server in words, without secrets.
  const std::string& node() const noexcept;

  // Without blocking, defined by async.hpp: `(Failure)`, and `(Failure, std::vector<LockInfo>)`.
  template <class Token = async::DefaultToken>
  auto async_ping(Token&& token = Token()) const;
  template <class Token = async::DefaultToken>
  auto async_list(std::string pattern = "*", Token&& token = Token()) const;
  /// As close(), without blocking, but that the threads are stopped by the destructor. Hands on `()`: it cannot fail.
  /// Cancelled, it completes before all is over.
  template <class Token = async::DefaultToken>
  auto async_close(Token&& token = Token()) const;

  /// Ends waits (`Errc::closed`), gives holds back as Config::on_close says, stops the threads. Idempotent, never
  /// throws. Not from a callback.
  void close() noexcept;

 private:
  std::shared_ptr<engine::Site> site(std::vector<std::string> names, const engine::Plan& plan) const;

  std::shared_ptr<engine::Core> core_;
};

}  // namespace holdfast
