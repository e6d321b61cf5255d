// One granted acquisition inside the engine: its state machine, its loss signal, its place in the watchdog's schedule.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <type_traits>

#include <boost/intrusive/set_hook.hpp>

#include <holdfast/observer.hpp>
#include <holdfast/outcome.hpp>

#include "base/guarded.hpp"
#include "base/small_mutex.hpp"
#include "engine/decide/hold_fsm.hpp"
#include "engine/hold/loss_signal.hpp"
#include "wire/calls.hpp"

namespace holdfast::engine {

class Runtime;
class Target;

/// Thread-safe. The stop source is stopped outside the mutex, on the signals' thread or in the thread that asked.
/// There may be millions: no larger than it must be.
class Holding : public std::enable_shared_from_this<Holding> {
 public:
  /// `grant`: null, as for most kinds, if the server has said nothing but that it grants.
  Holding(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, const wire::Owner& owner, TimePoint sent_at,
          const LeaseTerms& terms, const LossSignal::LostCallback& on_lost, TimePoint granted_at,
          std::unique_ptr<const wire::Grant> grant = nullptr, std::uint32_t acked_era = 0);
  ~Holding();
  Holding(const Holding&) = delete;
  Holding& operator=(const Holding&) = delete;

  wire::Owner owner() const;
  /// The number that the server has given to this acquisition, if the kind has such.
  std::optional<std::int64_t> token() const { return grant_ ? grant_->token : std::nullopt; }
  const std::string& name() const;
  /// Keeps the client alive.
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  const std::shared_ptr<Target>& target() const { return target_; }
  /// Constant, as are acks() and endless().
  milliseconds lease() const HOLDFAST_NOT_GUARDED { return fsm_.lease(); }
  Acks acks() const HOLDFAST_NOT_GUARDED { return fsm_.acks(); }

  HoldState state();
  /// Zero once lost; a hold whose time is over becomes lost here, stop token included.
  Duration valid_for();
  Duration durable_for();  ///< The same, even if the primary fails now.
  /// Stopped already if the time is over, whether or not a thread of ours has had the time to see it.
  std::stop_token stop_token();
  /// Why it was lost, if it was; looks at the clock.
  std::optional<LossReason> loss_reason();
  /// It ends by a release or a fault only.
  bool endless() const HOLDFAST_NOT_GUARDED { return fsm_.endless(); }
  /// Still ours as far as known, without side effects: for the target, which must not run callbacks.
  bool stands() const { return ask(&HoldFsm::valid_for, base::Clock::now()) > Duration{}; }
  TimePoint granted_at() const { return ask(&HoldFsm::granted_at); }
  bool ended() const { return ask(&HoldFsm::ended); }
  /// Of the release; `unknown` as long as it is not known.
  ReleaseOutcome known_outcome() const;
  /// When the lease was set last: the send of the command that did.
  TimePoint extended_at() const { return ask(&HoldFsm::last_extension); }

  // For hold_release.cpp, which decides how it is given back.
  /// What a release needs to know of the hold that it ends.
  struct Ending {
    TimePoint deadline{};
    TimePoint extended_at{};
    TimePoint give_up{};  // when the server has certainly let it expire
    bool stood = false;
  };
  /// Ends it: nobody renews it any more. Empty if somebody else releases it, or has.
  std::optional<Ending> begin_release() noexcept;
  /// What the release has found.
  void set_outcome(ReleaseOutcome outcome);
  /// Tells those who watch that it has ended, and why it was lost if it was. To be called without the mutex.
  void tell_end(std::optional<LossReason> lost) noexcept;

  /// For the target: ends it if it certainly stands and is renewed, so that the lock can be passed on. What is known.
  std::optional<HoldFsm> end_to_pass_on(TimePoint now);

  /// Called at the end of the hold, perhaps at once, or on any thread; must not block. Returns what unwatch() takes.
  std::uint64_t watch(LossSignal::EndCallback on_end);
  void unwatch(std::uint64_t watching);  ///< It may still be called once after this.
  void drop_watches();

  // For the watchdog, on the loop.
  HoldFsm::Todo on_time(TimePoint now, Duration early);
  void on_renewed(TimePoint sent_at, TimePoint now, std::uint32_t acked_era);
  void on_gone();
  void on_unanswered(TimePoint now, const std::string& cause);
  void on_reconnect(TimePoint now) { let(&HoldFsm::on_reconnect, now); }
  void on_moved(TimePoint now);
  void on_closed();
  /// See HoldFsm. From any thread; after `true` the watchdog is to look at it.
  bool on_doubt(TimePoint now) { return let(&HoldFsm::on_doubt, now); }
  bool begin_watch(TimePoint now, Duration early) { return let(&HoldFsm::begin_watch, now, early); }
  TimePoint due() const { return ask(&HoldFsm::due); }
  Duration lateness(TimePoint now) const { return ask(&HoldFsm::lateness, now); }
  // The same, on the signals' thread. True: it has just been lost, and is to be announced without any mutex.
  bool expire(TimePoint now);
  void announce_expired() noexcept;

  // For the watchdog only, guarded by its mutex.
  using Hook = boost::intrusive::set_member_hook<>;
  Hook schedule_hook;
  TimePoint scheduled{};
  std::shared_ptr<Holding> armed;  // keeps it alive while it is in the schedule

 private:
  /// To be called without the mutex, after a change to `lost`.
  enum class StopIn { this_thread, signal_thread };
  void announce_loss(LossReason reason, StopIn where) noexcept;
  void request_stop() noexcept;
  template <class Result, class... Args>
  Result ask(Result (HoldFsm::*question)(Args...) const, std::type_identity_t<Args>... args) const {
    const base::Guard guard(mutex_);
    return (fsm_.*question)(args...);
  }
  /// What nobody need be told of.
  template <class Result, class... Args>
  Result let(Result (HoldFsm::*event)(Args...), std::type_identity_t<Args>... args) {
    const base::Guard guard(mutex_);
    return (fsm_.*event)(args...);
  }
  template <class... Args>
  void change(const std::string& cause, HoldFsm::Change (HoldFsm::*decide)(Args...),
              std::type_identity_t<Args>... args);

  // Constant after construction.
  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Target> target_;
  const std::uint64_t owner_number_;
  const std::unique_ptr<const wire::Grant> grant_;

  HoldFsm fsm_ HOLDFAST_GUARDED_BY(mutex_);
  LossSignal signal_ HOLDFAST_GUARDED_BY(mutex_);
  mutable base::SmallMutex mutex_;
  ReleaseOutcome outcome_ HOLDFAST_GUARDED_BY(mutex_) = ReleaseOutcome::unknown;  // of the release, once it is known
};

}  // namespace holdfast::engine
