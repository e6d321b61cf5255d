// SPDX-License-Identifier: Apache-2.0
#include "lock/hold/hold_release.hpp"

#include "lock/hold/hold_events.hpp"
#include "lock/queue/target.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/job.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

void report_released(Runtime& runtime, const Tenancy& tenancy, TimePoint since, ReleaseOutcome outcome) {
  Reporter& reporter = runtime.reporter();
  if (outcome == ReleaseOutcome::released) reporter.add(&Counters::released);
  reporter.tell(&Observer::on_released, [&] {
    return ReleasedEvent{tenancy.target()->name(), tenancy.owner().text, outcome, base::Clock::now() - since};
  });
}

/// `released`: what its last command has found, or nothing, if none could be sent: then its lease ends it at the
/// server.
void end(Tenancy& tenancy, const Ending& ending, const Released& released) {
  if (ending.stood) tenancy.target()->end_release(released, ending.extended_at);
  if (ending.since) report_released(*tenancy.runtime(), tenancy, *ending.since, released.outcome);
}

void end_unreleased(Tenancy& tenancy, const Ending& ending) {
  end(tenancy, ending, {});
  tenancy.target()->forget(tenancy);
}

using Done = std::function<void(ReleaseOutcome)>;

void on_answer(Tenancy& tenancy, const Ending& ending, const Released& released, const Done& done) {
  tenancy.set_outcome(released.outcome);
  end(tenancy, ending, released);
  if (done) done(released.outcome);
}

/// Its holder only released it: it is left for others who shared it, and have ended.
void on_left_for_others(Tenancy& tenancy, const Ending& ending, ReleaseOutcome outcome, const Done& done) {
  if (ending.stood) tenancy.target()->end_release({outcome}, ending.extended_at);
  const ReleaseOutcome of_holder = outcome == ReleaseOutcome::left ? ReleaseOutcome::released : outcome;
  tenancy.set_outcome(of_holder);
  if (ending.since) report_released(*tenancy.runtime(), tenancy, *ending.since, of_holder);
  if (done) done(of_holder);
}

/// Of an owner that the server has in one of two modes.
Released of_both(const Released& one, const Released& other) {
  const auto either = [&](ReleaseOutcome outcome) { return one.outcome == outcome || other.outcome == outcome; };
  const std::int64_t listeners = std::max(one.listeners, other.listeners);
  if (either(ReleaseOutcome::released)) return {ReleaseOutcome::released, listeners};
  return {either(ReleaseOutcome::unknown) ? ReleaseOutcome::unknown : ReleaseOutcome::was_lost, listeners};
}

/// Nobody knows whether the server shares it yet. Alone first: what is under way finds nothing to share behind that, or
/// has been executed before it.
void release_alone_and_shared(Tenancy& tenancy, const Ending& ending, ReleaseDone done) {
  wire::Owner alone = tenancy.owner();
  alone.ask.mode = wire::Mode::exclusive;
  tenancy.target()->release(
      alone, ending.deadline, ending.give_up,
      [self = tenancy.shared_from_this(), alone, ending, done = std::move(done)](const Released& as_alone) {
        wire::Owner sharing = alone;
        sharing.ask.mode = wire::Mode::shared;
        self->target()->release(sharing, ending.deadline, ending.give_up,
                                [as_alone, done](const Released& as_one) { done(of_both(as_alone, as_one)); });
      });
}

