// A count-down latch, wire-compatible with Redisson's RCountDownLatch.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/detail/counting.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

/// From Client::latch: closed until a number of steps have been made, by any clients, with the interface of std::latch.
/// Waiters continue when it is open. It is also open if nobody has set it, and can be set again once it is open.
///
/// A waiter checks the number: at once, when a message says that the latch is open, after a reconnect, and with a
/// counted safety poll (`Config::safety_poll`). If the latch is opened and set again between two checks, the waiter
/// only sees it closed. Several waiters of one client share one message, and each checks by itself.
///
/// A step that is resent because its reply was lost counts once: each call has an id that the server remembers. A call
/// that changes the number is repeated until it is answered, for Config::patience; then it throws
/// Error(unknown_outcome): it may have counted.
///
/// A cheap handle: copy it, share it between threads. Errors as BasicLock::acquire throws them; Error(invalid_argument)
/// for numbers out of range, before anything is sent. fork(): as Client. Wire cost: 1 command for each call; for a wait
/// 1 if it is open, otherwise 2 writes and 1 command when it opens. Acks are not requested. In a cluster a name with a
/// `}` cannot be used, since its channel would be in another slot: Client::latch throws Error(invalid_argument).
/// Redisson's RCountDownLatch of the same name is the same latch. Source: docs/wire.md section 13.
class HOLDFAST_EXPORT Latch {
 public:
  // No move: a handle that was moved from is a handle of the same latch still.
  Latch(const Latch&) noexcept = default;
  Latch& operator=(const Latch&) noexcept = default;

  /// Closes it for this many steps, from 1 to 2^31 - 1, unless it is closed. True: it was open, and has been closed.
  bool set(std::int64_t steps) const;
  /// Makes this many steps, at least 1. Returns how many are left; 0: it is open.
  std::int64_t count_down(std::int64_t steps = 1) const;
  /// How many steps are left; 0: it is open.
  std::int64_t count() const;
  /// Whether it is open.
  bool try_wait() const { return count() == 0; }
  /// Waits until it is open. Throws Error(cancelled) if it was stopped.
  void wait(std::stop_token stop = {}) const;
  /// True: it is open. False: not in time, or stopped. Zero or less: as try_wait.
  template <class Rep, class Period>
  bool wait_for(const std::chrono::duration<Rep, Period>& wait, std::stop_token stop = {}) const {
    return wait_within(detail::limit_of(wait), std::move(stop));
  }
  template <class Clock, class Duration>
  bool wait_until(const std::chrono::time_point<Clock, Duration>& time, std::stop_token stop = {}) const {
    return wait_within(detail::limit_until(time), std::move(stop));
  }
  /// count_down, and then wait.
  void arrive_and_wait(std::int64_t steps = 1, std::stop_token stop = {}) const;
  /// Removes it: then it is open, but waiters are not notified and notice at their next check. True: it was closed.
  bool remove() const;

  // The same without blocking, defined by async.hpp: complete with `(Failure)`, or with `(Failure, T)` with the T of
  // the blocking call. A step that is cancelled may have been made.
  template <class Token = detail::DefaultToken>
  auto async_wait(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_wait_for(std::chrono::milliseconds wait, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_count_down(std::int64_t steps = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_count(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_set(std::int64_t steps, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_remove(Token&& token = Token()) const;

  const std::string& name() const noexcept;

 private:
  friend class Client;
  explicit Latch(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}
  bool wait_within(std::chrono::milliseconds wait, std::stop_token stop) const;

  detail::PartsPtr parts_;
};

}  // namespace holdfast
