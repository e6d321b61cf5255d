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

/// Use designated initialisers: `lock.try_acquire({.wait = 2s, .stop = token})`. A member that is left out is
/// empty: then the defaults of the lock decide (BasicLock::with), and without any it means what is said here.
struct AcquireOptions {
  /// Limit on waiting. Empty: `acquire` waits without limit, `try_acquire` asks once. Zero or less: ask once. More than
  /// ten years: no limit. The call returns by then even if the server does not answer or there is no connection yet; an
  /// attempt that has just begun has 50 ms. Asking once takes at most `Config::command_timeout`.
  std::optional<std::chrono::milliseconds> wait{};
  Lease lease{};
  /// A cap on the hold's age, counted from before the send, above 0 and up to 10 years: at that age it is lost
  /// (`LossReason::max_hold`) and no longer renewed. The key stays for the rest of its lease unless it is released.
  std::optional<std::chrono::milliseconds> max_hold{};
  /// Who must have the grant and each renewal before they count. Empty: as Config::acks says. A grant for which they do
  /// not come within Config::acks_timeout is given back, and the call fails with `durability_not_met`.
  std::optional<Acks> acks{};
  /// Stops the wait: the call ends at once; an attempt under way is undone in the background. Example: 04_cancel.cpp.
  std::stop_token stop{};
  /// Called once when the hold is lost, on the client's notifier thread or its io_context (see Observer).
  std::function<void(const LostEvent&)> on_lost{};
  /// Of `lock()` and its like, so only as a default: whether the thread that holds it may lock it again. Empty: as the
  /// kind of lock has it. False: it is as with std::mutex, but checked: `lock()` throws Error(would_deadlock) and
  /// `try_lock()` and its like are false, at once, whatever the wait. Nothing is sent either way. True where the kind
  /// is not re-entrant is refused with Error(invalid_argument). Holds are never re-entrant.
  std::optional<bool> reentrant{};
  /// How many calls of this client may wait for this lock at a time. A call that would have to wait when so many do is
  /// refused at once with `crowded`; one that finds the lock free is granted it. 0: nobody waits. Empty: as many as
  /// come. As a default of the lock (`client.lock(name, {.max_waiters = 8})`) it keeps a pool of threads from being
  /// parked on one lock. See also Config::max_waiters.
  std::optional<std::size_t> max_waiters{};
};

}  // namespace holdfast
