// Permits that have a lease each, wire-compatible with Redisson's RPermitExpirableSemaphore.
#pragma once

#include <cstdint>
#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// From Client::leased_semaphore: so many permits under a name, and whoever has one has a Hold of it. As a lock that as
/// many may have as there are permits: the watchdog renews it, it can be lost (`valid_for()`, `lost_token()`), and the
/// permits of a process that dies come back when their leases are over, by the server's clock, whether or not anybody
/// else asks at that moment.
///
/// Somebody must say how many permits there are: `set`, `set_total`, or Redisson. Until then nobody gets any, and
/// whoever waits waits for that.
///
/// A Hold is of one permit, or of as many as `with_permits` says, which are taken all at once or not at all, renewed
/// together, and lost together if one of them is gone. `Hold::owner()` is the permit's id as Redisson's users have it,
/// 32 hexadecimal digits; of several, with commas between. What is released may be passed on to a caller of the client
/// who wants as many, id and all, as a Lock is. Who waits is served first in, first out inside a client, also where the
/// first wants more permits than those behind it; between clients whoever asks first when permits come back.
///
/// A thread that has a permit by `lock()` cannot take another one in that way (`would_deadlock`), but any number of
/// holds. `is_locked()`: somebody has a permit; `info()` has them all, the first thousand; `force_release()` takes
/// them from everybody, or one by its id. `remaining()` is that of the semaphore, which as a rule has no end.
///
/// A hold goes on in another process as that of a Lock does: `detach()` and `adopt()`, whichever handle of the
/// semaphore adopts it, and for how many permits that is says the ticket. An id that somebody else hands over, a user
/// of Redisson's say, is adopted by a ticket that is made of it: `Ticket{Ticket::Kind::permit, name(), id, {},
/// lease}.text()`. Of a fixed lease `Hold::extend()` is Redisson's updateLeaseTime.
///
/// Errors, waiting, cancellation, threads: as Lock. `wrong_type` if something else than a semaphore has the name.
/// Wire cost: 1 command to take, 1 to release; none to pass it on; a first contended wait 2 writes. In a cluster the
/// name needs no brace, or a hash tag. Redisson's RPermitExpirableSemaphore of the same name is the same semaphore.
/// Source: docs/wire.md section 12.
class HOLDFAST_EXPORT LeasedSemaphore : public KeyLock {
 public:
  /// So many permits one Hold can have.
  static constexpr std::uint32_t kMostPermits = 1000;

  /// The same semaphore, of which every acquisition through this handle takes so many permits. Throws
  /// Error(invalid_argument) for 0, and for more than kMostPermits. Costs no round trip.
  LeasedSemaphore with_permits(std::uint32_t permits) const;

  /// How many permits can be taken now; below 0 if more are held than there should be, 0 if there is no semaphore.
  /// 1 command. Throws Error.
  std::int64_t available() const;
  /// Makes a semaphore of so many permits, from 0 to 2^31 - 1, unless there is one. True: made. Sent again until it is
  /// answered, for Config::patience at most, and counted once; then Error(unknown_outcome). 1 command. Throws Error.
  bool set(std::int64_t permits) const;
  /// That there be so many permits in all, those that are held among them; makes the semaphore if there is none.
  /// Returns how many can be taken now, below 0 if more are held. Repeated as `set`. 1 command. Throws Error.
  std::int64_t set_total(std::int64_t permits) const;
  /// So many permits more, or fewer if it is below 0. Returns how many can be taken now. Repeated, and counted once, as
  /// `set`. 1 command. Throws Error.
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
