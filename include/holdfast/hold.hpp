// SPDX-License-Identifier: Apache-2.0
// What one has: a hold, or why there is none; a thread's hold; and a hold on its way to another process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include <holdfast/detail/parts.hpp>
#include <holdfast/error.hpp>
#include <holdfast/export.hpp>

namespace holdfast {

namespace engine {
class Claim;
}
namespace detail {
struct DefaultToken;  // of async.hpp
struct HoldAccess;
}  // namespace detail

/// One granted acquisition of a lock. Move-only; the hold is the owner, so it may be moved to and released by any
/// thread.
///
/// Threads: distinct holds are independent; one Hold object may be used by only one thread at a time, but the token
/// from `lost_token()` may be watched from anywhere. Destruction releases, never throws, and blocks for at most
/// `Timing::release_timeout`; not at all if the hold is lost. A Hold keeps the parts of the client that it needs alive;
/// once the client is closed it is lost (`LossReason::closed`). fork(): the hold belongs to the parent; in the child
/// every query says "lost" and destruction does nothing.
class [[nodiscard]] HOLDFAST_EXPORT Hold {
 public:
  Hold() noexcept = default;
  Hold(Hold&& other) noexcept = default;
  Hold& operator=(Hold&& other) noexcept;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold();

  /// True until released or moved from. It does not mean that the lock is still ours: for that see `valid_for()`. Not
  /// for a temporary: `if (lock.acquire())` would release the lock before the next line.
  explicit operator bool() const& noexcept { return held_ != nullptr; }
  explicit operator bool() const&& = delete;

  /// How long the lock is certainly still ours: the lease, counted from before it was last extended, minus a margin of
  /// 1 % + 2 ms; zero once lost, released, or in a forked child. If it is zero because the hold was lost,
  /// `is_lost()` and `lost_token().stop_requested()` are already true. Whole milliseconds, rounded down. Costs no round
  /// trip.
  [[nodiscard]] std::chrono::milliseconds valid_for() const noexcept;

  /// How long the lock is certainly still ours even if the primary fails now: as `valid_for()`, if the latest grant or
  /// renewal has the required acks (AcquireOptions::acks), from the primary that serves it now. Zero
  /// without acks, and after a failover until the new primary's replicas have confirmed. Costs no round trip.
  [[nodiscard]] std::chrono::milliseconds durable_for() const noexcept;

  /// True once the hold is lost, as far as is known here: whatever it protects may be somebody else's by now. Checks
  /// the clock, as `valid_for()` does. It stays true after `release()`, and is also true if only the release discovered
  /// the loss. False for an empty hold. Costs no round trip.
  [[nodiscard]] bool is_lost() const noexcept { return loss_reason().has_value(); }
  /// Stops when the local deadline passes, and thus before the server can give the lock to somebody else, or when the
  /// server reports that it is gone. The call itself checks the clock: after the deadline it returns a token that has
  /// already stopped, even right after the process was frozen. A token taken earlier is stopped by a thread of the
  /// client as soon as that thread is scheduled; later only if another stop callback blocks, or after the machine was
  /// suspended (by up to a health check). `valid_for()` is never late. Example: 03_loss.cpp. Callbacks registered on it
  /// run on a thread of the client, or on the thread that saw `valid_for()` reach zero. An empty
  /// hold returns a token without state. Does not stop in a forked child.
  [[nodiscard]] std::stop_token lost_token() const noexcept;

  /// Checks the clock, as `valid_for()` does. After `release()` it is `released`, or `lost` if the hold had been lost.
  [[nodiscard]] HoldState state() const noexcept;
  /// Why it was lost; empty if it was not, as far as is known here. Checks the clock, as `valid_for()` does, so
  /// whenever that is zero because of a loss there is a reason. It stays after `release()`, and is also set if only the
  /// release discovered the loss (`was_lost`): `taken`, or `expired` or `max_hold` if answered after the deadline.
  [[nodiscard]] std::optional<LossReason> loss_reason() const noexcept;
  /// Throws Error(lost) if `valid_for()` is zero, and Error(not_owner) for an empty hold: call it right before any step
  /// that must not overlap. Costs no round trip.
  void throw_if_lost() const;
  /// The owner as on the wire, `<client uuid>:<number>`; empty for an empty hold.
  [[nodiscard]] std::string owner() const;
  /// The token of this grant, larger than that of every grant before it: for a store that rejects lower ones (see
  /// FencedLock). It stays, lost or not, until the hold is released. Empty for an empty hold and for kinds of locks
  /// without tokens. Costs no round trip.
  [[nodiscard]] std::optional<std::int64_t> token() const noexcept;
  /// The lock's name as the caller gave it.
  [[nodiscard]] std::string name() const;

