// SPDX-License-Identifier: Apache-2.0
// A client: one connection, one watchdog, and the locks of one server.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <holdfast/config.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lock.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/observer.hpp>
#include <holdfast/semaphore.hpp>

namespace holdfast {

namespace engine {
class Core;
struct Plan;
}  // namespace engine
namespace detail {
struct ClientAccess;  // for client_on() of async.hpp, and for libraries beside this one
struct HandleAccess;
}  // namespace detail

/// The connection to one server, with the watchdog that renews its holds. Thread-safe, except construction, move and
/// destruction. Owns three threads, all started by the constructor: one talks to the server, one runs callbacks, one
/// stops stop tokens. Make one per process and server. Destruction closes the client: holds are released (or left, see
/// Config::on_close) within one `release_timeout` for all together; then it waits for its threads, and so for running
/// callbacks.
/// fork(): a child must make its own client. In a child, calls throw Error(forked) and destruction does nothing.
/// Moved from: calls throw Error(closed), those without exceptions do nothing, and id and node are empty.
class HOLDFAST_EXPORT Client {
 public:
  /// From a URL (see Config::from_url) or a Config. Returns at once and connects in the background; an unreachable
  /// server shows up at the first call, or with ping(). Throws Error(invalid_argument) for a bad URL or setting,
  /// Error(tls) if a certificate file cannot be read, Error(exhausted) if a thread cannot be started. With `local:`
  /// (see testing.hpp) it blocks while the server starts, and throws Error(unreachable) or Error(denied).
  explicit Client(std::string_view url);
  explicit Client(Config config);
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  /// A handle to the lock of this name; nothing is sent. A name is any non-empty byte string; an empty one throws
  /// Error(invalid_argument). `defaults` are the options of every call through this handle that leaves them out: see
  /// BasicLock.
  Lock lock(std::string_view name, LockOptions defaults = {}) const;

  /// The same for a lock of the SET NX PX family: see SimpleLock.
  SimpleLock simple_lock(std::string_view name, LockOptions defaults = {}) const;

  /// The same for a lock whose grants are numbered: see FencedLock.
  FencedLock fenced_lock(std::string_view name, LockOptions defaults = {}) const;

  /// The same for a lock that is granted in order of request: see FairLock. With a `Config::name_prefix` it throws
  /// Error(invalid_argument) unless `Config::fair_with_prefix` is set.
  FairLock fair_lock(std::string_view name, LockOptions defaults = {}) const;

  /// The same for a lock without messages, whose waiters poll: see SpinLock.
  SpinLock spin_lock(std::string_view name, LockOptions defaults = {}) const;

  /// The same for a lock that several readers share: see ReadWriteLock.
  ReadWriteLock read_write_lock(std::string_view name, LockOptions defaults = {}) const;

  /// The same for a number of permits that many may hold at the same time: see LeasedSemaphore.
  LeasedSemaphore leased_semaphore(std::string_view name, LockOptions defaults = {}) const;

  /// The same for permits that belong to nobody: see Semaphore.
  Semaphore semaphore(std::string_view name) const;

  /// The same for a latch: see Latch. In a cluster a name with a `}` throws Error(invalid_argument).
  Latch latch(std::string_view name) const;

  /// The locks of all these names together: see MultiLock. A repeated name counts once.
  MultiLock multi_lock(const std::vector<std::string>& names, LockOptions defaults = {}) const;

  /// Any one of the locks of these names, in this order: see AnyLock. A repeated name counts once. Throws
  /// Error(invalid_argument) also for no name.
  AnyLock any_lock(const std::vector<std::string>& names, LockOptions defaults = {}) const;

  /// One round trip; in a cluster one to each primary in turn. Throws Error if the server, or one of them, cannot be
  /// reached or refuses.
  void ping() const;

