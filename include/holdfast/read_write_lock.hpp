// A lock that one writer has alone or several readers share, wire-compatible with Redisson's RReadWriteLock.
#pragma once

#include <chrono>
#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// The readers' side of a ReadWriteLock, as a lock of its own: its holders share the lock with other readers. From
/// ReadWriteLock::reader. Its `lock` and `unlock` are the `lock_shared` and `unlock_shared` of that; `info()`,
/// `is_locked()` and `force_release()` are those of the whole lock.
class HOLDFAST_EXPORT ReadLock : public KeyLock {
 public:
  /// See BasicLock.
  ReadLock with(AcquireOptions defaults) const { return ReadLock(parts_with(std::move(defaults))); }

 private:
  friend class ReadWriteLock;
  using KeyLock::KeyLock;
};

/// From Client::read_write_lock. As a Lock it is the writer's side, which excludes everybody else. Readers share it:
/// `acquire_shared`, `std::shared_lock`, or the ReadLock that `reader()` returns. Redisson's RReadWriteLock of the same
/// name is the same lock.
///
/// Readers of one client share one read hold at the server: a reader that arrives while another of this client reads,
/// with the same renewed lease and no `max_hold`, costs no round trip; the last one releases the hold. They share one
/// owner: if that hold is lost, all of them are notified. Other readers have holds of their own.
///
/// Order: first come, first served inside a client, so a reader behind a waiting writer waits. Between clients the
/// server lets readers in as long as somebody reads. To give writers of other clients a chance, the readers of a client
/// share a hold for at most a second before they ask the server again. If the server says that somebody else listens,
/// new readers wait until the present ones have left and the hold is released, but for 0.1 s at most, since the present
/// ones may stay long, or only readers may be listening. So readers that stay no longer than that let a writer in;
/// longer ones that always overlap can keep a writer out, as Redisson's readers can.
///
/// Threads: a thread may read several times, and read while it writes; when it then unlocks the writer's side it
/// continues as a reader (a downgrade, 1 command). A reader cannot become a writer, since two that tried would wait for
/// each other: `lock()` throws Error(would_deadlock), `try_lock()` is false, at once.
///
/// Errors, waiting, cancellation: as Lock. `wrong_type` if the name belongs to something other than a read-write lock,
/// such as a Lock. Not a member of MultiLock or RedLock. Wire cost: as Lock; 0 for a reader that shares a hold. Source:
/// docs/wire.md section 2.
class HOLDFAST_EXPORT ReadWriteLock : public KeyLock {
 public:
  /// The readers' side.
  const ReadLock& reader() const noexcept { return reader_; }

  /// As BasicLock::acquire and try_acquire, as a reader.
  Hold acquire_shared(const AcquireOptions& options = {}) const { return reader_.acquire(options); }
  MaybeHold try_acquire_shared(const AcquireOptions& options = {}) const { return reader_.try_acquire(options); }

  /// The rest of SharedTimedMutex, for std::shared_lock: as `lock`, `try_lock...` and `unlock` of BasicLock, as a
  /// reader.
  void lock_shared() const { reader_.lock(); }
  bool try_lock_shared() const { return reader_.try_lock(); }
  template <class Rep, class Period>
  bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) const {
    return reader_.try_lock_for(wait);
  }
  template <class Clock, class Duration>
  bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return reader_.try_lock_until(time);
  }
  [[gnu::always_inline]] void unlock_shared() const noexcept { reader_.unlock(); }

  /// Turns this writer's hold into a reader's, with the same Hold; no other writer can enter in between. Waiting
  /// readers are let in. No effect if it is a reader's already. Blocks until the server has answered. Throws
  /// Error(lost) if the hold was lost, Error(unknown_outcome) if the server did not answer while the hold was valid:
  /// then it may be either, and if it is a reader's it is lost at its next renewal. Error(invalid_argument): the hold
  /// is of another lock. 1 command.
  void downgrade(Hold& hold) const;
  /// The same without blocking, defined by async.hpp: completes with `(Failure)`. Without an answer it retries as long
  /// as the hold is valid. On `terminal` or `partial` cancellation it completes with `cancelled`, and continues.
  template <class Token = detail::DefaultToken>
  auto async_downgrade(const Hold& hold, Token&& token = Token()) const;

  /// See BasicLock. The defaults are the readers' as well.
  ReadWriteLock with(AcquireOptions defaults) const {
    ReadLock reader = reader_.with(defaults);
    return {parts_with(std::move(defaults)), std::move(reader)};
  }

 private:
  friend class Client;
  ReadWriteLock(detail::PartsPtr writer, ReadLock reader) : KeyLock(std::move(writer)), reader_(std::move(reader)) {}
  static ReadWriteLock make(detail::PartsPtr writer);

  ReadLock reader_;
};

}  // namespace holdfast