  /// Until the hold ends, `on_asked` is called whenever somebody asks for the lock (KeyLock::ask_release, `holdfast
  /// ask-release`): a polite request, which does nothing by itself. Called on the client's notifier thread or its
  /// io_context (see Observer), perhaps more than once for one request, and once more at most while the hold ends, so
  /// give it no reference to what ends with the hold; what it throws is swallowed. Best effort: a request while this
  /// client has no connection, or within a second after, is not heard, nor one on a channel that it may not subscribe
  /// (`holdfast_asked:*`). Who asked sees how many heard it. Throws Error(not_owner) for an empty hold. Returns at
  /// once. Wire cost: 1 SUBSCRIBE and 1 command, again after each loss of the connection; then a look each second that
  /// sends nothing. Source: docs/wire.md section 1.
  void on_asked(std::function<void()> on_asked);

  /// Releases the lock and returns the outcome. Idempotent: a second call returns the first outcome; an empty hold
  /// returns `empty`; after Client::close() it returns the outcome of the release made then (`unknown` if not
  /// confirmed). Blocks for at most `Timing::release_timeout`, then returns `unknown` and continues in the background
  /// until the lease ends. Ignores any stop token. Wire cost: 1 command. Never throws; in a forked child it returns
  /// `was_lost`.
  ReleaseOutcome release() noexcept;

  /// Ends the hold, but the lock stays taken for `rest` from now on and then becomes free without a message: for work
  /// that must not be repeated too soon. Zero or less is release(). If the lease is at least as long, it stays taken
  /// even if this process is killed or nothing can be sent. Returns `left`, `was_lost` (the server says so and changes
  /// nothing) or `unknown`: tried once, within `Timing::release_timeout`; the lease is unchanged unless only the answer
  /// was lost. If other readers of this client share the hold, it is `left` without a command, and stays taken until
  /// the last of them has ended it, and for `rest` from now on at least. On a client made by client_on() it cannot
  /// wait: `unknown`. Wire cost: 1 command. Never throws; in a forked child it does nothing and returns `was_lost`.
  ReleaseOutcome leave(std::chrono::milliseconds rest) noexcept;

  /// Sets a fixed lease again: it ends that long from now, later or earlier than before. `valid_for()` shows the
  /// result. Throws Error(lost) if the server says that the lock is no longer ours, or the old lease ended first;
  /// Error(unknown_outcome) without an answer within `Timing::command_timeout`: then the hold is valid until the
  /// earlier of both ends, and you may retry; Error(invalid_argument) for a renewed hold, one on several servers or
  /// slots, and a lease out of range; Error(not_owner) for an empty hold, `closed`, `forked`. On a client made by
  /// client_on() `would_deadlock`: use async_extend there. Wire cost: 1 command.
  void extend(std::chrono::milliseconds lease);
  /// Ends the hold, but the lock stays taken for the rest of its lease. The returned text lets anyone resume the hold
  /// (KeyLock::adopt), here or in another process: see Ticket. From then on nothing here renews or releases it; a
  /// renewal sent before may still arrive. For holds of Lock, FencedLock, FairLock, SimpleLock and LeasedSemaphore; for
  /// others it throws Error(invalid_argument) and leaves the hold unchanged. Throws Error(lost), and the hold is over;
  /// Error(not_owner) for an empty hold. Never blocks, so it may be called on any client. Wire cost: nothing.
  [[nodiscard]] std::string detach();

  /// As release(), without blocking: see async.hpp, which defines it. Completes with `(ReleaseOutcome)`: it cannot
  /// fail. The hold moves into the operation and is empty from then on. If cancelled, it completes with `unknown` and
  /// continues in the background.
  template <class Token = detail::DefaultToken>
  auto async_release(Token&& token = Token());
  /// As extend(), without blocking, also on a client made by client_on(): completes with `(Failure)`. On `terminal` or
  /// `partial` cancellation it completes with `cancelled` and continues: then the lease is the old one or the new one,
  /// and `valid_for()` shows what is certain. Defined by async.hpp.
  template <class Token = detail::DefaultToken>
  auto async_extend(std::chrono::milliseconds lease, Token&& token = Token());
  /// Completes with `(Failure, LossReason)` when the hold is lost, as soon as `lost_token()` stops. Fails with
  /// `cancelled` if it is cancelled or the hold is released first; with `not_owner` for an empty hold. Defined by
  /// async.hpp.
  template <class Token = detail::DefaultToken>
  auto async_wait_lost(Token&& token = Token()) const;

 private:
  friend struct detail::HoldAccess;
  explicit Hold(std::shared_ptr<engine::Claim> held) noexcept;
  void end() noexcept;

  std::shared_ptr<engine::Claim> held_;
  ReleaseOutcome outcome_ = ReleaseOutcome::empty;  // the first one, once released
  std::optional<LossReason> loss_;                  // once released
  bool waits_ = true;
};

/// Like std::optional<Hold>, and convertible to one, but only a named one can be tested. `if (lock.try_acquire())`
/// would release the lock before the next line, so that does not compile. Instead:
///
///     if (auto hold = lock.try_acquire({.wait = 2s})) critical();   // held in here
///     else log("not now: ", to_string(*hold.reason()));
///
/// Threads: as for Hold. Moving leaves an empty Hold behind, as with std::optional.
class [[nodiscard]] MaybeHold {
 public:
  MaybeHold() noexcept = default;
  // As those of std::optional.
  // NOLINTBEGIN(google-explicit-constructor)
  MaybeHold(std::nullopt_t) noexcept {}
  MaybeHold(NotGranted reason) noexcept : reason_(reason) {}
  MaybeHold(Hold hold) noexcept : hold_(std::move(hold)) {}
  // NOLINTEND(google-explicit-constructor)