  /// Locks on this server, or on all primaries of a cluster, whose name matches a glob pattern, as SCAN sees them
  /// (never KEYS). Not a snapshot. A primary that cannot be queried is an error that names it. Cost: SCAN over the
  /// whole key space, 500 keys per step; HLEN of every matching hash, HGETALL and PTTL of those with one field, and
  /// 1 PUBSUB NUMSUB for each step that has such; 1 more for the holders of all. A hash counts as a lock if its one
  /// field has the form of an owner. `name_prefix` goes before the pattern. Throws Error. `what` selects other kinds,
  /// listed in the same way: HEXISTS, STRLEN or ZCARD instead of HLEN, and 1 script for each read-write lock or leased
  /// semaphore that is found.
  std::vector<LockInfo> list(std::string_view pattern = "*", InfoDetail detail = InfoDetail::holder,
                             KeyForm what = KeyForm::locks) const;

  Counters counters() const;
  /// What this client has counted and measured since it was made, and its present state, for Prometheus and similar
  /// systems. Counted where it happens, with or without an observer, and never dropped. Does not wait for the server.
  /// Reads every current hold, some hundreds at a time, so that it does not delay other threads. The families are
  /// listed in docs/operations.md.
  Metrics metrics() const;
  /// This client's id on the wire, the part of every owner before the colon (a UUID).
  const std::string& id() const noexcept;
  /// The server as text, without secrets.
  const std::string& node() const noexcept;

  /// Releases all holds of this client now, whoever in the process has them, for a process that is about to end or to
  /// step back. Each holder loses its hold (`LossReason::closed`; its stop token is stopped, `on_lost` called): make
  /// sure that holders have finished or can cope with that. Pending waits and attempts end with `cancelled`. Returns
  /// when the server has answered all releases, after `within` at the latest, and says how many are not confirmed by
  /// then; those continue in the background. The client stays usable: later acquires work as usual. Throws
  /// Error(would_deadlock) on a client made by client_on(), which has async_release_all, Error(forked) in a child
  /// process. On a closed client it does nothing. Wire cost: 1 script per hold, all of them sent together. A recipe for
  /// SIGTERM: docs/operations.md.
  std::size_t release_all(std::chrono::milliseconds within) const;

  // Without blocking, defined by async.hpp: complete with `(Failure)` and `(Failure, std::vector<LockInfo>)`.
  template <class Token = detail::DefaultToken>
  auto async_ping(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
    requires(!std::same_as<std::remove_cvref_t<Token>, KeyForm>)
  auto async_list(std::string pattern = "*", InfoDetail detail = InfoDetail::holder, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_list(std::string pattern, InfoDetail detail, KeyForm what, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, InfoDetail>)
  auto async_list(std::string pattern, Token&& token) const;
  /// As release_all(), without blocking: completes with `(std::size_t)`, how many releases are not confirmed; on
  /// `terminal` or `partial` cancellation at once, and they continue.
  template <class Token = detail::DefaultToken>
  auto async_release_all(std::chrono::milliseconds within, Token&& token = Token()) const;
  /// As close(), without blocking, except that the threads are stopped by the destructor. Completes with `()`: it
  /// cannot fail. If cancelled, it completes before closing is over.
  template <class Token = detail::DefaultToken>
  auto async_close(Token&& token = Token()) const;

  /// Ends waits (`Errc::closed`), releases holds as Config::on_close says, stops the threads. Idempotent, never throws.
  /// Must not be called from a callback.
  void close() const noexcept;

 private:
  friend struct detail::ClientAccess;
  friend struct detail::HandleAccess;
  explicit Client(std::shared_ptr<engine::Core> core) noexcept;
  detail::PartsPtr parts_of(std::string_view name, const engine::Plan& plan, LockOptions defaults) const;

  /// Throws Error(closed) if it was moved from.
  const std::shared_ptr<engine::Core>& core() const;

  std::shared_ptr<engine::Core> core_;
};

}  // namespace holdfast
