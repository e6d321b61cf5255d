#include "engine/acquire.hpp"

#include <condition_variable>
#include <random>

#include <holdfast/error.hpp>

#include "engine/core.hpp"

namespace holdfast::engine {
namespace {

using base::Clock;

/// Where everything that concerns one waiting call arrives: signals of the target, the stop token, the attempt's reply.
class Mailbox final : public Waiter {
 public:
  struct Mail {
    std::optional<Attempt> reply;
    std::shared_ptr<HeldLock> held;
    bool turn = false, wake = false, stopped = false, closed = false;
  };

  void post(Signal signal) override {
    const std::scoped_lock guard(mutex_);
    if (signal == Signal::turn) mail_.turn = true;
    if (signal == Signal::wake) mail_.wake = true;
    if (signal == Signal::closed) mail_.closed = true;
    arrived_.notify_one();
  }

  void stop() {
    const std::scoped_lock guard(mutex_);
    mail_.stopped = true;
    arrived_.notify_one();
  }

  /// An attempt goes out: what was known before it is covered by it.
  void begin_attempt() {
    const std::scoped_lock guard(mutex_);
    mail_.wake = false;
    claimed_ = false;
  }

  /// The attempt's reply is here and its receiver may act on it. False: the caller has gone, undo the attempt.
  bool claim() {
    const std::scoped_lock guard(mutex_);
    claimed_ = open_;
    return open_;
  }

  void deliver(Attempt reply, std::shared_ptr<HeldLock> held) {
    const std::scoped_lock guard(mutex_);
    mail_.reply = std::move(reply);
    mail_.held = std::move(held);
    arrived_.notify_one();
  }

  /// The caller goes while an attempt is under way. False: too late, its reply is about to be delivered.
  bool abandon() {
    const std::scoped_lock guard(mutex_);
    if (claimed_) return false;
    open_ = false;
    return true;
  }

  /// Waits for signals until `until`, then takes them. `wanted` says which mail ends the wait.
  template <class Wanted>
  Mail take_signals(TimePoint until, Wanted wanted) {
    std::unique_lock guard(mutex_);
    const auto ready = [&] { return wanted(mail_); };
    if (until == TimePoint::max()) {
      arrived_.wait(guard, ready);
    } else {
      arrived_.wait_until(guard, until, ready);
    }
    Mail taken = mail_;
    mail_.turn = mail_.wake = false;
    return taken;
  }

  /// Waits for the attempt's reply, which the lane delivers within the attempt's time limit, or for a reason to leave.
  /// A wake that comes meanwhile stays: it may tell of a release just after the server looked.
  template <class Wanted>
  Mail take_reply(Wanted wanted) {
    std::unique_lock guard(mutex_);
    arrived_.wait(guard, [&] { return wanted(mail_); });
    Mail taken = mail_;
    mail_.reply.reset();
    mail_.held.reset();
    return taken;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  Mail mail_;             // guarded by mutex_; `stopped` and `closed` stay
  bool open_ = true;      // guarded by mutex_
  bool claimed_ = false;  // guarded by mutex_
};

double random_share() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::generate_canonical<double, 32>(random);
}

/// One acquire call: carries out what the machine says, on the calling thread.
class Shell {
 public:
  Shell(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target, const AcquireOptions& options,
        NoLimit no_limit)
      : core_(core),
        target_(target),
        options_(options),
        lease_(core->lease_terms(options, target->name())),
        owner_(core->make_owner()),
        started_(Clock::now()),
        fsm_(terms(options, no_limit), started_) {}

  Acquired run() {
    const std::stop_callback on_stop(options_.stop, [box = box_] { box->stop(); });
    const Place place(*this);
    if (core_->unusable()) box_->post(Waiter::Signal::closed);  // closed while we entered
    AcquireAction action = fsm_.start();
    while (action.kind != AcquireAction::Kind::finish) action = carry_out(action);
    if (action.undo) target_->undo(*core_, owner_, lease_.length);
    report(action);
    return {action.error ? nullptr : held_, action.error, action.cause};
  }

 private:
  /// The place in the target's queue, left in every exit.
  struct Place {
    explicit Place(Shell& owner) : shell(owner) { shell.target_->enter(*shell.box_); }
    ~Place() { shell.target_->leave(*shell.box_); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    Shell& shell;
  };

  AcquireTerms terms(const AcquireOptions& options, NoLimit no_limit) const {
    const Config& config = core_->config();
    AcquireTerms terms;
    terms.once = options.wait ? options.wait->count() <= 0 : no_limit == NoLimit::ask_once;
    // A limit beyond the longest lease is none: `max()` is how callers say "for ever", and must not overflow.
    if (!terms.once && options.wait && *options.wait < kLongestLease) terms.wait = *options.wait;
    terms.command_timeout = config.command_timeout;
    terms.patience = config.patience;
    terms.safety_poll = config.safety_poll;
    if (!target_->plan().announced) terms.poll = AcquireTerms::Poll{config.poll_min, config.poll_max};
    terms.jitter = random_share();
    return terms;
  }

