// SPDX-License-Identifier: Apache-2.0
// The kinds of locks: what all of them can do, those that are one key, and several locks as one.
#pragma once

#include <cassert>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <holdfast/detail/counting.hpp>
#include <holdfast/detail/parts.hpp>
#include <holdfast/export.hpp>
#include <holdfast/hold.hpp>
#include <holdfast/lock_info.hpp>
#include <holdfast/options.hpp>

namespace holdfast {

/// The common part of all kinds of locks. A cheap handle: copy it, share it between threads; all copies are the same
/// lock, and a const handle can do everything. More: docs/kinds.md.
///
/// - `acquire` / `try_acquire` return a Hold; the *hold* is the owner. Not re-entrant: acquiring again waits for the
/// first.
/// - `lock` / `try_lock…` / `unlock` are BasicLockable, Lockable and TimedLockable, for std::scoped_lock and
///   std::unique_lock; the *thread* is the owner. Whether it may lock again depends on the kind and on the handle.
///
/// Defaults, from Client::lock and its like or from `with()`, apply to all calls of both; an option of a call wins.
/// Waits: first in, first out within a client, of which one waiter sends commands. What wakes it: a message, the end of
/// the lease, a reconnect, or a rare, counted safety poll.
class HOLDFAST_EXPORT BasicLock {
 public:
  // No move: a handle that was moved from is a handle of the same lock still.
  BasicLock(const BasicLock&) noexcept = default;
  BasicLock& operator=(const BasicLock&) noexcept = default;

  /// Effect: waits for the lock, and takes it.
  /// Throws: Error: `timed_out` (only with a `wait`, here or among the defaults), `cancelled`, `unreachable`,
  /// `no_quorum`, `unknown_outcome`, `tls`, `server_error`, `denied`, `wrong_type`, `read_only`, `out_of_memory`,
  /// `unsupported_by_server`, `invalid_argument`, `forked`, `closed`, `crowded`, `not_set`, `too_few`; `would_deadlock`
  /// without a limit if the calling thread holds it by `lock()` and that hold does not end by itself.
  /// Waits: until `wait` is over; through trouble of the server, reconnects and restarts for `Timing::patience`.
  /// Cost: 1 command for a free lock. With a limit of a second or more, the text of `timed_out` names the holder, for 1
  /// command for each of the names, 100 at most, and 2 shared by all waiters of this client, where a server with at
  /// most 1,000 clients answers in time.
  Hold acquire(const AcquireOptions& options = {}) const;

  /// The same, but returns empty where the lock could not be had, and MaybeHold::reason() says why: somebody else holds
  /// it (at once, or when `wait` is over), `stop` ended the wait, or too many wait already. Throws Error for everything
  /// else. Keep the result in a variable: the lock is held as long as that lives.
  MaybeHold try_acquire(const AcquireOptions& options = {}) const;

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
  /// Lockable: one attempt. False for what NotGranted lists, and where lock() would throw `would_deadlock`. Throws
  /// Error for anything else.
  [[nodiscard]] bool try_lock() const;
  /// TimedLockable. Zero or less means one attempt. False as for `try_lock`.
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) const {
    return try_lock_within(detail::limit_of(wait));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return try_lock_within(detail::limit_until(time));
  }
  /// Releases one level of the calling thread's hold. Never throws; blocks for at most `Timing::release_timeout`, not
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
  /// Throws Error(invalid_argument) for options out of range. The handle of a kind returns one of that kind.
  [[nodiscard]] BasicLock with(LockOptions defaults) const { return BasicLock(parts_with(std::move(defaults))); }

  /// The name as the caller gave it; for several locks, all names, separated by commas.
  const std::string& name() const noexcept;

 protected:
  explicit BasicLock(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}
  const detail::PartsPtr& parts() const noexcept { return parts_; }
  detail::PartsPtr parts_with(LockOptions defaults) const;
  template <class Kind>
  static std::vector<detail::PartsPtr> parts_of(const std::vector<Kind>& locks) {
    std::vector<detail::PartsPtr> parts;
    for (const BasicLock& lock : locks) parts.push_back(lock.parts_);
    return parts;
  }

 private:
  friend struct detail::HandleAccess;
  /// unlock(). False: the thread does not hold the lock.
  bool leave_level() const noexcept;
  bool try_lock_within(std::chrono::milliseconds wait) const;
  /// Empty: this thread now holds it, one level deeper. Otherwise the reason why it was not granted, also as text in
  /// `cause` unless that is null; throws for every other failure.
  std::error_code enter(std::optional<std::chrono::milliseconds> wait, std::string* cause) const;

