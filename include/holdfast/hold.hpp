// One granted acquisition: the object that is the owner, and that can be lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <holdfast/export.hpp>
#include <holdfast/outcome.hpp>

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
/// `Config::release_timeout`; not at all if the hold is lost. A Hold keeps the parts of the client that it needs alive;
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
  std::chrono::milliseconds valid_for() const noexcept;

  /// How long the lock is certainly still ours even if the primary fails now: as `valid_for()`, if the latest grant or
  /// renewal has the required acks (AcquireOptions::acks), from the primary that serves it now. Zero
  /// without acks, and after a failover until the new primary's replicas have confirmed. Costs no round trip.
  std::chrono::milliseconds durable_for() const noexcept;

  /// True once the hold is lost, as far as is known here: whatever it protects may be somebody else's by now. Checks
  /// the clock, as `valid_for()` does. It stays true after `release()`, and is also true if only the release discovered
  /// the loss. False for an empty hold. Costs no round trip.
  bool is_lost() const noexcept { return loss_reason().has_value(); }
  /// Stops when the local deadline passes, and thus before the server can give the lock to somebody else, or when the
  /// server reports that it is gone. The call itself checks the clock: after the deadline it returns a token that has
  /// already stopped, even right after the process was frozen. A token taken earlier is stopped by a thread of the
  /// client as soon as that thread is scheduled; later only if another stop callback blocks, or after the machine was
  /// suspended (by up to a health check). `valid_for()` is never late. Example: 03_loss.cpp. Callbacks registered on it
  /// run on a thread of the client, or on the thread that saw `valid_for()` reach zero. An empty
  /// hold returns a token without state. Does not stop in a forked child.
  std::stop_token lost_token() const noexcept;

  /// Checks the clock, as `valid_for()` does.
  HoldState state() const noexcept;
  /// Why it was lost; empty if it was not, as far as is known here. Checks the clock, as `valid_for()` does, so
  /// whenever that is zero because of a loss there is a reason. It stays after `release()`, and is also set if only the
  /// release discovered the loss (`was_lost`): `taken`, or `expired` or `max_hold` if answered after the deadline.
  std::optional<LossReason> loss_reason() const noexcept;
  /// Throws Error(lost) if `valid_for()` is zero, and Error(not_owner) for an empty hold: call it right before any step
  /// that must not overlap. Costs no round trip.
  void throw_if_lost() const;
  /// The owner as on the wire, `<client uuid>:<number>`; empty for an empty hold.
  std::string owner() const;
  /// The token of this grant, larger than that of every grant before it: for a store that rejects lower ones (see
  /// FencedLock). It stays, lost or not, until the hold is released. Empty for an empty hold and for kinds of locks
  /// without tokens. Costs no round trip.
  std::optional<std::int64_t> token() const noexcept;
  /// The lock's name as the caller gave it.
  std::string name() const;

  /// Releases the lock and returns the outcome. Idempotent: a second call returns the first outcome; an empty hold
  /// returns `was_lost`; after Client::close() it returns the outcome of the release made then (`unknown` if not
  /// confirmed). Blocks for at most `Config::release_timeout`, then returns `unknown` and continues in the background
  /// until the lease ends. Ignores any stop token. Wire cost: 1 command. Never throws; in a forked child it returns
  /// `was_lost`.
  ReleaseOutcome release() noexcept;

  /// Ends the hold, but the lock stays taken for `rest` from now on and then becomes free without a message: for work
  /// that must not be repeated too soon. Zero or less is release(). If the lease is at least as long, it stays taken
  /// even if this process is killed or nothing can be sent. Returns `left`, `was_lost` (the server says so and changes
  /// nothing) or `unknown`: tried once, within `Config::release_timeout`; the lease is unchanged unless only the answer
  /// was lost. If other readers of this client share the hold, it is `left` without a command, and stays taken until
  /// the last of them has ended it, and for `rest` from now on at least. On a client made by client_on() it cannot
  /// wait: `unknown`. Wire cost: 1 command. Never throws; in a forked child it does nothing and returns `was_lost`.
  ReleaseOutcome leave(std::chrono::milliseconds rest) noexcept;

  /// Sets a fixed lease again: it ends that long from now, later or earlier than before. `valid_for()` shows the
  /// result. Throws Error(lost) if the server says that the lock is no longer ours, or the old lease ended first;
  /// Error(unknown_outcome) without an answer within `Config::command_timeout`: then the hold is valid until the
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
  ReleaseOutcome outcome_ = ReleaseOutcome::was_lost;
  std::optional<LossReason> loss_;  // once released
  bool waits_ = true;
};

}  // namespace holdfast
