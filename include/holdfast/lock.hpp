// A distributed, re-entrant lock, wire-compatible with Redisson's RLock.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>

#include <holdfast/hold.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/observer.hpp>

namespace holdfast {

namespace engine {
class Core;
class Site;
}  // namespace engine

/// How to acquire. Use designated initialisers: `lock.try_acquire({.wait = 2s, .stop = token})`.
struct AcquireOptions {
  /// Limit on waiting. Empty: `acquire` waits without limit, `try_acquire` asks once. Zero or less: ask once.
  /// More than ten years: no limit.
  std::optional<std::chrono::milliseconds> wait{};
  Lease lease{};
  /// A cap on the hold's age, counted from before the send, above 0 and up to 10 years: then it is lost
  /// (`LossReason::max_hold`) and not renewed any more. The key stays for the rest of its lease unless it is released.
  std::optional<std::chrono::milliseconds> max_hold{};
  /// Stops the wait: the call ends at once; an attempt under way is undone in the background. Example: 04_cancel.cpp.
  std::stop_token stop{};
  /// Called once when the hold is lost, on the client's notifier thread (see Observer).
  std::function<void(const LostEvent&)> on_lost{};
};

/// What the server says of a lock.
struct LockInfo {
  std::string name;
  std::string owner;                                     ///< Empty: free.
  std::optional<std::chrono::milliseconds> remaining{};  ///< Remaining time to live; empty: free, or no expiry.
  long long holds = 0;                                   ///< Redisson's hold count; Holdfast's own holds count 1.
};

/// A distributed lock. A cheap handle: copy it, share it between threads; all copies of one client and name are one
/// lock.
///
/// Two faces:
/// - `acquire` / `try_acquire` give a Hold; the *hold* is the owner. Not re-entrant: acquiring again waits for the
/// first.
/// - `lock` / `try_lock…` / `unlock` meet the standard's BasicLockable, Lockable and TimedLockable; the *thread* is the
///   owner, and may lock again (counted here, no round trip). Use them with std::scoped_lock and std::unique_lock.
///
/// Waiting is first-in-first-out inside a client; at most one waiter of a client asks the server. Woken by message, by
/// the end of the lease, by a reconnect, and by a rare, counted safety poll.
/// Wire cost: free lock 1 command to take, 1 to release; re-entry 0; a first contended wait 2 writes. Server: Redis
/// >= 6. Source: protocol sections 3.4 and 6.1. Redisson and Holdfast exclude each other on the same name.
class Lock {
 public:
  /// Waits for the lock. Throws Error: `timed_out` (only with `wait`), `cancelled`, `unreachable`, `unknown_outcome`,
  /// `tls`, `server_error`, `denied`, `wrong_type`, `read_only`, `out_of_memory`, `unsupported_by_server`,
  /// `invalid_argument`, `forked`, `closed`. A server that does not answer is borne for `Config::patience`, through
  /// reconnects and restarts.
  Hold acquire(const AcquireOptions& options = {});

  /// The same, but empty when somebody else has the lock (at once, or until `wait` is over) or when `stop` stopped it.
  /// Throws Error for everything else.
  std::optional<Hold> try_acquire(const AcquireOptions& options = {});

  /// The same without exceptions: on failure empty, and `ec` says why (`busy`, `timed_out`, `cancelled`, ...).
  std::optional<Hold> try_acquire(const AcquireOptions& options, std::error_code& ec);

  /// BasicLockable. Throws Error as `acquire`; also `lost` when this thread holds the lock but has lost it.
  void lock();
  /// Lockable: one attempt. False: somebody else has it. Throws Error for anything but that.
  bool try_lock();
  /// TimedLockable. Zero or less means one attempt.
  template <class Rep, class Period>
  bool try_lock_for(const std::chrono::duration<Rep, Period>& wait) {
    return try_lock_within(saturate(wait));
  }
  template <class Clock, class Duration>
  bool try_lock_until(const std::chrono::time_point<Clock, Duration>& time) {
    using Real = std::chrono::duration<double, std::milli>;  // does not overflow for time_point::max()
    return try_lock_within(saturate(Real(time.time_since_epoch()) - Real(Clock::now().time_since_epoch())));
  }
  /// Gives back one level of the calling thread's hold. Never throws, blocks at most `Config::release_timeout`; what it
  /// found goes to the observer. `release()` does the same and tells.
  void unlock() noexcept;

  /// `unlock` that tells the truth: `still_held` while levels remain (`was_lost` if it is lost by then), else as
  /// Hold::release. Throws Error(not_owner) if the calling thread does not hold the lock.
  ReleaseOutcome release();

  /// The calling thread's loss signal; a token without a state if it does not hold the lock.
  std::stop_token lost() const;
  /// As Hold::valid_for, for the calling thread's hold; zero if there is none.
  std::chrono::milliseconds valid_for() const;
  /// True if the calling thread holds the lock and has not lost it. Costs no round trip.
  bool is_mine() const;
  /// How many times the calling thread holds it (Redisson: getHoldCount). Costs no round trip.
  int hold_count() const;

  /// True if anybody holds the lock. 1 command. Throws Error.
  bool is_locked() const;
  /// True if this owner (as from Hold::owner) holds the lock now, asked from the server. 1 command. Throws Error.
  bool is_held_by(const std::string& owner) const;
  /// Remaining time to live as the server says; empty if free or without expiry. 1 command. Throws Error.
  std::optional<std::chrono::milliseconds> remaining() const;
  /// Who holds it, and for how long. 2 commands in 1 write. Throws Error.
  LockInfo info() const;
  /// Takes the lock away from whoever holds it and wakes a waiter. True if it was held. 1 command. The holder learns of
  /// it with its next renewal (with a fixed lease: at its deadline or release). A key of another type is left alone
  /// (`wrong_type`). Throws Error.
  bool force_release();

  /// The name as given to Client::lock.
  const std::string& name() const noexcept;

 private:
  friend class Client;
  Lock(std::shared_ptr<engine::Core> core, std::shared_ptr<engine::Site> site, AcquireOptions defaults);
  /// Rounded up to milliseconds; what does not fit becomes the largest value, which means "no limit".
  template <class Rep, class Period>
  static std::chrono::milliseconds saturate(const std::chrono::duration<Rep, Period>& wait) {
    using Real = std::chrono::duration<double, std::milli>;
    if (Real(wait).count() >= 9e18) return std::chrono::milliseconds::max();
    return std::chrono::ceil<std::chrono::milliseconds>(wait);
  }
  bool try_lock_within(std::chrono::milliseconds wait);
  /// Empty: this thread holds it now, one level deeper. Else why it was not granted; throws for every other failure.
  std::error_code enter(std::optional<std::chrono::milliseconds> wait);

  std::shared_ptr<engine::Core> core_;
  std::shared_ptr<engine::Site> site_;
  std::shared_ptr<const AcquireOptions> defaults_;
};

}  // namespace holdfast
