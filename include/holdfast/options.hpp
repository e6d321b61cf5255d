// How to acquire.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>

#include <holdfast/acks.hpp>
#include <holdfast/lease.hpp>
#include <holdfast/observer.hpp>

namespace holdfast {

/// Use designated initialisers: `lock.try_acquire({.wait = 2s, .stop = token})`. A member that is left out is empty:
/// then the lock's defaults apply (BasicLock::with); without any, it means what is said here.
struct AcquireOptions {
  /// Limit on waiting. Empty: `acquire` waits without limit, `try_acquire` tries once. Zero or less: try once. More
  /// than ten years: no limit. The call returns by then even if the server does not answer or there is no connection
  /// yet; an attempt that has just begun gets 50 ms. Trying once takes at most `Config::command_timeout`.
  std::optional<std::chrono::milliseconds> wait{};
  Lease lease{};
  /// A cap on the hold's age, counted from before the send, above 0 and up to 10 years: at that age it is lost
  /// (`LossReason::max_hold`) and no longer renewed. The key stays for the rest of its lease unless it is released.
  std::optional<std::chrono::milliseconds> max_hold{};
  /// The confirmations that the grant and each renewal need before they count. Empty: as Config::acks says. A grant
  /// without them within Config::acks_timeout is released, and the call fails with `durability_not_met`.
  std::optional<Acks> acks{};
  /// Stops the wait: the call ends at once; an attempt under way is undone in the background. Example: 04_cancel.cpp.
  std::stop_token stop{};
  /// Called once when the hold is lost, on the client's notifier thread or its io_context (see Observer).
  std::function<void(const LostEvent&)> on_lost{};
  /// For `lock()` and `try_lock…`, so only useful as a default: whether the thread that holds it may lock it again.
  /// Empty: depends on the kind of lock. False: as with std::mutex, but checked: `lock()` throws Error(would_deadlock)
  /// and `try_lock…` returns false, at once, whatever the wait. Nothing is sent either way. True for a kind that is not
  /// re-entrant throws Error(invalid_argument). Holds are never re-entrant.
  std::optional<bool> reentrant{};
  /// How many calls of this client may wait for this lock at a time. When that many wait, a call that would have to
  /// wait too fails at once with `crowded`; a call that finds the lock free gets it. 0: nobody waits. Empty: no limit.
  /// As a default of the lock (`client.lock(name, {.max_waiters = 8})`) it prevents a whole thread pool from blocking
  /// on one lock. See also Config::max_waiters.
  std::optional<std::size_t> max_waiters{};
};

}  // namespace holdfast
