// SPDX-License-Identifier: Apache-2.0
// What counts: semaphores, with permits of nobody or with leases, and a latch.
#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>

#include <holdfast/detail/counting.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/export.hpp>
#include <holdfast/lock.hpp>

namespace holdfast {

/// From Client::semaphore: a number that all clients share, with the interface of std::counting_semaphore. The permits
/// belong to nobody: if a process dies with some, they are gone. For permits that come back use LeasedSemaphore.
///
/// Somebody must set the number: `init`, `add`, or Redisson. Until then a try throws Error(not_set), and a wait goes
/// on. Waits: first in, first out inside a client; ended by a message, a reconnect, a counted safety poll, or its
/// limit. Repeats: a call whose reply was lost counts once, and is sent again for Timing::patience; then it throws
/// Error(unknown_outcome). An `acquire` that ends without its permits takes none.
/// Errors: as BasicLock::acquire; `wrong_type` if the name is no number; Error(invalid_argument) for numbers out of
/// range. Cost: 1 command for each call, none for permits passed on inside a client; a first contended wait 2 writes.
/// Redisson's RSemaphore of the same name is the same semaphore. More: docs/kinds.md; docs/wire.md section 11.
class HOLDFAST_EXPORT Semaphore {
 public:
  // No move: a handle that was moved from is a handle of the same semaphore still.
  Semaphore(const Semaphore&) noexcept = default;
  Semaphore& operator=(const Semaphore&) noexcept = default;

