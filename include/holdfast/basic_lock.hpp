// What every kind of lock can do: one interface for holds, blocking or not, and one for threads.
#pragma once

#include <cassert>
#include <chrono>
#include <concepts>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/detail/counting.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/export.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/maybe_hold.hpp>
#include <holdfast/options.hpp>
#include <holdfast/this_thread.hpp>

namespace holdfast {

/// The common part of all kinds of locks. A cheap handle: copy it, share it between
/// threads. All copies are the same lock, and a const handle can do everything.
///
/// Two interfaces:
/// - `acquire` / `try_acquire` return a Hold; the *hold* is the owner. Not re-entrant: acquiring again waits for the
///   first hold.
/// - `lock` / `try_lock…` / `unlock` meet the standard's BasicLockable, Lockable and TimedLockable; the *thread* is the
///   owner. Use them with std::scoped_lock and std::unique_lock. Whether the thread may lock again depends on the kind
///   and on the handle (`{.reentrant = false}`); if it may, levels are counted in the client and cost no round trip.
///
/// Defaults: a handle may have some, from Client::lock and similar functions or from `with()`. They apply to all calls
/// of both interfaces, and to the asynchronous ones. An option given in a call wins; one that is left out comes from
/// the defaults. So a call can replace a default, but not unset it. `try_lock` and `try_lock_for` always use their own
/// wait.
///
/// Waiting is first in, first out within a client; at most one waiter of a client sends commands. A waiter is woken by
/// a message, by the end of the lease, by a reconnect, or by a rare, counted safety poll.
class HOLDFAST_EXPORT BasicLock {
 public:
  // No move: a handle that was moved from is a handle of the same lock still.
  BasicLock(const BasicLock&) noexcept = default;
  BasicLock& operator=(const BasicLock&) noexcept = default;

  /// Waits for the lock. Throws Error: `timed_out` (only with a `wait`, here or among the defaults), `cancelled`,
  /// `unreachable`, `no_quorum`, `unknown_outcome`, `tls`, `server_error`, `denied`, `wrong_type`, `read_only`,
  /// `out_of_memory`, `unsupported_by_server`, `invalid_argument`, `forked`, `closed`. An unresponsive server is
  /// tolerated for `Config::patience`, through reconnects and restarts. With a limit of a second or more, the text of
  /// `timed_out` says who holds the lock (see Holder), if a server with at most 1,000 clients reports it in time. The
  /// query is sent up to a second before the limit: 1 command for each of the names, 100 at most, and 2 shared by all
  /// waiters of this client; with several servers, on each of them. Throws Error(would_deadlock) if the calling thread
  /// holds the lock by `lock()`, that hold does not end by itself (renewed, no `max_hold`) and `wait` has no limit:
  /// only this thread could release it. With a limit, it waits and times out.
  Hold acquire(const AcquireOptions& options = {}) const;

  /// The same, but returns empty if somebody else holds the lock (at once, or when `wait` is over) or `stop` ended the
  /// wait. Throws Error for everything else. Keep the result in a variable: the lock is held as long as that lives.
  MaybeHold try_acquire(const AcquireOptions& options = {}) const;

  /// The same without throwing Error: empty on failure, and `ec` says why (`busy`, `timed_out`, `cancelled`, ...). Only
  /// std::bad_alloc can escape.
  MaybeHold try_acquire(const AcquireOptions& options, std::error_code& ec) const;

  /// As acquire(), without blocking, with a completion token of Boost.Asio: see async.hpp, which must be included.
  /// Completes with `(Failure, Hold)`; with `use_awaitable` it returns a Hold or throws the Error. The end of a Hold
  /// acquired in this way does not wait for the server either.
  template <class Token = detail::DefaultToken>
  auto async_acquire(AcquireOptions options = {}, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
  auto async_acquire(Token&& token) const;

  /// As try_acquire(), without blocking: completes with `(Failure, MaybeHold)`. If the operation itself is cancelled,
  /// rather than stopped by the stop token in the options, it fails with `cancelled`.
  template <class Token = detail::DefaultToken>
  auto async_try_acquire(AcquireOptions options = {}, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, AcquireOptions>)
  auto async_try_acquire(Token&& token) const;

  /// BasicLockable. Throws Error as `acquire` does; also `lost` if this thread holds the lock but has lost it, and
  /// `would_deadlock` if it holds the lock and this kind, or this handle (AcquireOptions::reentrant), is not
  /// re-entrant.
  void lock() const;
  /// Lockable: one attempt. False if somebody else holds the lock, if the default `stop` was requested, or where lock()
  /// would throw `would_deadlock`. Throws Error for anything else.
  bool try_lock() const;
  /// TimedLockable. Zero or less means one attempt. False as for `try_lock`.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) const {
    return try_lock_within(detail::limit_of(wait));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return try_lock_within(detail::limit_until(time));
  }
  /// Releases one level of the calling thread's hold. Never throws; blocks for at most `Config::release_timeout`, not
  /// at all if the hold is lost; the outcome goes to the observer. A call by a thread that does not hold the lock is a
  /// mistake: where the calling code is compiled without NDEBUG, an assertion ends the program; otherwise nothing
  /// happens, except that it is counted and `Observer::on_misuse` is called; without an observer, the first such call
  /// of a client prints a line to stderr. Once the client is closed, and in a forked child, such a call is no mistake
  /// and has no effect. `this_thread().release()` returns the outcome, and throws for such a call.
  [[gnu::always_inline]] void unlock() const noexcept {  // inlined, so that each piece of code has its own NDEBUG
    [[maybe_unused]] const bool held = leave_level();
    assert(held && "unlock() by a thread that does not hold it");
  }

  /// The calling thread's hold of this lock: how long it is valid, whether it is lost, its release with an outcome.
  ThisThread this_thread() const { return ThisThread(parts_); }

  /// The same lock with these defaults; options that they leave out keep this handle's defaults. Costs no round trip.
  /// Throws Error(invalid_argument) for options out of range.
  BasicLock with(AcquireOptions defaults) const { return BasicLock(parts_with(std::move(defaults))); }

  /// The name as the caller gave it; for several locks, all names, separated by commas.
  const std::string& name() const noexcept;

 protected:
  explicit BasicLock(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}
  const detail::PartsPtr& parts() const noexcept { return parts_; }
  /// For `with()`, which each kind redefines to return its own type.
  detail::PartsPtr parts_with(AcquireOptions defaults) const;
  template <class Kind>
  static std::vector<detail::PartsPtr> parts_of(const std::vector<Kind>& locks) {
    std::vector<detail::PartsPtr> parts;
    for (const BasicLock& lock : locks) parts.push_back(lock.parts_);
    return parts;
  }

 private:
  /// unlock(). False: the thread does not hold the lock.
  bool leave_level() const noexcept;
  bool try_lock_within(std::chrono::milliseconds wait) const;
  /// Empty: this thread now holds it, one level deeper. Otherwise the reason why it was not granted, also as text in
  /// `cause` unless that is null; throws for every other failure.
  std::error_code enter(std::optional<std::chrono::milliseconds> wait, std::string* cause) const;

  detail::PartsPtr parts_;
};

}  // namespace holdfast
