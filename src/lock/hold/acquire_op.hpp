// SPDX-License-Identifier: Apache-2.0
// One pending acquire: carries out the decisions of AcquireFsm, on the client's loop.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "lock/decide/acquire_fsm.hpp"
#include "lock/decide/attempt.hpp"
#include "lock/hold/acquire.hpp"
#include "lock/queue/queue.hpp"
#include "lock/queue/target.hpp"
#include "lock/runtime/pending.hpp"
#include "lock/runtime/reporter.hpp"
#include "lock/runtime/runtime.hpp"
#include "loop/alarm.hpp"
#include "loop/loop.hpp"

namespace holdfast::engine {

class AcquireOp;

/// Brings the reply to an attempt to the loop of the caller that asked. If it is destroyed without having been called,
/// the asker is notified of that. It is moved, not copied; a copy, which std::function requires to be possible, has no
/// duty to answer.
class AttemptReply {
 public:
  AttemptReply(std::shared_ptr<AcquireOp> asker, Pending::Token pending)
      : asker_(std::move(asker)), pending_(std::move(pending)) {}
  AttemptReply(const AttemptReply& other) : asker_(other.asker_), pending_(other.pending_), due_(false) {}
  AttemptReply(AttemptReply&& other) noexcept
      : asker_(std::move(other.asker_)), pending_(std::move(other.pending_)), due_(std::exchange(other.due_, false)) {}
  AttemptReply& operator=(const AttemptReply&) = delete;
  ~AttemptReply();

  void operator()(Attempt reply);

 private:
  void deliver(Attempt reply);

  std::shared_ptr<AcquireOp> asker_;
  Pending::Token pending_;
  bool due_ = true;
};

/// The wait of one acquire, for observers and counters. On the loop. Events are only made if there is an observer.
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

/// Keeps itself alive from its first `run` until it is finished. Signals cause further runs, which allocate nothing. If
/// memory runs out it fails, and a grant is given back. `post` from any thread; the rest on the loop.
class AcquireOp : public Waiter, public Loop::Task, public std::enable_shared_from_this<AcquireOp> {
 public:
  AcquireOp(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, AcquireOptions options, LeaseTerms lease,
            DefaultWait default_wait, const wire::Ask& ask = {});

  void run() final;
  void broken() noexcept final;
  void post(Signal signal) noexcept final { signal_arrived(1U << static_cast<unsigned>(signal)); }
  void drop() final;
  /// Ends it as the stop token in the options does. From any thread.
  void stop() noexcept { signal_arrived(kStopped); }

 protected:
  /// Called once, on the loop.
  virtual void done(Acquired result) = 0;
  /// It begins to wait for another holder's release, so the result may take long. On the loop.
  virtual void waits() noexcept {}
  const std::shared_ptr<Runtime>& runtime() const { return runtime_; }
  const std::shared_ptr<Target>& target() const { return target_; }
  const AcquireOptions& options() const { return options_; }
  /// The result, if it is known at once. In the calling thread, instead of run().
  std::optional<Acquired> at_once() const { return acquire_at_once(runtime_, target_, options_, lease_, owner_.ask); }

 private:
  enum class State { starting, in_queue, asking, waiting, pausing, finished };
  static constexpr unsigned kStopped = 1U << 8;
  static constexpr unsigned kUnanswered = 1U << 9;  // the attempt's reply was lost on its way through this process

  struct OnStop {
    std::weak_ptr<AcquireOp> op;
    void operator()() const noexcept {
      if (const auto self = op.lock()) self->signal_arrived(kStopped);
    }
  };

  void ask_holder();
  void start();
  void signal_arrived(unsigned signal) noexcept;
  void on_signals();
  TargetView view() const;
  void look_again(unsigned signals);
  void act(AcquireAction action);
  bool join();
  bool begin_wait();
  void attempt(const AcquireAction& action);
  friend class AttemptReply;
  Loop& loop() const { return runtime_->loop(); }
  /// On the loop.
  void on_attempt(Attempt reply) noexcept;
  /// The reply was lost on its way through this process. From any thread.
  void on_unanswered() noexcept { signal_arrived(kUnanswered); }
  void judge(Attempt& reply);
  milliseconds undone_for() const;
  void sleep_until(TimePoint until);
  void on_alarm() noexcept;
  void finish(AcquireAction action) noexcept;

  const std::shared_ptr<Runtime> runtime_;
  const std::shared_ptr<Target> target_;
  const AcquireOptions options_;
  const LeaseTerms lease_;
  const wire::Owner owner_;
  const TimePoint started_;
  AcquireFsm fsm_;

  const std::unique_ptr<Explanation> explanation_;  // null: none is needed

  ReportedWait wait_;
  State state_ = State::starting;
  std::atomic<unsigned> signals_{0};
  unsigned missed_ = 0;                // signals since the pending attempt was sent
  std::atomic<bool> scheduled_{true};  // on_signals will run; `start` counts as such
  bool asked_ = false;                 // asked as a waiter, without a grant: the server may have the owner in its queue
  bool under_way_ = false;             // an attempt's reply is still to come, even after the end
  timing::Alarm alarm_;
  TimePoint sleeps_until_ = TimePoint::max();
  std::shared_ptr<Claim> held_;
  Target::Use use_;  // the listeners on the wake channels
  std::shared_ptr<AcquireOp> self_;
  std::optional<std::stop_callback<OnStop>> on_stop_;
};

}  // namespace holdfast::engine