/// `send`: its last command. The attempt of a waiter here will reach the server behind that.
template <class Send>
void send_last(Tenancy& tenancy, const Ending& ending, const Send& send) {
  try {
    send(*tenancy.target());
  } catch (...) {
    end_unreleased(tenancy, ending);
    throw;
  }
  tenancy.target()->forget(tenancy);
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

/// Once, or once more as one of several if its owner does not have it alone any more.
void renew_to_rest(const std::shared_ptr<Tenancy>& tenancy, milliseconds rest,
                   std::function<void(ReleaseOutcome)> done) {
  const bool alone = tenancy->ask().mode == wire::Mode::exclusive;
  tenancy->target()->renew(tenancy, rest, [tenancy, rest, alone, done = std::move(done)](const Renewed& renewed) {
    const bool shared = tenancy->is_being_shared() || tenancy->ask().mode == wire::Mode::shared;
    if (renewed.kind != Renewed::Kind::gone || !alone || !shared) return done(outcome_of(renewed));
    tenancy->on_no_longer_alone();
    renew_to_rest(tenancy, rest, done);
  });
}

/// A renewal that is the last one, because its holder leaves it or, if `for_others`, releases it.
void send_last_renewal(Tenancy& tenancy, const Ending& ending, milliseconds rest, bool for_others, Done done) {
  send_last(tenancy, ending, [&](Target&) {
    renew_to_rest(tenancy.shared_from_this(), rest,
                  [self = tenancy.shared_from_this(), ending, for_others,
                   pending = tenancy.runtime()->pending().begin(), done = std::move(done)](ReleaseOutcome outcome) {
                    if (for_others) return on_left_for_others(*self, ending, outcome, done);
                    on_answer(*self, ending, {outcome}, done);
                  });
  });
}

/// What others who shared it have left stays taken.
void send_release(Tenancy& tenancy, const Ending& ending, Done done) {
  if (const milliseconds rest = tenancy.rest(base::Clock::now()); rest > milliseconds{}) {
    return send_last_renewal(tenancy, ending, rest, true, std::move(done));
  }
  send_last(tenancy, ending, [&](Target& target) {
    ReleaseDone on_released = [self = tenancy.shared_from_this(), ending, done = std::move(done)](
                                  const Released& released) { on_answer(*self, ending, released, done); };
    if (tenancy.is_being_shared()) return release_alone_and_shared(tenancy, ending, std::move(on_released));
    target.release(tenancy.owner(), ending.deadline, ending.give_up, std::move(on_released));
  });
}

/// Its end has begun: nobody renews it any more, and its target expects a release.
void retire(Tenancy& tenancy, const Ending& ending) noexcept {
  tenancy.target()->disarm(tenancy);
  if (ending.stood) tenancy.target()->begin_release();
}

/// As Claim::begin_release, with what follows for those who watch the claim.
Claim::Release begin_release(Claim& claim, Ending& ending, milliseconds rest = {}) noexcept {
  const Claim::Release what = claim.begin_release(ending, rest);
  if (what == Claim::Release::ended) return what;
  if (ending.found_lost) end_lost(claim.tenancy(), Claim::StopIn::signal_thread);
  if (ending.stood) measure_end(claim, base::Clock::now());
  claim.tell_end();
  return what;
}

/// The claim ends. Set: what the release of its tenancy needs. Empty: nothing is to be sent; the outcome is known.
/// `rest`: for so long it is left.
std::optional<Ending> end_claim(Claim& claim, milliseconds rest = {}) noexcept {
  Ending ending;
  switch (begin_release(claim, ending, rest)) {
    case Claim::Release::last:
      retire(claim.tenancy(), ending);
      return ending;
    case Claim::Release::left:
      report_released(*claim.runtime(), claim.tenancy(), claim.granted_at(), claim.known_outcome());
      break;
    case Claim::Release::ended:
      break;
  }
  return std::nullopt;
}

/// Out of memory before anything was sent.
void end_unsent(Claim& claim) noexcept {
  if (const std::optional<Ending> ending = end_claim(claim)) end_unreleased(claim.tenancy(), *ending);
}

/// Guards give it back without waiting for the outcome, and with the next command. Waiters who only ask now and then
/// would never find it free if the next attempt left together with the release.
bool pipelined(const Claim& hold) {
  return hold.runtime()->config().pipelined_release && hold.target()->plan().traits.announced == Traits::Announced::all;
}

/// It is released, or left for `rest`.
class Releasing final : public Job<ReleaseOutcome>, public std::enable_shared_from_this<Releasing> {
 public:
  Releasing(std::shared_ptr<Claim> hold, milliseconds rest, Pending::Token pending)
      : hold_(std::move(hold)), rest_(rest), pending_(std::move(pending)) {}
  /// For a caller who does not wait: from here on nobody finds it lost, close() neither. False if somebody else
  /// releases it, or has.
  bool begin() {
    ending_ = end_claim(*hold_);
    return ending_.has_value();
  }
  void run() override {
    Done done;
    if (wanted()) done = [self = shared_from_this()](ReleaseOutcome outcome) { self->tell(outcome); };
    if (ending_) return send_release(hold_->tenancy(), *ending_, std::move(done));
    release_async(*hold_, std::move(done), rest_);
  }
  void broken() noexcept override {
    end_unsent(*hold_);
    tell(ReleaseOutcome::unknown);
  }

 private:
  const std::shared_ptr<Claim> hold_;
  const milliseconds rest_;
  const Pending::Token pending_;
  std::optional<Ending> ending_;  // once it has begun
};

/// On a client's own loop; `unknown` if it takes longer than `release_timeout`.
ReleaseOutcome await(OwnLoop& loop, Claim& hold, milliseconds rest, Pending::Token pending) {
  return Releasing::wait(loop, std::make_shared<Releasing>(hold.self(), rest, std::move(pending)),
                         base::Clock::now() + hold.runtime()->config().timing.release_timeout)
      .value_or(ReleaseOutcome::unknown);
}

}  // namespace

