// One granted acquisition inside the engine: its state machine, its loss signal, its place in the watchdog's schedule.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <boost/intrusive/set_hook.hpp>

#include <holdfast/observer.hpp>
#include <holdfast/outcome.hpp>

#include "base/guarded.hpp"
#include "base/small_mutex.hpp"
#include "engine/decide/hold_fsm.hpp"
#include "wire/lock_calls.hpp"

namespace holdfast::engine {

class Core;
class Target;

/// Thread-safe. The stop source is stopped outside the mutex, on the signals' thread or in the thread that asked.
/// There may be millions: no larger than it must be.
class HeldLock : public std::enable_shared_from_this<HeldLock> {
 public:
  using LostCallback = std::function<void(const LostEvent&)>;
  /// Told once: why it was lost, or nothing if it has ended otherwise.
  using EndCallback = std::function<void(std::optional<LossReason>)>;

  HeldLock(std::shared_ptr<Core> core, std::shared_ptr<Target> target, const wire::Owner& owner, TimePoint sent_at,
           const LeaseTerms& terms, const LostCallback& on_lost, TimePoint granted_at);
  ~HeldLock();
  HeldLock(const HeldLock&) = delete;
  HeldLock& operator=(const HeldLock&) = delete;

  wire::Owner owner() const;
  const std::string& name() const;
  const std::shared_ptr<Core>& core() const { return core_; }
  const std::shared_ptr<Target>& target() const { return target_; }
  /// Constant, as is endless().
  milliseconds lease() const HOLDFAST_NOT_GUARDED { return fsm_.lease(); }

  HoldState state();
  /// Zero once lost; a hold whose time is over becomes lost here, stop token included.
  Duration valid_for();
  /// Stopped already if the time is over, whether or not a thread of ours has had the time to see it.
  std::stop_token stop_token();
  /// Why it was lost, if it was; looks at the clock.
  std::optional<LossReason> loss_reason();
  /// It ends by a release or a fault only.
  bool endless() const HOLDFAST_NOT_GUARDED { return fsm_.endless(); }
  /// Still ours as far as known, without side effects: for the target, which must not run callbacks.
  bool stands() const;
  bool ended() const;
  /// Of the release; `unknown` as long as it is not known.
  ReleaseOutcome known_outcome() const;
  /// When the lease was set last: the send of the command that did.
  TimePoint extended_at() const;

  /// Gives it back and waits for the outcome, `release_timeout` at most. A guest's caller cannot wait: `unknown`,
  /// unless it was passed on.
  ReleaseOutcome release() noexcept;
  /// The end of a guard: as release(), or, if it is lost or the client is configured so, without waiting for the
  /// outcome.
  void unlock() noexcept;
  /// The end of a guard that must not wait.
  void unlock_without_waiting() noexcept;
  /// Keeps the lock for another caller of this client, if one waits. Counts as a release. From any thread.
  bool pass_on();
  /// Gives it back in the background. `done` is called once, on the loop; not if this throws: then it has ended all the
  /// same, and its lease ends it at the server.
  void release_async(std::function<void(ReleaseOutcome)> done);
  /// Nobody is going to use it: gives it back if that can be had, and in any case it is not renewed any more.
  void give_up() noexcept;

  /// Ends it if it certainly stands and is renewed, so that the lock can be passed on: when its lease was set last.
  std::optional<TimePoint> end_to_pass_on(TimePoint now);

  /// Called at the end of the hold, perhaps at once, or on any thread; must not block. Returns what unwatch() takes.
  std::uint64_t watch(EndCallback told);
  /// It may still be called once after this.
  void unwatch(std::uint64_t watching);
  void drop_watches();

  // For the watchdog, on the loop.
  HoldFsm::Todo on_time(TimePoint now, Duration early);
  void on_renewed(TimePoint sent_at, TimePoint now);
  void on_gone();
  void on_unanswered(TimePoint now, const std::string& cause);
  void on_reconnect(TimePoint now);
  void on_closed();
  TimePoint due() const;
  Duration lateness(TimePoint now) const;
  // The same, on the signals' thread. True: it has just been lost, and is to be announced without any mutex.
  bool expire(TimePoint now);
  void announce_expired() noexcept;

  // For the watchdog only, guarded by its mutex.
  using Hook = boost::intrusive::set_member_hook<>;
  Hook schedule_hook;
  TimePoint scheduled{};
  std::shared_ptr<HeldLock> armed;  // keeps it alive while it is in the schedule

 private:
  /// To be called without the mutex, after a change to `lost`.
  enum class StopIn { this_thread, signal_thread };
  void announce_loss(LossReason reason, StopIn where) noexcept;
  /// Guards give it back without waiting for the outcome, and with the next command.
  bool pipelined() const;
  /// What a release needs to know of the hold that it ends.
  struct Ending {
    TimePoint deadline{};
    TimePoint extended_at{};
    TimePoint give_up{};  // when the server has certainly let it expire
    bool stood = false;
  };
  /// What only few holds have. Made before they are lost, since then there may be no memory.
  class Watches;
  class StopSignal;
  /// To be called without the mutex, when it has ended.
  void tell_watches(std::optional<LossReason> lost) noexcept;
  /// Ends the hold. Empty if somebody else releases it, or has.
  std::optional<Ending> begin_release() noexcept;
  void end_unsent() noexcept;
  void send_release(const Ending& ending, std::function<void(ReleaseOutcome)> done);
  void report_released(ReleaseOutcome outcome);
  void request_stop() noexcept;
  void apply(HoldFsm::Change change, const std::string& cause = {});

  // Constant after construction.
  const std::shared_ptr<Core> core_;
  const std::shared_ptr<Target> target_;
  const std::uint64_t owner_number_;

  HoldFsm fsm_ HOLDFAST_GUARDED_BY(mutex_);
  std::unique_ptr<Watches> watches_ HOLDFAST_GUARDED_BY(mutex_);
  std::unique_ptr<StopSignal> stop_
      HOLDFAST_GUARDED_BY(mutex_);  // once somebody has asked for a token, and then to the end
  mutable base::SmallMutex mutex_;
  ReleaseOutcome outcome_ HOLDFAST_GUARDED_BY(mutex_) = ReleaseOutcome::unknown;  // of the release, once it is known
};

}  // namespace holdfast::engine
