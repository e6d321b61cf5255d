// Permits that belong to nobody, wire-compatible with Redisson's RSemaphore.
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

/// From Client::semaphore: a number that all clients share, with the interface of std::counting_semaphore. Taking
/// permits makes it smaller, and waits while it is too small; giving some back makes it larger.
///
/// The permits belong to nobody and have no lease: if a process dies with some, they are gone until somebody adds
/// others. For permits that come back by themselves use LeasedSemaphore.
///
/// Somebody must set the number: `set`, `add`, or Redisson. Until then nobody gets any, and waiters wait for that.
/// Inside a client waiting is first in, first out, even if the first wants more permits than those behind it; between
/// clients, the first to ask after permits come gets them.
///
/// A call that is resent because its reply was lost counts once: each call has an id that the server remembers. A call
/// that changes the number is repeated until it is answered, for Config::patience; then it throws
/// Error(unknown_outcome): it may have counted. An `acquire` that ends without its permits takes none: any that it may
/// have taken are given back, and that too is repeated, until Config::patience and two command_timeouts after it was
/// first sent. What the server remembers for this: docs/guarantees.md section 6.
///
/// A cheap handle: copy it, share it between threads. Errors as BasicLock::acquire throws them; `wrong_type` if the
/// name belongs to something other than a number; Error(invalid_argument) for numbers out of range, before anything is
/// sent. Every wait ends with a message, a reconnect, a counted safety poll (`Config::safety_poll`), or its limit.
/// fork(): as Client. Wire cost: 1 command for each call, none for permits passed on inside a client; for a first
/// contended wait 2 writes. Acks are not requested. Redisson's RSemaphore of the same name is the same semaphore.
/// Source: docs/wire.md section 11.
class HOLDFAST_EXPORT Semaphore {
 public:
  // No move: a handle that was moved from is a handle of the same semaphore still.
  Semaphore(const Semaphore&) noexcept = default;
  Semaphore& operator=(const Semaphore&) noexcept = default;

  /// Takes this many permits, all at once; waits until there are as many. From 1 to 2^31 - 1. Throws Error(cancelled)
  /// if it was stopped.
  void acquire(std::uint32_t permits = 1, std::stop_token stop = {}) const;
  /// The same, but false if there are not as many now.
  bool try_acquire(std::uint32_t permits = 1) const;
  /// The same, but false if there are not as many in time, or it was stopped. Zero or less means one attempt.
  template <class Rep, class Period>
  bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait, std::uint32_t permits = 1,
                       std::stop_token stop = {}) const {
    return acquire_within(detail::limit_of(wait), permits, std::move(stop));
  }
  template <class Clock, class Duration>
  bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time, std::uint32_t permits = 1,
                         std::stop_token stop = {}) const {
    return acquire_within(detail::limit_until(time), permits, std::move(stop));
  }
  /// Gives this many back, from 1 to 2^31 - 1, whoever took them; they may go straight to a caller of this client who
  /// waits for as many (docs/guarantees.md section 6). False: the semaphore is gone, and none is made.
  bool release(std::int64_t permits = 1) const;

  /// How many there are; may be below 0 after an `add` of less than 0; 0 if there is no semaphore.
  std::int64_t available() const;
  /// Makes a semaphore of this many permits, from 0 to 2^31 - 1, unless there is one. With a time to live, above 0 and
  /// up to 10 years, it expires after that. True: made.
  bool set(std::int64_t permits) const;
  bool set(std::int64_t permits, std::chrono::milliseconds lives) const;
  /// Adds this many, or removes them if it is below 0; makes the semaphore if there is none. Returns how many there are
  /// now.
  std::int64_t add(std::int64_t permits) const;
  /// Takes all permits, and returns how many there were.
  std::int64_t drain() const;

  // The same without blocking, defined by async.hpp: complete with `(Failure)`, or with `(Failure, T)` with the T of
  // the blocking call. A cancelled acquire takes nothing; a cancelled release, set or add continues.
  template <class Token = detail::DefaultToken>
  auto async_acquire(std::uint32_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_try_acquire_for(std::chrono::milliseconds wait, std::uint32_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_release(std::int64_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_available(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_set(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_add(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_drain(Token&& token = Token()) const;

  const std::string& name() const noexcept;

 private:
  friend class Client;
  explicit Semaphore(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}
  bool acquire_within(std::chrono::milliseconds wait, std::uint32_t permits, std::stop_token stop) const;

  detail::PartsPtr parts_;
};

}  // namespace holdfast