  detail::PartsPtr parts_;
};

/// What the handle of a kind adds to what its base can do: the same kind with other defaults.
template <class Kind, class Base>
class LockHandle : public Base {  // NOLINT(bugprone-crtp-constructor-accessibility): its base has no public constructor
 public:
  /// BasicLock::with(), of the same kind.
  [[nodiscard]] Kind with(LockOptions defaults) const { return Kind(this->parts_with(std::move(defaults))); }

 protected:
  using Base::Base;
};

/// The common part of the locks that are one key. All handles of the same client, kind and name are one lock.
class HOLDFAST_EXPORT KeyLock : public BasicLock {
 public:
  /// True if anyone holds the lock. 1 command. Throws Error, `wrong_type` if something other than a lock is there.
  [[nodiscard]] bool is_locked() const;
  /// True if this owner (as from Hold::owner) holds the lock now, according to the server. 1 command. Throws Error.
  [[nodiscard]] bool is_held_by(const std::string& owner) const;
  /// Remaining time to live as the server reports it; empty if free or without expiry. 1 command. Throws Error.
  [[nodiscard]] std::optional<std::chrono::milliseconds> remaining() const;
  /// Who holds it, and for how long, and who waits for a FairLock. 2 commands in 1 write; then, if it is held, CLIENT
  /// LIST for `InfoDetail::holder`, INFO and perhaps CLIENT LIST for `holder_if_cheap`, nothing more for `owner`.
  /// Throws Error as is_locked().
  [[nodiscard]] LockInfo info(InfoDetail detail = InfoDetail::holder) const;
  /// Asks those who hold the lock to give it back, and tells how many connections have heard that: of holds with
  /// Hold::on_asked, of whichever kind the lock of this name is. 0: nobody listens, or the lock is free. Nothing else
  /// happens. In a cluster, holders that were moved to another node meanwhile hear it and are not counted. 1 write of 2
  /// commands. Throws Error; `denied` if the server does not let this user publish there.
  [[nodiscard]] std::size_t ask_release() const;
  /// Takes the lock away from whoever holds it and wakes a waiter. True if it was held. 1 command. The holder learns of
  /// it by a notice (Config::loss_notice) or at its next renewal (with a fixed lease: at its deadline or release).
  /// Anything that is not a lock is left alone (`wrong_type`). A Lock is recognised by its form: a hash of one owner
  /// with a count, and an expiry. A SimpleLock is any string with an expiry: if other strings may have its name, name
  /// the owner. Throws Error.
  bool force_release() const;
  /// The same, but only from this owner (as from LockInfo::owner or Hold::owner): compared and deleted in one step on
  /// the server, so that no later owner loses it. True if this owner held it; false if the lock is free or somebody
  /// else's, in which case nothing has changed. For a SimpleLock, any string with exactly this value, with or without
  /// an expiry. 1 command. Throws Error as above.
  bool force_release(const std::string& owner) const;

  /// Resumes a hold that was detached, here or in another process: checks that its owner still has the lock, and sets
  /// the lease again. The returned Hold has that owner, and its fencing token if there is one. It is renewed, with the
  /// ticket's lease, unless the options or defaults say otherwise. Two holds of
  /// one ticket do not know of each other: the first release ends both. Throws Error(lost) if the server says that the
  /// lock is not that owner's; Error(unknown_outcome) without an answer: then the lease may or may not have been set,
  /// and the ticket may be tried again; Error(invalid_argument) for text that is not a ticket of this lock and kind;
  /// `closed`, `forked`, and `would_deadlock` for a client made by client_on(), which has async_adopt. 1 command.
  Hold adopt(std::string_view ticket, const AdoptOptions& options = {}) const;

