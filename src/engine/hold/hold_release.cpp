#include "engine/hold/hold_release.hpp"

#include "engine/hold/holding.hpp"
#include "engine/hold/target.hpp"
#include "engine/hold/watchdog.hpp"
#include "engine/loop/own_loop.hpp"
#include "engine/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

using Ending = Holding::Ending;

void report_released(const Holding& hold, ReleaseOutcome outcome) {
  Reporter& reporter = hold.runtime()->reporter();
  if (outcome == ReleaseOutcome::released) Reporter::add(reporter.count.released);
  reporter.tell(&Observer::on_released, [&] {
    return ReleasedEvent{hold.name(), hold.owner().text, outcome, base::Clock::now() - hold.granted_at()};
  });
}

/// Nothing could be sent, for want of memory: its lease ends it at the server.
void end_unreleased(Holding& hold, const Ending& ending) {
  if (ending.stood) hold.target()->end_release({}, ending.extended_at);
  hold.target()->clear_holder(hold);
  report_released(hold, ReleaseOutcome::unknown);
}

void send_release(Holding& hold, const Ending& ending, std::function<void(ReleaseOutcome)> done) {
  const std::shared_ptr<Target>& target = hold.target();
  try {
    target->release(hold.owner(), ending.deadline, ending.give_up,
                    [self = hold.shared_from_this(), ending, done = std::move(done)](const Released& released) {
                      self->set_outcome(released.outcome);
                      if (ending.stood) self->target()->end_release(released, ending.extended_at);
                      report_released(*self, released.outcome);
                      if (done) done(released.outcome);
                    });
  } catch (...) {
    end_unreleased(hold, ending);
    throw;
  }
  // The release is queued: a local waiter's attempt will reach the server behind it.
  target->clear_holder(hold);
}

ReleaseOutcome outcome_of(const Renewed& renewed) {
  switch (renewed.kind) {
    case Renewed::Kind::extended:
      return ReleaseOutcome::left;
    case Renewed::Kind::gone:
      return ReleaseOutcome::was_lost;
    case Renewed::Kind::unanswered:
      break;
  }
  return ReleaseOutcome::unknown;
}

/// A renewal that is the last one.
void send_last_renewal(Holding& hold, const Ending& ending, milliseconds rest,
                       std::function<void(ReleaseOutcome)> done) {
  const std::shared_ptr<Target>& target = hold.target();
  try {
    target->renew(hold.shared_from_this(), rest,
                  [self = hold.shared_from_this(), ending, pending = hold.runtime()->pending().begin(),
                   done = std::move(done)](const Renewed& renewed) {
                    const ReleaseOutcome outcome = outcome_of(renewed);
                    self->set_outcome(outcome);
                    if (ending.stood) self->target()->end_release({outcome}, ending.extended_at);
                    report_released(*self, outcome);
                    if (done) done(outcome);
                  });
  } catch (...) {
    end_unreleased(hold, ending);
    throw;
  }
  target->clear_holder(hold);
}

/// Out of memory before anything was sent.
void end_unsent(Holding& hold) noexcept {
  if (const std::optional<Ending> ending = hold.begin_release()) end_unreleased(hold, *ending);
}

/// Guards give it back without waiting for the outcome, and with the next command. Waiters who only ask now and then
/// would never find it free if the next attempt left together with the release.
bool pipelined(const Holding& hold) {
  return hold.runtime()->config().pipelined_release && hold.target()->plan().traits.announced;
}

/// For a caller who does not wait.
class Unlocking final : public Loop::Task {
 public:
  Unlocking(std::shared_ptr<Holding> hold, Pending::Token pending)
      : hold_(std::move(hold)), pending_(std::move(pending)) {}
  /// False if somebody else releases it, or has. From here on nobody finds it lost, close() neither.
  bool begin() {
    ending_ = hold_->begin_release();
    return ending_.has_value();
  }
  void run() override { send_release(*hold_, *ending_, {}); }

 private:
  const std::shared_ptr<Holding> hold_;
  const Pending::Token pending_;
  std::optional<Ending> ending_;
};

void leave_async(Holding& hold, milliseconds rest, std::function<void(ReleaseOutcome)> done) {
  if (const std::optional<Ending> ending = hold.begin_release()) {
    return send_last_renewal(hold, *ending, rest, std::move(done));
  }
  if (done) done(hold.known_outcome());
}

/// For a caller who cannot wait.
class Leaving final : public Loop::Task {
 public:
  Leaving(std::shared_ptr<Holding> hold, milliseconds rest, Pending::Token pending)
      : hold_(std::move(hold)), rest_(rest), pending_(std::move(pending)) {}
  void run() override { leave_async(*hold_, rest_, {}); }

 private:
  const std::shared_ptr<Holding> hold_;
  const milliseconds rest_;
  const Pending::Token pending_;
};