bool pass_on(Claim& hold) {
  const TimePoint now = base::Clock::now();
  const bool shared = hold.tenancy().ask().mode == wire::Mode::shared && hold.leave_to_others(now);
  if (!shared) {
    if (!hold.target()->retain(hold)) return false;
    hold.runtime()->reporter().add(&Counters::local_handoffs);
  }
  measure_end(hold, now);
  hold.tell_end();
  report_released(*hold.runtime(), hold.tenancy(), hold.granted_at(), ReleaseOutcome::released);
  return true;
}

bool pass_on(const std::shared_ptr<Runtime>& runtime, const std::shared_ptr<Target>& target, const LeaseTerms& lease,
             const wire::Ask& ask) {
  const std::shared_ptr<Tenancy> passed =
      target->make_tenancy(runtime, runtime->make_owner(), ask, base::Clock::now(), lease, {});
  if (!target->retain(*passed->first_claim())) return false;
  runtime->reporter().add(&Counters::local_handoffs);
  return true;
}

std::optional<ReleaseOutcome> release_here(Claim& hold, Pending::Token& pending) {
  Runtime& runtime = *hold.runtime();
  if (runtime.in_child()) return ReleaseOutcome::was_lost;
  Runtime::Admission admission = runtime.admit();
  if (admission.refused) return end_with_client(hold);
  pending = std::move(admission.token);
  return pass_on(hold) ? std::optional(ReleaseOutcome::released) : std::nullopt;
}

void release_async(Claim& hold, std::function<void(ReleaseOutcome)> done, milliseconds rest) {
  if (const std::optional<Ending> ending = end_claim(hold, rest)) {
    if (rest == milliseconds{}) return send_release(hold.tenancy(), *ending, std::move(done));
    const milliseconds longest = std::max(rest, hold.tenancy().rest(base::Clock::now()));
    return send_last_renewal(hold.tenancy(), *ending, longest, false, std::move(done));
  }
  if (done) done(hold.known_outcome());
}

void give_up(Claim& hold) noexcept {
  try {
    release_async(hold, {});
  } catch (...) {
    // It has ended: nobody renews it.
  }
}

void let_stand(Claim& hold) noexcept {
  Ending ending;
  if (begin_release(hold, ending) == Claim::Release::last) hold.target()->disarm(hold.tenancy());
}

