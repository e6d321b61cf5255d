// Permits, each with a lease, wire-compatible with Redisson's RPermitExpirableSemaphore.
#pragma once

#include <cstdint>
#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::leased_semaphore: a number of permits under one name, each held through a Hold. It works like a lock
/// that can be held as many times as there are permits: the watchdog renews each hold, a hold can be lost
/// (`valid_for()`, `lost_token()`), and the permits of a process that dies become free when their leases are over, by
/// the server's clock, whether or not anybody sends a command at that moment.
///
/// Somebody must set the number of permits: `set`, `set_total`, or Redisson. Until then nobody gets any, and waiters
/// wait for that. If the semaphore is removed while permits are held, their holds stand, and count when it is made
/// again.
///
/// A Hold has one permit, or as many as `with_permits` says: they are taken all at once or not at all, renewed
/// together, and lost together if one of them is gone. `Hold::owner()` is the permit's id as Redisson's users know it,
/// 32 hexadecimal digits; several ids are separated by commas. A release may pass the permits, with their ids, to a
/// caller of the same client who wants as many, as with Lock. Inside a client waiting is first in, first out, even if
/// the first wants more permits than those behind it; between clients, the first to ask after permits come back gets
/// them.
///
/// A thread that has a permit by `lock()` cannot lock another one (`would_deadlock`), but may have any number of holds.
/// `is_locked()`: somebody has a permit; `info()` lists the holders, up to a thousand; `force_release()` takes all
/// permits away, or one by its id. `remaining()` is that of the semaphore, which usually has no expiry.
///
/// A hold can continue in another process as with Lock: `detach()` and `adopt()`, on any handle of the semaphore; the
/// ticket says how many permits it has. To adopt an id from elsewhere, such as from a user of Redisson, make a ticket
/// of it: `Ticket{Ticket::Kind::permit, name(), id, {}, lease}.text()`. For a fixed lease, `Hold::extend()` is
/// Redisson's updateLeaseTime.
///
/// Errors, waiting, cancellation, threads: as Lock. `wrong_type` if the name belongs to something other than a
/// semaphore.
/// Wire cost: 1 command to take, 1 to release; none to pass it on; a first contended wait 2 writes. In a cluster the
/// name needs no brace, or a hash tag. Redisson's RPermitExpirableSemaphore of the same name is the same semaphore.
/// Source: docs/wire.md section 12.
class HOLDFAST_EXPORT LeasedSemaphore : public KeyLock {
 public:
  /// The most permits that one Hold can have.
  static constexpr std::uint32_t kMostPermits = 1000;

  /// A handle to the same semaphore that takes this many permits with each acquisition. Throws Error(invalid_argument)
  /// for 0, and for more than kMostPermits. Costs no round trip.
  LeasedSemaphore with_permits(std::uint32_t permits) const;

  /// How many permits can be taken now; below 0 if more are held than there should be, 0 if there is no semaphore.
  /// 1 command. Throws Error.
  std::int64_t available() const;
  /// Makes a semaphore of this many permits, from 0 to 2^31 - 1, unless there is one. True: made. Resent until it is
  /// answered, for Config::patience at most, and counted once; then Error(unknown_outcome). 1 command. Throws Error.
  bool set(std::int64_t permits) const;
  /// Sets the total number of permits, including those that are held; makes the semaphore if there is none. Returns how
  /// many can be taken now, below 0 if more are held. Repeated, and counted
  /// once, as `set`. 1 command. Throws Error.
  std::int64_t set_total(std::int64_t permits) const;
  /// Adds this many permits, or removes them if it is below 0. Returns how many can be taken now. Repeated, and counted
  /// once, as `set`. 1 command. Throws Error.
  std::int64_t add(std::int64_t permits) const;

  // The same without blocking, defined by async.hpp: complete with `(Failure, T)`, with the T of the blocking call.
  template <class Token = detail::DefaultToken>
  auto async_available(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_set(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_set_total(std::int64_t permits, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_add(std::int64_t permits, Token&& token = Token()) const;

  /// See BasicLock.
  LeasedSemaphore with(AcquireOptions defaults) const { return LeasedSemaphore(parts_with(std::move(defaults))); }

 private:
  friend class Client;
  using KeyLock::KeyLock;
};

}  // namespace holdfast