  explicit operator bool() const& noexcept { return hold_.has_value(); }
  explicit operator bool() const&& = delete;  // the hold would end here: give it a name
  bool has_value() const& noexcept { return hold_.has_value(); }
  bool has_value() const&& = delete;  // the hold would end here: give it a name
  friend bool operator==(const MaybeHold& maybe, std::nullopt_t) noexcept { return !maybe.hold_; }
  friend bool operator==(const MaybeHold&& maybe, std::nullopt_t) = delete;  // the hold would end here: give it a name

  /// Only if there is one.
  Hold& operator*() & noexcept { return *hold_; }
  const Hold& operator*() const& noexcept { return *hold_; }
  Hold operator*() && noexcept { return std::move(*hold_); }
  Hold* operator->() & noexcept { return &*hold_; }
  const Hold* operator->() const& noexcept { return &*hold_; }
  const Hold* operator->() const&& = delete;  // the hold would end here: give it a name

  /// Throws std::bad_optional_access if there is none.
  Hold& value() & { return hold_.value(); }
  const Hold& value() const& { return hold_.value(); }
  Hold value() && { return std::move(hold_).value(); }

  /// Ends the hold, if there is one, as its destructor does.
  void reset() noexcept { hold_.reset(); }

  /// Why it is empty: what the try found. Empty if there is a hold, and for a MaybeHold that is no result of a try.
  std::optional<NotGranted> reason() const noexcept { return hold_ ? std::nullopt : reason_; }

  operator std::optional<Hold>() && noexcept { return std::move(hold_); }  // NOLINT(google-explicit-constructor)

 private:
  std::optional<Hold> hold_;
  std::optional<NotGranted> reason_;
};

/// The hold that the calling thread has by `lock()`, `try_lock…` or a standard guard: from BasicLock::this_thread, as
/// in `lock.this_thread().valid_for()`. Each call finds the hold of the thread that makes the call, whichever thread
/// made this object. A Hold has its own functions and is not seen here. A cheap handle of the lock: copy it. In a
/// forked child no thread has a hold. Costs no round trip, except release().
class HOLDFAST_EXPORT ThisThread {
 public:
  // No move: a handle that was moved from is a handle of the same lock still.
  ThisThread(const ThisThread&) noexcept = default;
  ThisThread& operator=(const ThisThread&) noexcept = default;

  /// True if the thread holds the lock and has not lost it.
  [[nodiscard]] bool is_holding() const noexcept;
  /// How many times the thread has locked it and not yet unlocked it, lost or not (Redisson: getHoldCount).
  [[nodiscard]] std::int64_t hold_count() const noexcept;
  /// As Hold::is_lost; false if the thread has no hold.
  [[nodiscard]] bool is_lost() const noexcept;
  /// As Hold::lost_token; a token without state if the thread has no hold.
  [[nodiscard]] std::stop_token lost_token() const noexcept;
  /// As Hold::valid_for; zero if the thread has no hold.
  [[nodiscard]] std::chrono::milliseconds valid_for() const noexcept;
  /// As Hold::token; empty if the thread has no hold. Re-entry does not change it.
  [[nodiscard]] std::optional<std::int64_t> token() const noexcept;

  /// As BasicLock::unlock, but returns the outcome: `still_held` while levels remain (`was_lost` if the hold is lost by
  /// then), otherwise as BasicLock::unlock. Throws Error(not_owner) if the thread has no hold, Error(forked) in a child
  /// process.
  UnlockOutcome release() const;

 private:
  friend class BasicLock;
  explicit ThisThread(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}

  detail::PartsPtr parts_;
};

/// The result of Hold::detach(): the lock's owner, as text for an environment variable, a file or an argument. Anyone
/// who has the text can resume the hold (KeyLock::adopt) or end it, so protect it like the lock itself. It does not say
/// whether the hold is still valid: only the server knows. It names no server.
struct HOLDFAST_EXPORT Ticket {
  enum class Kind : std::uint8_t { lock, fenced, fair, simple, permit };
  Kind kind = Kind::lock;
  std::string name;                    ///< As the caller gave it, without Config::name_prefix.
  std::string owner;                   ///< As Hold::owner().
  std::optional<std::int64_t> token;   ///< As Hold::token().
  std::chrono::milliseconds lease{0};  ///< As set last: how long the lock stays taken after a renewal.

  /// One word of printable ASCII that needs no quoting in a shell, with a checksum.
  std::string text() const;
  /// Throws Error(invalid_argument) for anything that text() cannot have returned.
  static Ticket parse(std::string_view text);

  friend bool operator==(const Ticket&, const Ticket&) = default;
};
HOLDFAST_EXPORT const char* to_string(Ticket::Kind kind) noexcept;

}  // namespace holdfast
