// One granted acquisition: the object that is the owner, and that can be lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include <holdfast/export.hpp>

namespace holdfast {

namespace engine {
class HeldLock;
}
namespace async {
struct DefaultToken;  // of async.hpp
}

/// What a release found out. Source: protocol section 6.1, transition 2.
enum class ReleaseOutcome : std::uint8_t {
  released,    ///< The server confirms: it was ours up to now, without a gap, and is free. Also for a hold that was
               ///< given up as lost but that the server still had.
  still_held,  ///< One level of a re-entrant hold was given back; the thread still holds the lock.
  was_lost,    ///< It was not ours any more. Work done under it may have overlapped with somebody else's.
  unknown,     ///< No answer in time. The release goes on in the background; the lease bounds how long it can matter.
};
HOLDFAST_EXPORT const char* to_string(ReleaseOutcome outcome) noexcept;

/// The states of a hold. held -> suspect (a renewal failed; back to held when one works) -> lost; released is final
/// too.
enum class HoldState : std::uint8_t { held, suspect, lost, released };
HOLDFAST_EXPORT const char* to_string(HoldState state) noexcept;

/// One granted acquisition of a lock. Move-only; the hold is the owner, so it may be moved to and released by any
/// thread.
///
/// Threads: distinct holds are independent; one Hold object is used by one thread at a time, but `lost()`'s token may
/// be watched from anywhere. Destruction releases, never throws, and blocks at most `Config::release_timeout`. A Hold
/// keeps what it needs of the client alive; once the client is closed it is lost (`LossReason::closed`). fork(): the
/// hold belongs to the parent; in the child every query says "lost" and destruction does nothing.
class [[nodiscard]] HOLDFAST_EXPORT Hold {
 public:
  Hold() noexcept = default;
  explicit Hold(std::shared_ptr<engine::HeldLock> held) noexcept;
  Hold(Hold&& other) noexcept = default;
  Hold& operator=(Hold&& other) noexcept;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold();

  /// True until released or moved from. It does not say that the lock is still ours: `valid_for()` does.
  explicit operator bool() const noexcept { return held_ != nullptr; }

  /// How long the lock is certainly still ours: the lease counted from before it was last extended, less a margin of
  /// 1 % + 2 ms; zero once lost, released, or in a forked child. Where it is zero because the hold was lost,
  /// `lost().stop_requested()` is already true. Whole milliseconds, rounded down. Costs no round trip.
  std::chrono::milliseconds valid_for() const noexcept;

  /// Stops when the local deadline passes, so before the server can give the lock to somebody else, or when the server
  /// says that it is gone. The call itself looks at the clock: a token that it returns after the deadline has stopped,
  /// also in the first step after the process was frozen. A token that was taken earlier is stopped by a thread of the
  /// client's: right after it runs again, later only if another stop callback blocks, or after the machine was
  /// suspended (by up to a health check). `valid_for()` is never late. Example: 03_loss.cpp. Callbacks registered on it
  /// run on a thread of the client's, or in the thread that saw `valid_for()` reach zero. Without a state for an empty
  /// hold; does not stop in a forked child.
  std::stop_token lost() const noexcept;

  /// Looks at the clock, as `valid_for()` does.
  HoldState state() const noexcept;
  /// Throws Error(lost) where `valid_for()` is zero, and Error(not_owner) for an empty hold: for the line before what
  /// must not overlap. Costs no round trip.
  void throw_if_lost() const;
  /// The owner as on the wire, `<client uuid>:<number>`; empty for an empty hold.
  std::string owner() const;
  /// The lock's name as the caller gave it.
  std::string name() const;

  /// Gives the lock back and says what was found. Idempotent: a second call returns the first outcome;
  /// an empty hold says `was_lost`, after Client::close() it is that release's outcome (`unknown` if not confirmed).
  /// Blocks at most `Config::release_timeout`, then returns `unknown` and goes on in the background until the lease's
  /// end. Ignores any stop token. Wire cost: 1 command. Never throws; in a forked child it returns `was_lost`.
  ReleaseOutcome release() noexcept;

  /// As release(), without blocking: see async.hpp, which defines it. Hands on `(ReleaseOutcome)`: it cannot fail. The
  /// hold moves into the operation and is empty from here on. Cancelled, it completes with `unknown` and goes on in the
  /// background.
  template <class Token = async::DefaultToken>
  auto async_release(Token&& token = Token());
  /// Completes when the hold is lost, as soon as `lost()` stops: `(Failure, LossReason)`. Fails with `cancelled` when
  /// it is cancelled, or when the hold is released first; with `not_owner` for an empty hold. Defined by async.hpp.
  template <class Token = async::DefaultToken>
  auto async_wait_lost(Token&& token = Token()) const;

  // For the library: the end of this hold does not wait for the server; what is inside, to look at and to take.
  void do_not_wait() noexcept { waits_ = false; }
  const std::shared_ptr<engine::HeldLock>& held() const noexcept { return held_; }
  std::shared_ptr<engine::HeldLock> take() noexcept { return std::move(held_); }

 private:
  void end() noexcept;

  std::shared_ptr<engine::HeldLock> held_;
  ReleaseOutcome outcome_ = ReleaseOutcome::was_lost;
  bool waits_ = true;
};

}  // namespace holdfast
