// The wait of one acquire, as observers and counters have it.
#pragma once

#include <system_error>

#include "base/clock.hpp"
#include "engine/decide/acquire_fsm.hpp"
#include "engine/hold/target.hpp"
#include "engine/runtime/waits.hpp"

namespace holdfast::engine {

/// On the loop. Events are made only if somebody observes.
class ReportedWait {
 public:
  /// It has to wait. Nothing if that is known, or if it only asks once.
  void begin(Target& target, const wire::Owner& waiter, const AcquireFsm& fsm) noexcept;
  bool has_begun() const { return since_ != TimePoint{}; }
  /// The acquire is over. Nothing if it has not waited.
  void end(Target& target, const wire::Owner& waiter, std::error_code error) noexcept;

 private:
  TimePoint since_{};
  Waits::Place place_;
};

}  // namespace holdfast::engine
