#include "engine/acquire/reported_wait.hpp"

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

WaitOutcome outcome_of(std::error_code error) {
  if (!error) return WaitOutcome::granted;
  if (error == Errc::timed_out) return WaitOutcome::timed_out;
  return error == Errc::cancelled ? WaitOutcome::cancelled : WaitOutcome::failed;
}

}  // namespace

void ReportedWait::begin(Target& target, const wire::Owner& waiter, const AcquireFsm& fsm) noexcept {
  if (fsm.asks_once() || has_begun()) return;
  since_ = base::Clock::now();
  Reporter& reporter = target.runtime().reporter();
  Reporter::add(reporter.count.waiting);
  reporter.waits.begin(place_, since_);
  target.begin_wait();
  reporter.tell(&Observer::on_waiting, [&] { return WaitingEvent{target.name(), waiter.text}; });
}

void ReportedWait::end(Target& target, const wire::Owner& waiter, std::error_code error) noexcept {
  if (!has_begun()) return;
  Reporter& reporter = target.runtime().reporter();
  Reporter::take(reporter.count.waiting);
  reporter.waits.end(place_);
  target.end_wait();
  reporter.tell(&Observer::on_wait_ended, [&] {
    const WaitOutcome outcome = outcome_of(error);
    return WaitEndedEvent{target.name(), waiter.text, outcome,
                          outcome == WaitOutcome::failed ? error.message() : std::string(),
                          base::Clock::now() - since_};
  });
}

}  // namespace holdfast::engine
