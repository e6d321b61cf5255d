// The calling thread's hold of a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

#include <holdfast/detail/parts.hpp>
#include <holdfast/export.hpp>
#include <holdfast/outcome.hpp>

namespace holdfast {

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
  bool is_holding() const;
  /// How many times the thread has locked it and not yet unlocked it, lost or not (Redisson: getHoldCount).
  int hold_count() const;
  /// As Hold::is_lost; false if the thread has no hold.
  bool is_lost() const;
  /// As Hold::lost_token; a token without state if the thread has no hold.
  std::stop_token lost_token() const;
  /// As Hold::valid_for; zero if the thread has no hold.
  std::chrono::milliseconds valid_for() const;
  /// As Hold::token; empty if the thread has no hold. Re-entry does not change it.
  std::optional<std::int64_t> token() const;

  /// As BasicLock::unlock, but returns the outcome: `still_held` while levels remain (`was_lost` if the hold is lost by
  /// then), otherwise as Hold::release. Throws Error(not_owner) if the thread has no hold, Error(forked) in a child
  /// process.
  ReleaseOutcome release() const;

 private:
  friend class BasicLock;
  explicit ThisThread(detail::PartsPtr parts) noexcept : parts_(std::move(parts)) {}

  detail::PartsPtr parts_;
};

}  // namespace holdfast