  AcquireAction carry_out(const AcquireAction& action) {
    if (action.kind == AcquireAction::Kind::attempt) return attempt(action);
    const bool for_turn = action.kind == AcquireAction::Kind::wait_turn;
    const bool for_wake = action.kind == AcquireAction::Kind::wait;
    const Mailbox::Mail mail = box_->take_signals(action.until, [&](const Mailbox::Mail& m) {
      return m.stopped || m.closed || (for_turn && m.turn) || (for_wake && m.wake);
    });
    const TimePoint now = Clock::now();
    if (mail.closed) return fsm_.on_stop(core_->in_child() ? Errc::forked : Errc::closed);
    if (mail.stopped) return fsm_.on_stop(Errc::cancelled);
    if (for_turn && mail.turn) return fsm_.on_turn(now, target_->view());
    if (for_wake && mail.wake) return fsm_.on_wake(now, target_->view());
    return fsm_.on_time(now, target_->view());
  }

  AcquireAction attempt(const AcquireAction& action) {
    Target::Order order{owner_, lease_.length, action.timeout, action.subscribe || target_->subscribed()};
    if (order.subscribe && !use_) use_ = target_->begin_use();
    if (fsm_.safety_polling()) Reporter::add(core_->reporter().count.safety_polls);
    box_->begin_attempt();
    Target::AttemptDone handler = on_result();
    // The handler counts as pending work from here on: either close() waits for it, or its flag is seen now.
    if (const std::error_code error = core_->unusable()) return fsm_.on_stop(error);
    target_->attempt(*core_, std::move(order), std::move(handler));
    Mailbox::Mail mail = box_->take_reply([](const Mailbox::Mail& m) { return m.reply || m.stopped || m.closed; });
    if (!mail.reply) {
      if (box_->abandon()) return fsm_.on_stop(mail.closed ? Errc::closed : Errc::cancelled);
      mail = box_->take_reply([](const Mailbox::Mail& m) { return m.reply.has_value(); });
    }
    return on_reply(*mail.reply, mail.held);
  }

  AcquireAction on_reply(const Attempt& reply, const std::shared_ptr<HeldLock>& held) {
    held_ = held;
    const bool granted = reply.kind == Attempt::Kind::granted;
    if (fsm_.safety_polling()) {
      if (granted) Reporter::add(core_->reporter().count.safety_poll_wakes);
      core_->reporter().tell(&Observer::on_safety_poll, [&] { return SafetyPollEvent{target_->name(), granted}; });
    }
    if (reply.kind == Attempt::Kind::unknown) {
      Reporter::add(core_->reporter().count.unknown);
      core_->reporter().tell(&Observer::on_unknown,
                             [&] { return UnknownEvent{target_->name(), owner_.text, "acquire", reply.cause}; });
    }
    return fsm_.on_attempt(Clock::now(), reply);
  }

  /// Runs on the connection's thread. A grant is armed right there, before the caller has even woken up, so there is no
  /// moment in which a hold stands that the watchdog does not know.
  Target::AttemptDone on_result() {
    return [box = box_, core = core_, target = target_, lease = lease_, on_lost = options_.on_lost,
            pending = core_->pending().begin()](Attempt reply) {
      if (reply.kind == Attempt::Kind::granted && Clock::now() >= lease_end(reply.sent_at, lease.length)) {
        // Nobody can say whether it still stands: the next attempt, by the same owner, takes it again or finds it
        // taken.
        reply.kind = Attempt::Kind::unknown;
        reply.error = Errc::unknown_outcome;
        reply.cause = "the grant came after its lease of " + std::to_string(lease.length.count()) + " ms was over";
      }
      const bool granted = reply.kind == Attempt::Kind::granted;
      if (!box->claim()) {
        if (granted || reply.kind == Attempt::Kind::unknown) target->undo(*core, reply.owner, lease.length);
        return;
      }
      std::shared_ptr<HeldLock> held;
      if (granted) {
        held = std::make_shared<HeldLock>(core, target, reply.owner, reply.sent_at, lease, on_lost);
        target->set_holder(held);
        core->watchdog().arm(held);
      }
      box->deliver(std::move(reply), std::move(held));
    };
  }

  void report(const AcquireAction& action) const {
    Reporter& reporter = core_->reporter();
    if (!action.error) {
      Reporter::add(reporter.count.granted);
      if (fsm_.contended()) Reporter::add(reporter.count.contended);
      reporter.tell(&Observer::on_granted, [&] {
        return GrantedEvent{target_->name(), held_->owner().text, Clock::now() - started_, fsm_.contended()};
      });
      return;
    }
    const bool not_granted =
        action.error == Errc::busy || action.error == Errc::timed_out || action.error == Errc::cancelled;
    Reporter::add(not_granted ? reporter.count.not_granted : reporter.count.failed);
  }

  const std::shared_ptr<Core>& core_;
  const std::shared_ptr<Target>& target_;
  const AcquireOptions& options_;
  const LeaseTerms lease_;
  const wire::Owner owner_;
  const TimePoint started_;
  AcquireFsm fsm_;
  const std::shared_ptr<Mailbox> box_ = std::make_shared<Mailbox>();
  std::shared_ptr<HeldLock> held_;
  Target::Use use_;  // of the wake channels
};

}  // namespace

Acquired acquire(const std::shared_ptr<Core>& core, const std::shared_ptr<Target>& target,
                 const AcquireOptions& options, NoLimit no_limit) {
  if (const std::error_code error = core->unusable()) return {nullptr, error, {}};
  if (options.stop.stop_requested()) return {nullptr, Errc::cancelled, {}};
  return Shell(core, target, options, no_limit).run();
}

}  // namespace holdfast::engine
