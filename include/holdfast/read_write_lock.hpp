// A lock that one writer has alone or several readers share, wire-compatible with Redisson's RReadWriteLock.
#pragma once

#include <chrono>
#include <utility>

#include <holdfast/export.hpp>
#include <holdfast/key_lock.hpp>

namespace holdfast {

/// The readers' side of a ReadWriteLock, as a lock of its own: what acquires it shares the lock with other readers.
/// From ReadWriteLock::reader. Its `lock` and `unlock` are the `lock_shared` and `unlock_shared` of that; `info()`,
/// `is_locked()` and `force_release()` are those of the whole lock.
class HOLDFAST_EXPORT ReadLock : public KeyLock {
 public:
  /// See BasicLock.
  ReadLock with(AcquireOptions defaults) const { return ReadLock(parts_with(std::move(defaults))); }

 private:
  friend class ReadWriteLock;
  using KeyLock::KeyLock;
};

/// From Client::read_write_lock. What Lock can do, it does as a writer, who has the lock alone. Readers share it:
/// `acquire_shared`, `std::shared_lock`, or the ReadLock that `reader()` returns. Redisson's RReadWriteLock of the same
/// name is the same lock.
///
/// Readers of one client share one read hold at the server: a reader that comes while another of this client reads,
/// with the same renewed lease and no `max_hold`, costs no round trip; the last one gives the hold back. They share one
/// owner and one fate: if that hold is lost, all of them are notified. Other readers have holds of their own.
///
/// Order: first come, first served inside a client, so a reader that comes behind a waiting writer waits. Between
/// clients the server lets readers in as long as somebody reads. To let a writer elsewhere in, the readers of a client
/// share a hold for a second at most before they ask the server again. If that says that somebody else listens, those
/// who come next wait until the others have left and the hold is given back, for 0.1 s at most, as it may be that the
/// others stay long, or that only readers listen. So readers who do not stay longer than that let a writer in; those
/// who do, and always overlap, can keep one out, as Redisson's readers can.
///
/// Threads: a thread may read several times, and read while it writes; when it then unlocks the writer's side it goes
/// on as a reader (a downgrade, 1 command). A reader cannot become a writer, for two that tried would wait for each
/// other: `lock()` throws Error(would_deadlock), `try_lock()` is false, at once.
///
/// Errors, waiting, cancellation: as Lock. `wrong_type` if something else than a read-write lock has the name, a Lock
/// among them. Not a member of MultiLock or RedLock. Wire cost: as Lock; 0 for a reader that shares a hold. Source:
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

  /// The writer that has this hold goes on as a reader, with the same Hold; at no moment another writer can enter.
  /// Waiting readers are let in. Nothing happens if it reads already. Blocks until the server has answered. Throws
  /// Error(lost) if the hold was lost, Error(unknown_outcome) if the server did not answer while the hold was valid:
  /// then it may be either, and is lost at its next renewal if it reads. Error(invalid_argument): the hold is of
  /// another lock. 1 command.
  void downgrade(Hold& hold) const;
  /// The same without blocking, defined by async.hpp: completes with `(Failure)`. Without an answer it goes on asking
  /// as long as the hold is valid. Of `terminal` and `partial` cancellation it completes with `cancelled`, and goes on.
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
