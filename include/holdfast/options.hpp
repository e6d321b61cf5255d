// SPDX-License-Identifier: Apache-2.0
// How to acquire: how long a hold lasts, whose confirmations it needs, how long to wait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include <holdfast/detail/standard.hpp>
#include <holdfast/observer.hpp>

namespace holdfast {

/// Redis confirms a write before its replicas have it, so a failover can forget a lock that was granted. With acks, a
/// grant or a renewal counts only once that many replicas have confirmed it. A plain value.
class Acks {
 public:
  enum class Level : std::uint8_t {
    none,      ///< The primary's reply is enough.
    replicas,  ///< A number of replicas.
    majority,  ///< More than half of the primary and its replicas, the primary included.
    all,       ///< Every replica that could be elected: all that the Sentinels know, or that were ever seen connected.
    aof,       ///< The primary has it in its append-only file, on disk (WAITAOF: Redis 7.2 or later).
  };

  constexpr Acks() = default;
  static constexpr Acks none() { return {}; }
  /// 0 is the same as none().
  static constexpr Acks replicas(std::uint8_t number) { return {number > 0 ? Level::replicas : Level::none, number}; }
  static constexpr Acks majority() { return {Level::majority, 0}; }
  static constexpr Acks all() { return {Level::all, 0}; }
  static constexpr Acks aof() { return {Level::aof, 0}; }

  constexpr Level level() const { return level_; }
  /// How many replicas are required; 0 unless the level is `replicas`.
  constexpr std::uint8_t number() const { return number_; }
  constexpr bool wanted() const { return level_ != Level::none; }
  friend constexpr bool operator==(const Acks&, const Acks&) = default;

 private:
  constexpr Acks(Level level, std::uint8_t number) : level_(level), number_(number) {}

  Level level_ = Level::none;
  std::uint8_t number_ = 0;
};

/// How long the server keeps a hold that is not renewed. A value; compare, copy, pass freely.
///
/// *Renewed* (the default): the watchdog extends it every third of its length for as long as the hold lives. If the
/// process dies, the lock is free within one lease. *Fixed*: never extended; the hold ends with the lease.
/// Lengths of 10 ms to 10 years are accepted; others fail with `Errc::invalid_argument` when acquiring, before anything
/// is sent. Source: docs/guarantees.md sections 2 and 3; Redisson calls these "no lease time" and "lease time".
class Lease {
 public:
  enum class Kind : std::uint8_t { renewed, fixed };

  /// As renewed().
  constexpr Lease() = default;
  /// An empty length means that of the client's Config (30 s unless changed).
  constexpr Lease(Kind kind, std::optional<std::chrono::milliseconds> length)
      : length_(length.value_or(std::chrono::milliseconds{})), kind_(kind), own_length_(length.has_value()) {}

  constexpr Kind kind() const { return kind_; }
  /// The requested length; empty means "the client's".
  constexpr std::optional<std::chrono::milliseconds> length() const {
    return own_length_ ? std::optional(length_) : std::nullopt;
  }

  friend constexpr bool operator==(const Lease&, const Lease&) = default;

 private:
  std::chrono::milliseconds length_{};
  Kind kind_ = Kind::renewed;
  bool own_length_ = false;
};

/// A lease of the client's length that the watchdog renews.
constexpr Lease renewed() { return {Lease::Kind::renewed, std::nullopt}; }
/// A lease of this length that the watchdog renews every third of it.
constexpr Lease renewed(std::chrono::milliseconds length) { return {Lease::Kind::renewed, length}; }
/// A lease of this length that nobody renews.
constexpr Lease fixed(std::chrono::milliseconds length) { return {Lease::Kind::fixed, length}; }

/// Use designated initialisers: `lock.try_acquire({.wait = 2s, .stop = token})`. A member that is left out is empty:
/// then the lock's defaults apply (LockOptions); without any, it means what is said here.
struct AcquireOptions {
  /// Limit on waiting. Empty: `acquire` waits without limit, `try_acquire` tries once. Zero or less: try once. More
  /// than ten years: no limit. The call returns by then even if the server does not answer or there is no connection
  /// yet; an attempt that has just begun gets 50 ms. Trying once takes at most `Timing::command_timeout`. While the
  /// server is in trouble, a wait goes on for `Timing::patience`; a server that was never reached ends it at once,
  /// unless Config::wait_for_server is set.
  std::optional<std::chrono::milliseconds> wait{};
  /// Empty: one of the client's length that is renewed.
  std::optional<Lease> lease{};
  /// A cap on the hold's age, counted from before the send, above 0 and up to 10 years: at that age it is lost
  /// (`LossReason::max_hold`) and no longer renewed. The key stays for the rest of its lease unless it is released.
  std::optional<std::chrono::milliseconds> max_hold{};
  /// The confirmations that the grant and each renewal need before they count. Empty: as Config::acks says. A grant
  /// without them within Timing::acks_timeout is released, and the call fails with `durability_not_met`.
  std::optional<Acks> acks{};
  /// Stops the wait: the call ends at once; an attempt under way is undone in the background. Example: 04_cancel.cpp.
  std::stop_token stop{};
  /// Called once when the hold is lost, on the client's notifier thread or its io_context (see Observer).
  std::function<void(const LostEvent&)> on_lost{};
  /// How many calls of this client may wait for this lock at a time. When that many wait, a call that would have to
  /// wait too fails at once with `crowded`; a call that finds the lock free gets it. 0: nobody waits. Empty: no limit.
  /// As a default of the lock (`client.lock(name, {.max_waiters = 8})`) it prevents a whole thread pool from blocking
  /// on one lock. See also Config::max_waiters.
  std::optional<std::size_t> max_waiters{};
  /// Whether the end of the Hold (its destructor, and assignment to it) waits for the server's answer, for at most
  /// `Timing::release_timeout`. Empty: it does, unless the hold was acquired without blocking or
  /// `Config::pipelined_release` is set.
  std::optional<bool> end_waits{};
};

/// The options of a lock's handle: defaults for its calls, and what belongs to the handle itself.
struct LockOptions {
  std::optional<std::chrono::milliseconds> wait{};      ///< As in AcquireOptions, as all but `reentrant`.
  std::optional<Lease> lease{};                         ///< See there.
  std::optional<std::chrono::milliseconds> max_hold{};  ///< See there.
  std::optional<Acks> acks{};                           ///< See there.
  std::stop_token stop{};                               ///< See there.
  std::function<void(const LostEvent&)> on_lost{};      ///< See there.
  /// For `lock()` and `try_lock…`: whether the thread that holds it may lock it again. Empty: depends on the kind of
  /// lock. False: as with std::mutex, but checked: `lock()` throws Error(would_deadlock) and `try_lock…` returns false,
  /// at once, whatever the wait. Nothing is sent either way. True for a kind that is not re-entrant throws
  /// Error(invalid_argument). Holds are never re-entrant.
  std::optional<bool> reentrant{};
  std::optional<std::size_t> max_waiters{};  ///< See there.
  std::optional<bool> end_waits{};           ///< See there.
};

/// How to resume a hold that was detached: KeyLock::adopt.
struct AdoptOptions {
  std::optional<Lease> lease{};                         ///< Empty: renewed, with the ticket's length.
  std::optional<std::chrono::milliseconds> max_hold{};  ///< As in AcquireOptions.
  std::optional<Acks> acks{};                           ///< As in AcquireOptions.
  std::function<void(const LostEvent&)> on_lost{};      ///< As in AcquireOptions.
};

}  // namespace holdfast
