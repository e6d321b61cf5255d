// How a hold ends by its holder's hand: passed on inside the client, released, or left to its lease.
#include "engine/client/core.hpp"
#include "engine/hold/held_lock.hpp"
#include "engine/hold/target.hpp"

namespace holdfast::engine {

std::optional<TimePoint> HeldLock::end_to_pass_on(TimePoint now) {
  const base::Guard guard(mutex_);
  if (!fsm_.renewed() || fsm_.state() != HoldState::held || fsm_.valid_for(now) < Duration(lease()) / 2) return {};
  fsm_.begin_release();
  outcome_ = ReleaseOutcome::released;
  return fsm_.last_extension();
}

bool HeldLock::pass_on() {
  if (!target_->keep(*core_, *this)) return false;
  tell_watches({});
  core_->watchdog().disarm(*this);
  report_released(ReleaseOutcome::released);
  return true;
}

void HeldLock::report_released(ReleaseOutcome outcome) {
  Reporter& reporter = core_->reporter();
  if (outcome == ReleaseOutcome::released) Reporter::add(reporter.count.released);
  reporter.tell(&Observer::on_released, [&] {
    TimePoint granted_at{};
    {
      const base::Guard guard(mutex_);
      granted_at = fsm_.granted_at();
    }
    return ReleasedEvent{target_->name(), owner().text, to_string(outcome), base::Clock::now() - granted_at};
  });
}

std::optional<HeldLock::Ending> HeldLock::begin_release() noexcept {
  Ending ending;
  LossReason reason{};
  bool found_lost = false;
  {
    const base::Guard guard(mutex_);
    const TimePoint now = base::Clock::now();
    const bool ended = fsm_.ended();
    if (!ended) found_lost = fsm_.on_time(now) == HoldFsm::Todo::lost;
    if (!fsm_.begin_release()) return std::nullopt;
    ending = {fsm_.deadline(), fsm_.last_extension(), now + lease() + margin(lease()), !ended && !found_lost};
    reason = fsm_.reason();
  }
  if (found_lost) announce_loss(reason, StopIn::signal_thread);
  tell_watches({});
  core_->watchdog().disarm(*this);
  if (ending.stood) target_->begin_release();
  return ending;
}

void HeldLock::release_async(std::function<void(ReleaseOutcome)> done) {
  if (const std::optional<Ending> ending = begin_release()) return send_release(*ending, std::move(done));
  if (done) done(known_outcome());
}

ReleaseOutcome HeldLock::known_outcome() const {
  const base::Guard guard(mutex_);
  return outcome_;
}

void HeldLock::send_release(const Ending& ending, std::function<void(ReleaseOutcome)> done) {
  try {
    target_->release(*core_, owner(), ending.deadline, ending.give_up,
                     [self = shared_from_this(), ending, done = std::move(done)](const Released& released) {
                       {
                         const base::Guard guard(self->mutex_);
                         self->outcome_ = released.outcome;
                         if (released.outcome == ReleaseOutcome::was_lost)
                           self->fsm_.on_release_found_none(base::Clock::now());
                       }
                       if (ending.stood) self->target_->end_release(released, ending.extended_at);
                       self->report_released(released.outcome);
                       if (done) done(released.outcome);
                     });
  } catch (...) {
    // It could not be begun, for want of memory: the lease ends it at the server.
    if (ending.stood) target_->end_release({}, ending.extended_at);
    target_->clear_holder(this);
    report_released(ReleaseOutcome::unknown);
    throw;
  }
  // The release is queued: a local waiter's attempt will reach the server behind it.
  target_->clear_holder(this);
}

void HeldLock::give_up() noexcept {
  try {
    release_async({});
  } catch (...) {
    // It has ended: nobody renews it.
  }
}

/// Waiters who only ask now and then would never find it free if the next attempt left together with the release.
bool HeldLock::pipelined() const { return core_->config().pipelined_release && target_->plan().announced; }

void HeldLock::unlock() noexcept {
  if (core_->in_child()) return;
  if (pipelined() || !stands()) {
    unlock_without_waiting();
  } else {
    release();
  }
}

/// Pipelined, it leaves with the client's next command, or within a millisecond or two; at once if others wait for it.
void HeldLock::unlock_without_waiting() noexcept {
  if (core_->in_child()) return;
  try {
    struct Releasing final : Loop::Task {
      Releasing(std::shared_ptr<HeldLock> its_hold, Pending::Token token)
          : hold(std::move(its_hold)), pending(std::move(token)) {}
      void run() override { hold->send_release(ending, {}); }
      const std::shared_ptr<HeldLock> hold;
      const Pending::Token pending;
      Ending ending;
    };
    Pending::Token pending = core_->pending().begin();  // close() waits for it, or its flag is seen now
    if (core_->unusable()) return;
    if (pass_on()) return;
    const bool lazy = pipelined() && !target_->others_listened();
    const Loop::Pace pace = lazy ? Loop::Pace::with_the_next : Loop::Pace::at_once;
    auto releasing = std::make_shared<Releasing>(shared_from_this(), std::move(pending));
    const std::optional<Ending> ending = begin_release();  // from here on nobody finds it lost, close() neither
    if (!ending) return;
    releasing->ending = *ending;
    core_->loop().post_from_caller(std::move(releasing), pace);
  } catch (...) {
    end_unsent();
  }
}

/// Out of memory before anything was sent: nobody renews it any more, and the lease ends it at the server.
void HeldLock::end_unsent() noexcept {
  const std::optional<Ending> ending = begin_release();
  if (!ending) return;
  if (ending->stood) target_->end_release({}, ending->extended_at);
  target_->clear_holder(this);
  report_released(ReleaseOutcome::unknown);
}

ReleaseOutcome HeldLock::release() noexcept {
  if (core_->in_child()) return ReleaseOutcome::was_lost;
  OwnLoop* const loop = core_->own_loop();
  if (loop == nullptr) {
    unlock_without_waiting();
    return known_outcome();
  }
  try {
    struct Releasing final : Loop::Task, std::enable_shared_from_this<Releasing> {
      explicit Releasing(std::shared_ptr<HeldLock> its_hold) : hold(std::move(its_hold)) {}
      void run() override {
        hold->release_async([self = shared_from_this()](ReleaseOutcome known) {
          self->outcome = known;
          self->hold->core_->own_loop()->set(self->answer);
        });
      }
      void broken() noexcept override {
        hold->end_unsent();
        hold->core_->own_loop()->set(answer);
      }
      const std::shared_ptr<HeldLock> hold;
      OwnLoop::Answer answer;
      ReleaseOutcome outcome = ReleaseOutcome::unknown;
    };
    const Pending::Token pending = core_->pending().begin();  // close() waits for it, or its flag is seen now
    if (core_->unusable()) return known_outcome();
    if (pass_on()) return ReleaseOutcome::released;
    const auto releasing = std::make_shared<Releasing>(shared_from_this());
    loop->call(releasing, releasing->answer, base::Clock::now() + core_->config().release_timeout);
    if (releasing->answer.is_there()) return releasing->outcome;
  } catch (...) {
    end_unsent();
  }
  return ReleaseOutcome::unknown;
}

}  // namespace holdfast::engine