/// How a hold is given back that has a caller who wants to know the outcome.
using GiveBack = void (*)(Holding& hold, milliseconds rest, std::function<void(ReleaseOutcome)> done);

/// For a caller who waits on a client's own loop.
class Releasing final : public Loop::Task, public std::enable_shared_from_this<Releasing> {
 public:
  Releasing(std::shared_ptr<Holding> hold, OwnLoop& loop, GiveBack give_back, milliseconds rest)
      : hold_(std::move(hold)), loop_(loop), give_back_(give_back), rest_(rest) {}
  void run() override {
    give_back_(*hold_, rest_, [self = shared_from_this()](ReleaseOutcome known) {
      self->outcome = known;
      self->loop_.set(self->answer);
    });
  }
  void broken() noexcept override {
    end_unsent(*hold_);
    loop_.set(answer);
  }

  Answer answer;
  ReleaseOutcome outcome = ReleaseOutcome::unknown;

 private:
  const std::shared_ptr<Holding> hold_;
  OwnLoop& loop_;
  const GiveBack give_back_;
  const milliseconds rest_;
};

/// On a client's own loop; `unknown` if it takes longer than `release_timeout`.
ReleaseOutcome await(OwnLoop& loop, Holding& hold, GiveBack give_back, milliseconds rest) {
  const auto releasing = std::make_shared<Releasing>(hold.shared_from_this(), loop, give_back, rest);
  loop.call(releasing, releasing->answer, base::Clock::now() + hold.runtime()->config().release_timeout);
  return releasing->answer.is_there() ? releasing->outcome : ReleaseOutcome::unknown;
}

}  // namespace

bool pass_on(Holding& hold) {
  if (!hold.target()->retain(hold)) return false;
  hold.tell_end({});
  hold.target()->watchdog().disarm(hold);
  report_released(hold, ReleaseOutcome::released);
  return true;
}

void release_async(Holding& hold, std::function<void(ReleaseOutcome)> done) {
  if (const std::optional<Ending> ending = hold.begin_release()) return send_release(hold, *ending, std::move(done));
  if (done) done(hold.known_outcome());
}

void give_up(Holding& hold) noexcept {
  try {
    release_async(hold, {});
  } catch (...) {
    // It has ended: nobody renews it.
  }
}

void unlock(Holding& hold) noexcept {
  if (hold.runtime()->in_child()) return;
  if (pipelined(hold) || !hold.stands()) {
    unlock_without_waiting(hold);
  } else {
    release(hold);
  }
}

/// Pipelined, it leaves with the client's next command, or within a millisecond or two; at once if others wait for it.
void unlock_without_waiting(Holding& hold) noexcept {
  Runtime& runtime = *hold.runtime();
  if (runtime.in_child()) return;
  try {
    Runtime::Admission admission = runtime.admit();
    if (admission.refused) return;
    if (pass_on(hold)) return;
    const bool lazy = pipelined(hold) && !hold.target()->others_listened();
    const Loop::Pace pace = lazy ? Loop::Pace::with_the_next : Loop::Pace::at_once;
    auto unlocking = std::make_shared<Unlocking>(hold.shared_from_this(), std::move(admission.token));
    if (unlocking->begin()) runtime.loop().post_from_caller(std::move(unlocking), pace);
  } catch (...) {
    end_unsent(hold);
  }
}

ReleaseOutcome release(Holding& hold) noexcept {
  Runtime& runtime = *hold.runtime();
  if (runtime.in_child()) return ReleaseOutcome::was_lost;
  OwnLoop* const loop = runtime.own_loop();
  if (loop == nullptr) {
    unlock_without_waiting(hold);
    return hold.known_outcome();
  }
  try {
    const Runtime::Admission admission = runtime.admit();
    if (admission.refused) return hold.known_outcome();
    if (pass_on(hold)) return ReleaseOutcome::released;
    const auto give_back = [](Holding& held, milliseconds, std::function<void(ReleaseOutcome)> done) {
      release_async(held, std::move(done));
    };
    return await(*loop, hold, give_back, {});
  } catch (...) {
    end_unsent(hold);
  }
  return ReleaseOutcome::unknown;
}

ReleaseOutcome leave(Holding& hold, milliseconds rest) noexcept {
  Runtime& runtime = *hold.runtime();
  if (runtime.in_child()) return ReleaseOutcome::was_lost;
  try {
    Runtime::Admission admission = runtime.admit();
    if (admission.refused) return hold.known_outcome();
    if (OwnLoop* const loop = runtime.own_loop()) return await(*loop, hold, leave_async, rest);
    auto leaving = std::make_shared<Leaving>(hold.shared_from_this(), rest, std::move(admission.token));
    runtime.loop().post_from_caller(std::move(leaving), Loop::Pace::at_once);
  } catch (...) {
    end_unsent(hold);
  }
  return ReleaseOutcome::unknown;
}

}  // namespace holdfast::engine