  /// Takes this many permits, all at once; waits until there are as many. From 1 to 2^31 - 1. Throws Error(cancelled)
  /// if it was stopped.
  void acquire(std::int64_t permits = 1, std::stop_token stop = {}) const;
  /// The same, but false if there are not as many now.
  [[nodiscard]] bool try_acquire(std::int64_t permits = 1) const;
  /// The same, but false if there are not as many in time, or it was stopped. Zero or less means one attempt.
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(const std::chrono::duration<Rep, Period>& wait, std::int64_t permits = 1,
                                     std::stop_token stop = {}) const {
    return acquire_within(detail::limit_of(wait), permits, std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(const std::chrono::time_point<Clock, Duration>& time, std::int64_t permits = 1,
                                       std::stop_token stop = {}) const {
    return acquire_within(detail::limit_until(time), permits, std::move(stop));
  }
  /// Gives this many back, from 1 to 2^31 - 1, whoever took them; they may go straight to a caller of this client who
  /// waits for as many (docs/guarantees-by-kind.md). False: the semaphore is gone, and none is made.
  bool release(std::int64_t permits = 1) const;

  /// How many there are; may be below 0 after an `add` of less than 0; 0 if there is no semaphore.
  [[nodiscard]] std::int64_t available() const;
  /// Makes a semaphore of this many permits, from 0 to 2^31 - 1, unless there is one. With a time to live, above 0 and
  /// up to 10 years, it expires after that. True: made; false: there is one, and it stays as it is.
  [[nodiscard]] bool init(std::int64_t permits) const;
  [[nodiscard]] bool init(std::int64_t permits, std::chrono::milliseconds lives) const;
  /// It would be read as "make it this many", and does nothing where somebody else has set it. `init(n)` makes a
  /// semaphore if there is none; `add(n)` changes how many there are.
  template <class... Any>
  void set(Any&&...) const = delete;
  /// Adds this many, or removes them if it is below 0; makes the semaphore if there is none. Returns how many there are
  /// now.
  std::int64_t add(std::int64_t permits) const;
  /// Takes all permits, and returns how many there were.
  std::int64_t drain() const;
  /// Removes the semaphore: it is as if nobody had set it, and permits that come back make none. True: there was one.
  bool remove() const;

  // The same without blocking, defined by async.hpp: complete with `(Failure)`, or with `(Failure, T)` with the T of
  // the blocking call. A cancelled acquire takes nothing; a cancelled release, init or add continues.
  template <class Token = detail::DefaultToken>
  auto async_acquire(std::int64_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_try_acquire(std::int64_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_try_acquire_for(std::chrono::milliseconds wait, std::int64_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_release(std::int64_t permits = 1, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_available(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_init(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_add(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_drain(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_remove(Token&& token = Token()) const;

  const std::string& name() const noexcept;

 private:
  friend class Client;
  friend struct detail::HandleAccess;
  explicit Semaphore(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}
  bool acquire_within(std::chrono::milliseconds wait, std::int64_t permits, std::stop_token stop) const;

  detail::PartsPtr parts_;
};

/// From Client::leased_semaphore: a lock that can be held as many times as there are permits. Each Hold is renewed, can
/// be lost, and its permits become free when its lease is over, by the server's clock.
///
/// Somebody must set how many there are: `init`, `set_total`, or Redisson. Until then a try throws Error(not_set), and
/// a wait goes on; likewise Error(too_few) where there are fewer in all than asked for. A Hold has one permit, or as
/// many as `with_permits` says, all or none. `Hold::owner()` is the permit's id as Redisson's users know it. A thread
/// that has a permit by `lock()` cannot lock another one, but may have any number of holds. Errors, waits, threads: as
/// Lock; `wrong_type` if the name is something else. Cost: 1 command to take, 1 to release; a first contended wait 2
/// writes. Redisson's RPermitExpirableSemaphore is the same semaphore. More: docs/kinds.md; docs/wire.md section 12.
class HOLDFAST_EXPORT LeasedSemaphore : public LockHandle<LeasedSemaphore, KeyLock> {
 public:
  /// The most permits that one Hold can have.
  static constexpr std::int64_t kMostPermits = 1000;

  /// A handle to the same semaphore that takes this many permits with each acquisition. Throws Error(invalid_argument)
  /// for 0, and for more than kMostPermits. Costs no round trip.
  [[nodiscard]] LeasedSemaphore with_permits(std::int64_t permits) const;

  /// How many permits can be taken now; below 0 if more are held than there should be, 0 if there is no semaphore.
  /// 1 command. Throws Error.
  [[nodiscard]] std::int64_t available() const;
  /// Makes a semaphore of this many permits, from 0 to 2^31 - 1, unless there is one. True: made; false: there is one,
  /// and it stays as it is (`set_total` changes that). Resent until it is answered, for Timing::patience at most, and
  /// counted once; then Error(unknown_outcome). With a time to live, above 0 and up to 10 years, it expires after that;
  /// permits that are held then stay so, and are renewed. One that would expire earlier is kept until then; one without
  /// an end stays so. 1 command. Throws Error.
  [[nodiscard]] bool init(std::int64_t permits) const;
  [[nodiscard]] bool init(std::int64_t permits, std::chrono::milliseconds lives) const;
  /// It would be read as set_total(), and does nothing where somebody else has set it: see init() and set_total().
  template <class... Any>
  void set(Any&&...) const = delete;
  /// Sets the total number of permits, including those that are held; makes the semaphore if there is none. Returns how
  /// many can be taken now, below 0 if more are held. Time to live, repeats: as `init`. 1 command. Throws Error.
  std::int64_t set_total(std::int64_t permits) const;
  std::int64_t set_total(std::int64_t permits, std::chrono::milliseconds lives) const;
  /// Adds this many permits, or removes them if it is below 0. Returns how many can be taken now. Repeated, and counted
  /// once, as `init`. 1 command. Throws Error.
  std::int64_t add(std::int64_t permits) const;
  /// Removes the semaphore: it is as if nobody had set it. Holds stay valid and are renewed, and their permits count
  /// when it is made again. True: there was one. Repeated, and counted once, as `init`. 1 command. Throws Error.
  bool remove() const;

  // The same without blocking, defined by async.hpp: complete with `(Failure, T)`, with the T of the blocking call.
  template <class Token = detail::DefaultToken>
  auto async_available(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_init(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_set_total(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_add(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_remove(Token&& token = Token()) const;

 private:
  friend class Client;
  friend class LockHandle<LeasedSemaphore, KeyLock>;
  using LockHandle::LockHandle;
};

/// From Client::latch: closed until a number of steps have been made, by any clients, with the interface of std::latch.
/// It is also open if nobody has closed it, and can be closed again once it is open.
///
/// Waits: until a message says that it is open, a reconnect, or a counted safety poll. Opened and closed again between
/// two checks, a waiter only sees it closed. Repeats: a step whose reply was lost counts once, and is sent again for
/// Timing::patience; then Error(unknown_outcome). Errors: as BasicLock::acquire; Error(invalid_argument) for numbers
/// out of range, and in a cluster for a name with a `}`. Cost: 1 command for each call; a wait 1 if it is open,
/// otherwise 2 writes and 1 command. Redisson's RCountDownLatch of the same name is the same latch. More:
/// docs/kinds.md; docs/wire.md section 13.
class HOLDFAST_EXPORT Latch {
 public:
  // No move: a handle that was moved from is a handle of the same latch still.
  Latch(const Latch&) noexcept = default;
  Latch& operator=(const Latch&) noexcept = default;

  /// Closes it for this many steps, from 1 to 2^31 - 1, unless it is closed. True: it was open, and has been closed.
  [[nodiscard]] bool init(std::int64_t steps) const;
  /// It would be read as "make it this many", and does nothing while the latch is closed: see init().
  template <class... Any>
  void set(Any&&...) const = delete;
  /// Makes this many steps, at least 1. Returns how many are left; 0: it is open.
  std::int64_t count_down(std::int64_t steps = 1) const;
  /// How many steps are left; 0: it is open.
  [[nodiscard]] std::int64_t count() const;
  /// Whether it is open.
  [[nodiscard]] bool try_wait() const { return count() == 0; }
  /// Waits until it is open. Throws Error(cancelled) if it was stopped.
  void wait(std::stop_token stop = {}) const;
  /// True: it is open. False: not in time, or stopped. Zero or less: as try_wait.
  template <class Rep, class Period>
  [[nodiscard]] bool wait_for(const std::chrono::duration<Rep, Period>& wait, std::stop_token stop = {}) const {
    return wait_within(detail::limit_of(wait), std::move(stop));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool wait_until(const std::chrono::time_point<Clock, Duration>& time, std::stop_token stop = {}) const {
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
  auto async_try_wait(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_count(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_init(std::int64_t steps, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_remove(Token&& token = Token()) const;

  const std::string& name() const noexcept;

 private:
  friend class Client;
  friend struct detail::HandleAccess;
  explicit Latch(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}
  bool wait_within(std::chrono::milliseconds wait, std::stop_token stop) const;

  detail::PartsPtr parts_;
};

}  // namespace holdfast
