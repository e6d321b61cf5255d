// The wait of one acquire, for observers and counters.
#pragma once

#include <system_error>

#include "base/clock.hpp"
#include "engine/decide/acquire_fsm.hpp"
#include "engine/hold/target.hpp"
#include "engine/runtime/waits.hpp"

namespace holdfast::engine {

/// On the loop. Events are only made if there is an observer.
class ReportedWait {
 public:
  /// The wait begins. No effect if it has already begun, or if the acquire only asks once.
  void begin(Target& target, const wire::Owner& waiter, const AcquireFsm& fsm) noexcept;
  bool has_begun() const { return since_ != TimePoint{}; }
  /// It was woken by a signal.
  void woken(TimePoint now) {
    if (has_begun()) woken_ = now;
  }
  /// How long it has waited, and how long ago it was last woken; 0: never.
  Duration waiting(TimePoint now) const { return has_begun() ? now - since_ : Duration{}; }
  Duration since_woken(TimePoint now) const { return woken_ != TimePoint{} ? now - woken_ : Duration{}; }
  /// The acquire has ended. No effect if it has not waited.
  void end(Target& target, const wire::Owner& waiter, std::error_code error) noexcept;

 private:
  TimePoint since_{}, woken_{};
  Waits::Entry place_;
};

}  // namespace holdfast::engine
