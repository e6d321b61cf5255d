// One granted acquisition inside the engine: its state machine, its loss signal, its place in the watchdog's schedule.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <boost/intrusive/set_hook.hpp>

#include <holdfast/hold.hpp>
#include <holdfast/observer.hpp>

#include "engine/hold_fsm.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::engine {

class Core;
class Target;

/// Thread-safe. The stop source is stopped outside the mutex, on the signals' thread or in the thread that asked.
class HeldLock : public std::enable_shared_from_this<HeldLock> {
 public:
  using LostCallback = std::function<void(const LostEvent&)>;

  HeldLock(std::shared_ptr<Core> core, std::shared_ptr<Target> target, wire::Owner owner, TimePoint sent_at,
           LeaseTerms terms, LostCallback on_lost, TimePoint granted_at);

  const wire::Owner& owner() const { return owner_; }
  const std::string& name() const;
  const std::shared_ptr<Target>& target() const { return target_; }
  const LeaseTerms& terms() const { return terms_; }

  HoldState state();
  /// Zero once lost; a hold whose time is over becomes lost here, stop token included.
  Duration valid_for();
  /// Stopped already if the time is over, whether or not a thread of ours has had the time to see it.
  std::stop_token stop_token();
  /// Still ours as far as known, without side effects: for the target, which must not run callbacks.
  bool stands() const;
  bool ended() const;

  /// Gives it back and waits for the outcome, `release_timeout` at most.
  ReleaseOutcome release() noexcept;
  /// The end of a guard: as release(), or, if the client is configured so, without waiting for the outcome.
  void unlock() noexcept;
  /// Gives it back in the background. `done` is called once, on the loop.
  void release_async(std::function<void(ReleaseOutcome)> done);

  /// Ends it if it certainly stands and is renewed, so that the lock can be passed on: when its lease was set last.
  std::optional<TimePoint> end_to_pass_on(TimePoint now);
  /// What is left to do after that. Counts as a release.
  void on_passed_on();

  // For the watchdog, on the loop.
  HoldFsm::Todo on_time(TimePoint now, Duration early);
  void on_renewed(TimePoint sent_at, TimePoint now);
  void on_gone();
  void on_unanswered(TimePoint now, const std::string& cause);
  void on_reconnect(TimePoint now);
  void on_closed();
  TimePoint due() const;
  Duration lateness(TimePoint now) const;

  // For the watchdog only, guarded by its mutex.
  boost::intrusive::set_member_hook<> schedule_hook;
  TimePoint scheduled{};
  std::shared_ptr<HeldLock> armed;  // keeps it alive while it is in the schedule

 private:
  /// To be called without the mutex, after a change to `lost`.
  enum class StopIn { this_thread, signal_thread };
  void announce_loss(LossReason reason, StopIn where);
  void release_lazily() noexcept;
  void report_released(ReleaseOutcome outcome);
  void apply(HoldFsm::Change change, const std::string& cause = {});

  // Constant after construction.
  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Target> target_;
  const wire::Owner owner_;
  const LeaseTerms terms_;
  const LostCallback on_lost_;

  mutable std::mutex mutex_;
  HoldFsm fsm_;                            // guarded by mutex_
  std::optional<ReleaseOutcome> outcome_;  // guarded by mutex_; of the release, once it is known
  std::stop_source stop_;                  // own synchronisation
};

}  // namespace holdfast::engine