  // The same without blocking, defined by async.hpp: complete with `(Failure, T)`, with the T of the blocking call.
  template <class Token = detail::DefaultToken>
  auto async_is_locked(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_is_held_by(std::string owner, Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_remaining(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_info(InfoDetail detail = InfoDetail::holder, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, InfoDetail>)
  auto async_info(Token&& token) const;
  template <class Token = detail::DefaultToken>
  auto async_ask_release(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
    requires(!std::convertible_to<Token, std::string>)
  auto async_force_release(Token&& token = Token()) const;
  template <class Token = detail::DefaultToken>
  auto async_force_release(std::string owner, Token&& token = Token()) const;
  /// If cancelled, the lease may or may not have been set; the ticket may be tried again.
  template <class Token = detail::DefaultToken>
  auto async_adopt(std::string ticket, AdoptOptions options = {}, Token&& token = Token()) const;
  template <class Token>
    requires(!std::same_as<std::remove_cvref_t<Token>, AdoptOptions>)
  auto async_adopt(std::string ticket, Token&& token) const;

 protected:
  using BasicLock::BasicLock;
};

/// From Client::lock. Re-entrant for threads, unless it is made with `{.reentrant = false}`: then it matches Redisson's
/// getNonReentrantLock(), which is the same lock on the wire. Redisson and Holdfast exclude each other on the same
/// name. Wire cost: for a free lock 1 command to take, 1 to release; re-entry 0; a first contended wait 2 writes.
/// Server: Redis >= 6. Source: docs/wire.md sections 2 and 4.
class HOLDFAST_EXPORT Lock : public LockHandle<Lock, KeyLock> {
 private:
  friend class Client;
  friend class LockHandle<Lock, KeyLock>;
  using LockHandle::LockHandle;
};

/// From Client::simple_lock. Excludes, and is excluded by, every client of this family: redis-py's Lock, go-redsync,
/// node redlock, and programs that send the commands themselves. The same engine as Lock: renewed by
/// compare-and-PEXPIRE, with the same loss signal.
///
/// Not re-entrant: `lock()` by a thread that holds it throws Error(would_deadlock), `try_lock` returns false.
/// Waiting: this family does not announce releases. Holdfast's clients do, on a channel of their own, so among
/// themselves they wake each other as Lock does; because of the others, a waiter also polls, first after
/// `KindTiming::poll_min`, then less and less often, down to once per `KindTiming::poll_max`, and when the key is due
/// to expire. A client that may not subscribe waits by polling alone; one that may not publish leaves the others to
/// poll. Wire cost: as Lock. A name belongs to one kind: a Lock's key is a hash, this one a string, and each fails with
/// `wrong_type` on the other. Other strings cannot be distinguished from locks: see force_release(). Source: the Redis
/// documentation of SET (pattern "a simple locking system").
class HOLDFAST_EXPORT SimpleLock : public LockHandle<SimpleLock, KeyLock> {
 private:
  friend class Client;
  friend class LockHandle<SimpleLock, KeyLock>;
  using LockHandle::LockHandle;
};

/// From Client::fenced_lock. As Lock, and each grant has a token, larger than those of all grants before it: pass it
/// along with each write to a store that rejects lower ones (fence.hpp, docs/fencing.md).
///
/// The token: `Hold::token()`, `this_thread().token()`; the same through renewals and re-entry. Its counter is a key of
/// its own without an expiry, and only as durable as the server's data.
/// Errors, waits, threads: as Lock; `wrong_type` also if the counter's key is no number. Not a member of MultiLock or
/// RedLock. Cost: as Lock; handing it to a waiter of the same client costs a round trip. Redisson's RFencedLock of the
/// same name is the same lock. More: docs/kinds.md; docs/wire.md section 2.
class HOLDFAST_EXPORT FencedLock : public LockHandle<FencedLock, KeyLock> {
 public:
  /// The token of the latest grant to anyone, according to the server; 0 if there was none (Redisson: getToken). Not
  /// for stores: by the time it arrives it may be another owner's. 1 command. Throws Error.
  [[nodiscard]] std::int64_t latest_token() const;

 private:
  friend class Client;
  friend class LockHandle<FencedLock, KeyLock>;
  using LockHandle::LockHandle;
};

/// From Client::fair_lock. As Lock, but waiters of all clients, Redisson's included, get it in the order in which their
/// first command reached the server. A caller that does not wait gets it only if it is free and nobody is queued.
///
/// A waiter keeps its place while it lives. One that is next and does not take the free lock loses its place after a
/// turn
/// (`KindTiming::fair_turn`, 1 s): so long does a dead waiter delay the others; one of Redisson's, 5 minutes.
/// Errors, waits, threads, re-entry: as Lock; `wrong_type` also if the queue's keys are something else. Not a member of
/// MultiLock or RedLock. Lock and RLock of the same name exclude it, and jump the queue.
/// Cost: 1 command to take a free lock, 1 to release; a contended wait 2 writes, 1 command at its turn or its end, and
/// one per turn meanwhile. More: docs/kinds.md; docs/wire.md section 10.
class HOLDFAST_EXPORT FairLock : public LockHandle<FairLock, KeyLock> {
 private:
  friend class Client;
  friend class LockHandle<FairLock, KeyLock>;
  using LockHandle::LockHandle;
};

/// From Client::spin_lock. As Lock, at the same key, but without messages: a waiter polls, after `KindTiming::spin_min`
/// (1 ms), then after twice that, and so on up to `KindTiming::spin_max` (128 ms), and when the lease is due to end.
///
/// For a lock that is held briefly and rarely waited for, where messages are expensive or not permitted. Inside a
/// client first in, first out; between clients there is no order. Errors, threads, re-entry: as Lock;
/// `pipelined_release` has no effect. Not a member of MultiLock or RedLock. Cost: 1 command to take a free lock, 1 to
/// release, 1 for each poll. Lock and RLock of the same name exclude it; its release does not wake them. Redisson's
/// RSpinLock is the same lock. More: docs/kinds.md; docs/wire.md section 2.
class HOLDFAST_EXPORT SpinLock : public LockHandle<SpinLock, KeyLock> {
 private:
  friend class Client;
  friend class LockHandle<SpinLock, KeyLock>;
  using LockHandle::LockHandle;
};

/// The readers' side of a ReadWriteLock, as a lock of its own: its holders share the lock with other readers. From
/// ReadWriteLock::reader. Its `lock` and `unlock` are the `lock_shared` and `unlock_shared` of that; `info()`,
/// `is_locked()` and `force_release()` are those of the whole lock.
class HOLDFAST_EXPORT ReadLock : public LockHandle<ReadLock, KeyLock> {
 private:
  friend class ReadWriteLock;
  friend class LockHandle<ReadLock, KeyLock>;
  using LockHandle::LockHandle;
};

/// The writer's side of a ReadWriteLock, as a lock of its own, which excludes everybody else. From
/// ReadWriteLock::writer.
class HOLDFAST_EXPORT WriteLock : public LockHandle<WriteLock, KeyLock> {
 private:
  friend class LockHandle<WriteLock, KeyLock>;
  friend class ReadWriteLock;
  using LockHandle::LockHandle;
};

/// From Client::read_write_lock: one lock with two sides. `writer()` excludes everybody else; the holders of `reader()`
/// share it. Holds and queries come from these two; for threads it is also a SharedTimedMutex.
///
/// Readers of one client share one hold at the server, and one owner: a loss notifies all of them. A reader behind a
/// waiting writer waits; readers of other clients that always overlap for longer than 0.1 s can keep a writer out.
/// Threads: may read several times, and read while they write; unlocking the writer's side then leaves the reader's. A
/// reader cannot become a writer: `lock()` throws Error(would_deadlock), `try_lock()` is false, at once.
/// Errors, waits: as Lock; `wrong_type` for any other lock. Not a member of MultiLock or RedLock. Cost: as Lock; 0 for
/// a reader that shares a hold. Redisson's RReadWriteLock is the same lock. More: docs/kinds.md; docs/wire.md
/// section 2.
class HOLDFAST_EXPORT ReadWriteLock {
 public:
  const WriteLock& writer() const noexcept { return writer_; }
  const ReadLock& reader() const noexcept { return reader_; }
  const std::string& name() const noexcept { return writer_.name(); }

  /// SharedTimedMutex, for the standard's guards: the calls of the writer's side, and those with `shared` in their
  /// names of the readers'. See BasicLock.
  void lock() const { writer_.lock(); }
  [[nodiscard]] bool try_lock() const { return writer_.try_lock(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) const {
    return writer_.try_lock_for(wait);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return writer_.try_lock_until(time);
  }
  [[gnu::always_inline]] void unlock() const noexcept { writer_.unlock(); }
  void lock_shared() const { reader_.lock(); }
  [[nodiscard]] bool try_lock_shared() const { return reader_.try_lock(); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_lock_shared_for(const std::chrono::duration<Rep, Period>& wait) const {
    return reader_.try_lock_for(wait);
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration>& time) const {
    return reader_.try_lock_until(time);
  }
  [[gnu::always_inline]] void unlock_shared() const noexcept { reader_.unlock(); }

  /// Turns a writer's hold into a reader's, with the same Hold; no other writer can enter in between. Waiting readers
  /// are let in. No effect if it is a reader's already. Blocks until the server has answered. Throws Error(lost) if the
  /// hold was lost, Error(unknown_outcome) if the server did not answer while the hold was valid: then it may be
  /// either, and if it is a reader's it is lost at its next renewal. Error(invalid_argument): the hold is of another
  /// lock. 1 command.
  void downgrade(Hold& hold) const;
  /// The same without blocking, defined by async.hpp: completes with `(Failure)`. Without an answer it retries as long
  /// as the hold is valid. On `terminal` or `partial` cancellation it completes with `cancelled`, and continues.
  template <class Token = detail::DefaultToken>
  auto async_downgrade(const Hold& hold, Token&& token = Token()) const;

  /// Both sides with these defaults: see LockHandle::with().
  [[nodiscard]] ReadWriteLock with(const LockOptions& defaults) const {
    return {writer_.with(defaults), reader_.with(defaults)};
  }

 private:
  friend class Client;
  ReadWriteLock(WriteLock writer, ReadLock reader) : writer_(std::move(writer)), reader_(std::move(reader)) {}
  static ReadWriteLock make(detail::PartsPtr writer);
  const detail::PartsPtr& parts() const noexcept { return writer_.parts(); }

  WriteLock writer_;
  ReadLock reader_;
};

/// From Client::any_lock: for one of several things that are as good as each other, such as GPUs, ports or licences.
///
///     holdfast::Hold hold = client.any_lock({"gpu:0", "gpu:1", "gpu:2"}).acquire();
///     use(hold.name());   // "gpu:1"
///
/// The first that is free is taken, in the order given; the result is a Hold of the Lock of that name. A caller waits
/// only if none is free. Errors, waits, threads: as Lock; `wrong_type` if one of the names is something else. Not
/// re-entrant. Cost: 1 command to take and 1 to release, whatever the number of names; over several slots of a cluster,
/// 1 for each until one grants. More: docs/kinds.md.
class HOLDFAST_EXPORT AnyLock : public LockHandle<AnyLock, BasicLock> {
 private:
  friend class Client;
  friend class LockHandle<AnyLock, BasicLock>;
  using LockHandle::LockHandle;
};

/// Several locks, taken and given back together. Never holds some while waiting for others, so it is no part of a
/// deadlock; it may wait long if its members are heavily contended. Re-entrant for threads if its members are.
///
/// Locks of one client (in a cluster, of one slot) are taken with one command, others one client or slot after another;
/// if one is taken, those already granted are released. Lost as soon as one member is. Others see ordinary locks.
/// Threads: one that holds a member on its own must not take the whole. The client whose address comes first serves it;
/// release the hold before closing any of its clients.
/// Errors, waits: as Lock; `no_quorum` where a client is closed; Error(invalid_argument) for one server through two
/// clients. Cost: as Lock for locks of one client and slot; else 1 command for each. More: docs/kinds.md.
class HOLDFAST_EXPORT MultiLock : public LockHandle<MultiLock, BasicLock> {
 public:
  /// The defaults are those given here; its members' do not apply. Throws Error(invalid_argument) if `members` is
  /// empty, or for options out of range.
  explicit MultiLock(const std::vector<Lock>& members, LockOptions defaults = {});
  explicit MultiLock(const std::vector<SimpleLock>& members, LockOptions defaults = {});

 private:
  friend class LockHandle<MultiLock, BasicLock>;
  using LockHandle::LockHandle;
};

/// A lock that needs a majority of N independent servers (not replicas of each other): survives the loss of any
/// minority. Re-entrant for threads if its members are.
///
/// Granted when a majority has granted it and time is left: valid_for = lease - elapsed - 1 % - 2 ms, from before the
/// first send; otherwise released everywhere. Renewals need a majority too. The first client serves it.
/// Errors, waits: as Lock; Error(no_quorum) has each server's vote in `cause()`; the same server under two addresses is
/// Error(invalid_argument). Re-entry and local waiters count per object and its copies: make one and copy it.
/// Cost: 1 command per server to take and 1 to give back; the time of the slowest server of the fastest majority.
/// Source: the Redis documentation of distributed locks (Redlock). More: docs/kinds.md; docs/guarantees-by-kind.md.
class HOLDFAST_EXPORT RedLock : public LockHandle<RedLock, BasicLock> {
 public:
  /// One lock per server; the servers are those of the locks' clients, so each must come from a client of its own.
  /// Members that are MultiLocks must each be of one client, and of one slot if that is of a cluster. The
  /// defaults are those given here; its members' do not apply. Throws Error(invalid_argument).
  explicit RedLock(const std::vector<Lock>& members, LockOptions defaults = {});
  explicit RedLock(const std::vector<SimpleLock>& members, LockOptions defaults = {});
  explicit RedLock(const std::vector<MultiLock>& members, LockOptions defaults = {});

 private:
  friend class LockHandle<RedLock, BasicLock>;
  using LockHandle::LockHandle;
};

}  // namespace holdfast
