// SPDX-License-Identifier: Apache-2.0
#include "lock/hold/acquire_op.hpp"

#include <holdfast/error.hpp>
#include <holdfast/observer.hpp>

#include "base/entropy.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/queue/tenancy.hpp"
#include "lock/runtime/runtime.hpp"

namespace holdfast::engine {
namespace {

WaitOutcome outcome_of(std::error_code error) {
  if (!error) return WaitOutcome::granted;
  if (error == Errc::timed_out) return WaitOutcome::timed_out;
  return error == Errc::cancelled ? WaitOutcome::cancelled : WaitOutcome::failed;
}

}  // namespace

AttemptReply::~AttemptReply() {
  if (due_) asker_->on_unanswered();
}

void AttemptReply::operator()(Attempt reply) {
  Loop& loop = asker_->loop();
  if (loop.inside()) return deliver(std::move(reply));
  loop.defer([self = std::move(*this), reply = std::move(reply)]() mutable { self.deliver(std::move(reply)); });
}

void AttemptReply::deliver(Attempt reply) {
  due_ = false;
  asker_->on_attempt(std::move(reply));
}

void ReportedWait::begin(Target& target, const wire::Owner& waiter, const AcquireFsm& fsm) noexcept {
  if (fsm.asks_once() || has_begun()) return;
  since_ = base::Clock::now();
  Reporter& reporter = target.runtime().reporter();
  reporter.add(&Counters::waiting);
  reporter.waits.begin(place_, since_);
  target.begin_wait();
  reporter.tell(&Observer::on_waiting, [&] { return WaitingEvent{target.name(), waiter.text, fsm.busy_cause()}; });
}

void ReportedWait::end(Target& target, const wire::Owner& waiter, std::error_code error) noexcept {
  if (!has_begun()) return;
  Reporter& reporter = target.runtime().reporter();
  reporter.take(&Counters::waiting);
  reporter.waits.end(place_);
  target.end_wait();
  reporter.tell(&Observer::on_wait_ended, [&] {
    const WaitOutcome outcome = outcome_of(error);
    return WaitEndedEvent{target.name(), waiter.text, outcome,
                          outcome == WaitOutcome::failed ? error.message() : std::string(),
                          base::Clock::now() - since_};
  });
}

namespace {

using base::Clock;

constexpr unsigned bit(Waiter::Signal signal) { return 1U << static_cast<unsigned>(signal); }

AcquireTerms terms_of(const Target& target, const AcquireOptions& options, DefaultWait default_wait) {
  const Config& config = target.runtime().config();
  AcquireTerms terms;
  terms.once = options.wait ? options.wait->count() <= 0 : default_wait == DefaultWait::ask_once;
  // A limit beyond the longest lease means no limit: callers pass `max()` for that, which must not overflow.
  if (!terms.once && options.wait && *options.wait < kLongestLease) terms.wait = *options.wait;
  terms.command_timeout = config.timing.command_timeout;
  terms.patience = config.timing.patience;
  terms.safety_poll = config.timing.safety_poll;
  // Of several names, releases in fast succession are of different ones.
  terms.turn = target.plan().each == nullptr ? config.kinds.handoff : milliseconds(0);
  terms.own_channel = target.plan().transitions.wake_channel != nullptr;
  if (target.plan().transitions.leave != nullptr) {
    // No message comes if the next waiter in the server's queue does nothing.
    terms.safety_poll = std::min<Duration>(terms.safety_poll, config.kinds.fair_turn);
  }
  using Announced = Traits::Announced;
  const Announced announced = target.plan().traits.announced;
  terms.listens = announced != Announced::none;
  if (announced == Announced::some) terms.poll = PollTerms{config.kinds.poll_min, config.kinds.poll_max};
  if (announced == Announced::none) {
    terms.poll =
        PollTerms{config.kinds.spin_min, config.kinds.spin_max, config.kinds.spin_multiplier, PollTerms::Spread::added};
  }
  terms.jitter = base::random_share();
  return terms;
}

/// The error of a wait that the client has ended.
std::error_code why_ended(const Runtime& runtime) {
  const std::error_code unusable = runtime.unusable();
  return unusable ? unusable : Errc::cancelled;  // it is only releasing its holds
}

/// Null: no explanation is needed. try_acquire() has no text in its result.
std::unique_ptr<Explanation> explanation_of(const AcquireOptions& options, TimePoint started,
                                            DefaultWait default_wait) {
  if (default_wait != DefaultWait::wait_on || !options.wait) return nullptr;
  if (*options.wait < Explanation::kShortestWait || *options.wait >= kLongestLease) return nullptr;
  return std::make_unique<Explanation>(started, *options.wait);
}

void report_safety_poll(const Target& target, bool granted) {
  Reporter& reporter = target.runtime().reporter();
  if (granted) reporter.add(&Counters::safety_poll_wakes);
  reporter.tell(&Observer::on_safety_poll, [&] { return SafetyPollEvent{target.name(), granted}; });
}

void report_unknown(const Target& target, const wire::Owner& owner, const std::string& cause) {
  Reporter& reporter = target.runtime().reporter();
  reporter.add(&Counters::unknown);
  reporter.tell(&Observer::on_unknown,
                [&] { return UnknownEvent{target.name(), owner.text, UnknownEvent::Operation::acquire, cause}; });
}

void report_failed(const Target& target, std::error_code error, Duration waited) {
  Reporter& reporter = target.runtime().reporter();
  reporter.meter.on_acquire(target.lock_class(), Meter::result_of(error), waited);
  const bool not_granted =
      error == Errc::busy || error == Errc::timed_out || error == Errc::cancelled || error == Errc::crowded;
  reporter.add(not_granted ? &Counters::not_granted : &Counters::failed);
}

/// Empty: one more caller may wait.
std::string why_crowded(const Target& target, const AcquireOptions& options) {
  const std::uint32_t here = target.waiting();
  if (options.max_waiters && here >= *options.max_waiters) {
    return "so many calls of this client wait for this lock: " + std::to_string(here) + " (max_waiters)";
  }
  const Runtime& runtime = target.runtime();
  const std::uint64_t all = target.runtime().reporter().count(&Counters::waiting);
  if (runtime.config().max_waiters && all >= *runtime.config().max_waiters) {
    return "so many calls of this client wait for locks: " + std::to_string(all) + " (Config::max_waiters)";
  }
  return {};
}

/// If a grant arrives after its lease is over, it is unknown whether it still stands: the next attempt, by the same
/// owner, takes it again or finds it taken.
void doubt_if_late(Attempt& reply, milliseconds lease, TimePoint now) {
  if (reply.kind != Attempt::Kind::granted || now < lease_end(reply.sent_at, lease)) return;
  reply.kind = Attempt::Kind::unknown;
  reply.error = Errc::unknown_outcome;
  reply.cause = "the grant came after its lease of " + std::to_string(lease.count()) + " ms was over";
}

/// What a hold must keep of its grant; null: nothing, since the owner is one of this client's numbers.
std::unique_ptr<const wire::Grant> kept_of(const Runtime& runtime, const wire::Grant& grant) {
  if (!grant.token && grant.owner.text.starts_with(runtime.id())) return nullptr;
  return std::make_unique<const wire::Grant>(grant);
}

}  // namespace

AcquireOp::AcquireOp(std::shared_ptr<Runtime> runtime, std::shared_ptr<Target> target, AcquireOptions options,
                     LeaseTerms lease, DefaultWait default_wait, const wire::Ask& ask)
    : Waiter(ask.mode == wire::Mode::shared),
      runtime_(std::move(runtime)),
      target_(std::move(target)),
      options_(std::move(options)),
      lease_(lease),
      owner_{runtime_->make_owner().text, ask},
      started_(Clock::now()),
      fsm_(terms_of(*target_, options_, default_wait), started_),
      explanation_(explanation_of(options_, started_, default_wait)),
      alarm_(runtime_->loop().schedule(), [this] { on_alarm(); }) {}

void AcquireOp::run() {
  if (state_ == State::starting) start();
  on_signals();
  if (state_ != State::in_queue || !begin_wait()) return;
  waits();
}

void AcquireOp::broken() noexcept {
  if (state_ == State::finished) return;
  finish({.kind = AcquireAction::Kind::finish, .undo = fsm_.unresolved(), .error = Errc::exhausted});
}

void AcquireOp::start() {
  self_ = shared_from_this();
  target_->enter(*this);
  if (runtime_->unusable()) post(Signal::closed);  // closed while we entered
  if (options_.stop.stop_possible()) on_stop_.emplace(options_.stop, OnStop{weak_from_this()});
  act(fsm_.start());
}

void AcquireOp::signal_arrived(unsigned signal) noexcept {
  signals_.fetch_or(signal);
  if (!scheduled_.exchange(true)) runtime_->loop().post(shared_from_this());
}

void AcquireOp::on_signals() {
  scheduled_.store(false);
  const unsigned signals = signals_.exchange(0);
  if (state_ == State::finished || signals == 0) return;
  if ((signals & kUnanswered) != 0 && state_ == State::asking) {
    Attempt lost;
    lost.kind = Attempt::Kind::unknown;
    lost.grant.owner = owner_;
    lost.error = Errc::exhausted;
    on_attempt(std::move(lost));
    if (state_ == State::finished) return;
  }
  if ((signals & bit(Signal::closed)) != 0) {
    act(fsm_.on_stop(why_ended(*runtime_)));
  } else if ((signals & kStopped) != 0) {
    act(fsm_.on_stop(Errc::cancelled));
  } else if ((signals & bit(Signal::turn)) != 0 && state_ == State::in_queue) {
    const TimePoint now = Clock::now();
    wait_.woken(now);
    act(fsm_.on_turn(now, view()));
  } else if ((signals & (bit(Signal::wake) | bit(Signal::message))) != 0) {
    if (explanation_) explanation_->on_change();
    if (state_ == State::waiting) {
      look_again(signals);
    } else {
      // It may be about a release just after the server has checked the lock.
      if (state_ == State::asking) missed_ |= signals;
    }
  } else if ((signals & bit(Signal::busy)) != 0 && state_ == State::waiting && fsm_.lets_others_ask()) {
    act(fsm_.on_busy(Clock::now(), view()));
  }
}

TargetView AcquireOp::view() const {
  TargetView view = target_->view(owner_.ask);
  view.subscribed = target_->subscribed(owner_);
  return view;
}

void AcquireOp::look_again(unsigned signals) {
  const TargetView seen = view();
  const TimePoint now = Clock::now();
  wait_.woken(now);
  act((signals & bit(Signal::wake)) != 0 ? fsm_.on_wake(now, seen) : fsm_.on_message(now, seen));
}

void AcquireOp::act(AcquireAction action) {
  using Kind = AcquireAction::Kind;
  switch (action.kind) {
    case Kind::wait_turn:
      state_ = State::in_queue;
      return sleep_until(action.until);
    case Kind::attempt:
      return attempt(action);
    case Kind::wait:
      state_ = State::waiting;
      if ((fsm_.contended() || fsm_.lacks_acks()) && !begin_wait()) return;
      if (const unsigned missed = std::exchange(missed_, 0); missed != 0) return look_again(missed);
      if (!use_ && target_->subscribed(owner_))
        use_ = target_->listen(owner_,
                               *this);  // subscribed by an earlier attempt: messages are also needed during a pause
      waits();
      return sleep_until(action.until);
    case Kind::pause:
      state_ = State::pausing;
      waits();
      return sleep_until(action.until);
    case Kind::finish:
      return finish(std::move(action));
  }
}

/// False: too many callers wait already, and this one is refused.
bool AcquireOp::begin_wait() {
  if (fsm_.asks_once() || wait_.has_begun()) return true;
  std::string cause = why_crowded(*target_, options_);
  if (cause.empty()) {
    wait_.begin(*target_, owner_, fsm_);
    return true;
  }
  AcquireAction refused = fsm_.on_stop(Errc::crowded);
  refused.cause = std::move(cause);
  act(std::move(refused));
  return false;
}

void AcquireOp::sleep_until(TimePoint until) {
  sleeps_until_ = until;
  const TimePoint ask_at = explanation_ ? explanation_->ask_at() : TimePoint::max();
  alarm_.set(until == TimePoint::max() ? until : std::min(until, ask_at), shared_from_this());
}

void AcquireOp::on_alarm() noexcept {
  try {
    const TimePoint now = Clock::now();
    if (now >= sleeps_until_) return act(fsm_.on_time(now, view()));
    if (explanation_ && now >= explanation_->ask_at()) ask_holder();
    sleep_until(sleeps_until_);
  } catch (...) {
    broken();
  }
}

void AcquireOp::ask_holder() {
  explanation_->asked();
  target_->ask_holder([client = std::weak_ptr(runtime_), weak = weak_from_this()](std::optional<LockInfo> info) {
    const std::shared_ptr<Runtime> runtime = client.lock();
    if (!runtime) return;
    const bool here = info && info->owner.starts_with(runtime->id() + ":");
    const auto take = [weak, info = std::move(info), here] {
      if (const auto op = weak.lock()) op->explanation_->on_holder(info, here);
    };
    if (runtime->loop().inside()) return take();
    runtime->loop().defer(take);
  });
}

/// Takes what this client already has, retained or shared, without asking the server.
bool AcquireOp::join() {
  const LeaseTerms terms =
      fsm_.unresolved() ? LeaseTerms{} : lease_;  // an attempt of unknown outcome must be resolved first
  held_ = target_->join({owner_.ask, terms, options_.on_lost, Target::Joining::From::queue});
  if (!held_) {
    // Our attempt is sent after that.
    if (const std::optional<Retained> unfit = target_->take_retained()) give_up(*unfit->tenancy);
    return false;
  }
  Attempt granted;
  granted.kind = Attempt::Kind::granted;
  act(fsm_.on_attempt(Clock::now(), granted));
  return true;
}

void AcquireOp::attempt(const AcquireAction& action) {
  if (join()) return;
  Order order{owner_,      lease_.length,     action.timeout,     action.subscribe || target_->subscribed(owner_),
              lease_.acks, !fsm_.asks_once(), action.publish_busy};
  if (order.subscribe && !use_) use_ = target_->listen(owner_, *this);
  if (fsm_.safety_polling()) runtime_->reporter().add(&Counters::safety_polls);
  alarm_.cancel();
  state_ = State::asking;
  missed_ = 0;                                       // the attempt covers all earlier signals
  Runtime::Admission admission = runtime_->admit();  // for the handler
  if (admission.refused) return act(fsm_.on_stop(admission.refused));
  asked_ = !fsm_.asks_once();
  under_way_ = true;
  try {
    target_->attempt(std::move(order), AttemptReply(shared_from_this(), std::move(admission.token)));
  } catch (...) {
    // Out of memory: the destroyed AttemptReply reports it.
  }
}

/// A grant that cannot be delivered is given back.
void AcquireOp::on_attempt(Attempt reply) noexcept {
  const bool perhaps = reply.may_stand();
  try {
    judge(reply);
  } catch (...) {
    if (perhaps && !held_) target_->undo(reply.grant.owner, undone_for());
    broken();
  }
}

/// Until its lease ends it; where none does, until the server no longer knows of it.
milliseconds AcquireOp::undone_for() const {
  if (target_->plan().traits.holds) return lease_.length;
  const Duration passed = Clock::now() - fsm_.perhaps_since();
  return std::chrono::ceil<milliseconds>(std::max(lease_.length - passed, Duration{}));
}

void AcquireOp::judge(Attempt& reply) {
  under_way_ = false;
  const LeaseTerms lease = as_granted(lease_, reply.grant);
  const TimePoint now = Clock::now();
  doubt_if_late(reply, lease.length, now);
  const bool granted = reply.kind == Attempt::Kind::granted;
  if (state_ == State::finished) {
    if (reply.may_stand()) return target_->undo(reply.grant.owner, undone_for());
    if (asked_) target_->withdraw(owner_, lease_.length);
    return;
  }
  // The grant is armed here, so that the watchdog knows each hold from the start.
  if (granted) {
    const std::shared_ptr<Target> granted_of = target_->granted(reply.grant);
    const std::shared_ptr<Tenancy> tenancy =
        granted_of->make_tenancy(runtime_, reply.grant.owner, owner_.ask, reply.sent_at, lease, options_.on_lost,
                                 kept_of(*runtime_, reply.grant), reply.acks_era);
    held_ = tenancy->first_claim();
    asked_ = false;
    granted_of->set_tenancy(*tenancy, reply.listeners.value_or(0));
    granted_of->arm(tenancy);
  }
  if (reply.kind == Attempt::Kind::busy) {
    target_->saw_other(reply.of_stranger);
    if (explanation_) explanation_->on_busy(now, reply);
  }
  if (fsm_.safety_polling()) report_safety_poll(*target_, granted);
  if (reply.kind == Attempt::Kind::unknown) report_unknown(*target_, owner_, reply.cause);
  act(fsm_.on_attempt(now, reply));
}

void AcquireOp::finish(AcquireAction action) noexcept {
  state_ = State::finished;
  alarm_.cancel();
  on_stop_.reset();
  if (fsm_.place().known()) target_->waited(fsm_.place());
  if (const std::optional<Retained> unwanted = target_->leave(*this)) give_up(*unwanted->tenancy);
  use_.reset();
  if (action.undo) {
    target_->undo(owner_, undone_for());
  } else if (asked_ && !under_way_) {
    target_->withdraw(owner_, lease_.length);
  }
  wait_.end(*target_, owner_, action.error);
  const TimePoint now = Clock::now();
  if (action.error) report_failed(*target_, action.error, now - started_);
  if (!action.error) {
    report_granted(runtime_->reporter(), *held_,
                   {now - started_, fsm_.contended(), wait_.waiting(now), wait_.since_woken(now)});
  }
  const std::shared_ptr<AcquireOp> self = std::move(self_);
  const std::shared_ptr<Claim> held = std::move(held_);
  if (action.error && held) give_up(*held);
  try {
    if (explanation_ && action.error == Errc::timed_out) action.cause = explanation_->text(Clock::now(), action.cause);
  } catch (...) {
    // Out of memory: without the explanation.
  }
  try {
    done({action.error ? nullptr : held, action.error, std::move(action.cause), action.may_pass});
  } catch (...) {
    if (held) give_up(*held);  // it could not be delivered
  }
  if (held && !target_->plan().traits.holds) let_stand(*held);
}

void AcquireOp::drop() {
  state_ = State::finished;
  scheduled_.store(true);  // nothing is posted from now on
  on_stop_.reset();
  alarm_.cancel();
  use_.reset();
  const std::shared_ptr<AcquireOp> self = std::move(self_);
}

}  // namespace holdfast::engine