void end_at_close(Tenancy& tenancy) noexcept {
  if (!tenancy.target()->disarm(tenancy)) return;  // it has ended, or somebody else is ending it
  on_closed(tenancy);
  if (tenancy.runtime()->config().on_close == OnClose::release) give_up(tenancy);
}

/// As long as this is posted, close() finds the tenancy. Afterwards there is nothing left to be done.
ReleaseOutcome end_with_client(Claim& hold) noexcept {
  try {
    hold.runtime()->hand_over([kept = hold.self()] { end_at_close(kept->tenancy()); });
  } catch (...) {
    // Out of memory: its lease ends it.
  }
  return hold.known_outcome();
}

void give_up(Tenancy& tenancy) noexcept {
  try {
    give_up(tenancy, {});
  } catch (...) {
    // It has ended: nobody renews it.
  }
}

bool give_up(Tenancy& tenancy, std::function<void(ReleaseOutcome)> done) {
  const std::optional<Ending> ending = tenancy.begin_release();
  if (!ending) return false;
  retire(tenancy, *ending);
  send_release(tenancy, *ending, std::move(done));
  return true;
}

void unlock(Claim& hold) noexcept {
  if (hold.runtime()->in_child()) return;
  if (pipelined(hold) || !hold.stands()) {
    unlock_without_waiting(hold);
  } else {
    release(hold);
  }
}

/// Pipelined, it leaves with the client's next command, or within a millisecond or two; at once if others wait for it.
void unlock_without_waiting(Claim& hold) noexcept {
  try {
    Pending::Token pending;
    if (release_here(hold, pending)) return;
    const bool lazy = pipelined(hold) && !hold.target()->others_listened();
    const Loop::Pace pace = lazy ? Loop::Pace::with_the_next : Loop::Pace::at_once;
    auto releasing = std::make_shared<Releasing>(hold.self(), milliseconds{}, std::move(pending));
    if (releasing->begin()) hold.runtime()->loop().post_from_caller(std::move(releasing), pace);
  } catch (...) {
    end_unsent(hold);
  }
}

ReleaseOutcome release(Claim& hold) noexcept {
  if (hold.runtime()->in_child()) return ReleaseOutcome::was_lost;
  OwnLoop* const loop = hold.runtime()->own_loop();
  if (loop == nullptr) {
    unlock_without_waiting(hold);
    return hold.known_outcome();
  }
  try {
    Pending::Token pending;
    if (const std::optional<ReleaseOutcome> known = release_here(hold, pending)) return *known;
    return await(*loop, hold, {}, std::move(pending));
  } catch (...) {
    end_unsent(hold);
  }
  return ReleaseOutcome::unknown;
}

ReleaseOutcome leave(Claim& hold, milliseconds rest) noexcept {
  Runtime& runtime = *hold.runtime();
  if (runtime.in_child()) return ReleaseOutcome::was_lost;
  try {
    Runtime::Admission admission = runtime.admit();
    if (admission.refused) return end_with_client(hold);
    if (OwnLoop* const loop = runtime.own_loop()) return await(*loop, hold, rest, std::move(admission.token));
    auto leaving = std::make_shared<Releasing>(hold.self(), rest, std::move(admission.token));
    runtime.loop().post_from_caller(std::move(leaving), Loop::Pace::at_once);
  } catch (...) {
    end_unsent(hold);
  }
  return ReleaseOutcome::unknown;
}

bool detach(Claim& hold) noexcept {
  const std::optional<Ending> ending = end_claim(hold);
  if (!ending) return false;
  Tenancy& tenancy = hold.tenancy();
  on_answer(tenancy, *ending, {ending->stood ? ReleaseOutcome::left : ReleaseOutcome::was_lost}, {});
  tenancy.target()->forget(tenancy);
  return ending->stood;
}

}  // namespace holdfast::engine
