// SPDX-License-Identifier: Apache-2.0
#include "sim/caller.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>

#include <holdfast/detail/hold_access.hpp>

namespace holdfast::test::sim {
namespace {

using namespace std::chrono_literals;

/// A write arrives so long after the look at valid_for(), which must say more than that.
constexpr milliseconds kWrite{5};
/// An attempt that has just begun may take so long, however little is left, and so may its acks.
constexpr milliseconds kAttempt{50};

}  // namespace

void Member::Caller::next() {
  turn_.reset();
  if (actions_.empty()) {
    ++member_.callers_done_;
    return;
  }
  turn_ = std::make_shared<Turn>();
  turn_->action = actions_.front();
  actions_.pop_front();
  process().after(turn_->action.pause, [this, turn = turn_] {
    if (mine(turn)) begin(turn);
  });
}

void Member::Caller::forget() {
  if (!turn_) return;
  if (turn_->belief) turn_->belief->ended = true;
  turn_->hold = {};
  turn_.reset();
}

std::optional<base::Duration> Member::Caller::bound(const Action& action) const {
  if (!action.wait) return std::nullopt;
  const ClientPlan& plan = member_.plan();
  return (action.wait->count() > 0 ? *action.wait : plan.command_timeout) + (plan.acks.wanted() ? 2 : 1) * kAttempt;
}

void Member::Caller::begin(const TurnPtr& turn) {
  ++stage().deeds.calls;
  if (stage().plan.sabotage == Sabotage::no_lock) {
    turn->belief = stage().judge.entered(turn->action.lock, member_.index(), process());
    return enter(turn);
  }
  if (stage().plan.kind >= LockKind::semaphore) return count(turn);
  stage().say(process(), "asks for lock " + std::to_string(turn->action.lock));
  // A certain one of several may be taken while another one is free.
  const bool certain = stage().plan.kind == LockKind::any && turn->action.reads;
  turn->call = stage().judge.begin("an acquire of client " + std::to_string(member_.index()), process(),
                                   bound(turn->action), certain ? -1 : turn->action.lock);
  ask(turn);
  cancel_later(turn);
}

void Member::Caller::cancel_later(const TurnPtr& turn) {
  if (turn->action.cancel == Action::Cancel::never) return;
  process().after(turn->action.cancel_after, [this, turn] {
    if (mine(turn) && !turn->answered) cancel(turn);
  });
}

void Member::Caller::ask(const TurnPtr& turn) {
  const Action& action = turn->action;
  AcquireOptions options;
  options.wait = action.wait;
  options.max_hold = action.max_hold;
  const auto length = action.lease.count() > 0 ? std::optional(action.lease) : std::nullopt;
  options.lease = Lease(action.fixed ? Lease::Kind::fixed : Lease::Kind::renewed, length);
  if (action.cancel == Action::Cancel::by_token) options.stop = turn->stop.get_token();
  options.on_lost = [this, turn](const LostEvent& event) { on_lost(turn, event.reason); };
  const auto slot = [&turn](auto handler) {
    return boost::asio::bind_cancellation_slot(turn->cancel.slot(), std::move(handler));
  };
  const BasicLock& lock = action.reads || action.number > 1 ? member_.reader(action.lock) : member_.lock(action.lock);
  if (action.call == Action::Call::acquire) {
    lock.async_acquire(options, slot([this, turn](const Failure& failure, Hold hold) {
                         on_answer(turn, failure, failure ? std::optional<Hold>() : std::optional(std::move(hold)));
                       }));
  } else {
    lock.async_try_acquire(options, slot([this, turn](const Failure& failure, MaybeHold hold) {
                             on_answer(turn, failure, std::move(hold));
                           }));
  }
}

void Member::Caller::cancel(const TurnPtr& turn) {
  stage().say(process(), "cancels");
  stage().judge.limit(*turn->call, {});
  if (turn->action.cancel == Action::Cancel::by_token) {
    turn->stop.request_stop();
  } else {
    turn->cancel.emit(boost::asio::cancellation_type::terminal);
  }
}

void Member::Caller::on_answer(const TurnPtr& turn, const Failure& failure, std::optional<Hold> hold) {
  turn->answered = true;
  stage().judge.end(*turn->call);
  if (!hold) {
    const std::string why = failure ? failure.what() : "busy";
    stage().say(process(), "is not granted: " + why);
    if (failure) fail(*turn, failure);
    return next();
  }
  turn->hold = std::move(*hold);
  const auto& held = detail::HoldAccess::held(turn->hold);
  turn->belief = stage().judge.granted(turn->action.lock, member_.index(), process(), held, turn->hold);
  if (stage().trace) {
    stage().say(process(), "is granted as " + turn->belief->owner + ", valid for " +
                               std::to_string(turn->hold.valid_for().count()) + " ms");
  }
  ++stage().deeds.grants;
  enter(turn);
}

/// Nobody may fail for another reason than there is.
void Member::Caller::fail(const Turn& turn, const Failure& failure) {
  const auto code = static_cast<Errc>(failure.code().value());
  ++stage().deeds.failures[static_cast<std::size_t>(code)];
  const bool limited = turn.action.wait.has_value();
  // Where servers lose what they have not replicated, permits get lost, too.
  const bool in_vain = code == Errc::busy || code == Errc::timed_out || code == Errc::not_set || code == Errc::too_few;
  const bool expected = (in_vain && limited) ||
                        (code == Errc::cancelled && turn.action.cancel != Action::Cancel::never) ||
                        is_expected_of_all(code, failure.what());
  if (!expected) stage().judge.violated("failure", std::string("an acquire has failed: ") + failure.what());
}

bool Member::Caller::is_expected_of_all(Errc code, std::string_view words) const {
  return code == Errc::unreachable || code == Errc::unknown_outcome || (code == Errc::closed && member_.reopened()) ||
         is_expected_of_site(code, words) || is_expected_of_faults(code);
}

bool Member::Caller::is_expected_of_site(Errc code, std::string_view words) const {
  switch (stage().plan.site) {
    case Site::server:
      return false;
    case Site::independent:
      return code == Errc::no_quorum;
    case Site::cluster:
      if (code == Errc::server_error && words.find("CLUSTERDOWN") != words.npos) return true;
      // A slot that moves for longer than a client is patient, key by key, of which these kinds have several.
      if (code == Errc::server_error && words.find("TRYAGAIN") != words.npos)
        return stage().plan.kind >= LockKind::fenced;
      // What a process that stood still reads behind the command's time limit is followed no more. After `patience`
      // that is it.
      if (code == Errc::server_error && (words.find("MOVED ") != words.npos || words.find("ASK ") != words.npos))
        return stage().plan.has(Fault::Kind::pause);
      if (code == Errc::no_quorum && stage().plan.kind == LockKind::multi) return true;
      break;
    case Site::sentinels:
      break;
  }
  return code == Errc::durability_not_met || code == Errc::read_only;
}

bool Member::Caller::is_expected_of_faults(Errc code) const {
  const Plan& plan = stage().plan;
  const bool refused = code == Errc::server_error || code == Errc::denied;
  return (code == Errc::out_of_memory && plan.has(Fault::Kind::full_memory)) ||
         (code == Errc::denied && plan.has(Fault::Kind::withdraw)) || (refused && plan.has(Fault::Kind::answer_errors));
}

/// What its hold guards.
Register& Member::Caller::guarded(const Turn& turn) const {
  const std::vector<std::string> keys = stage().plan.keys(turn.action.lock);
  const std::size_t first = static_cast<std::size_t>(turn.action.lock) * keys.size();
  const auto which = stage().plan.kind == LockKind::any ? std::ranges::find(keys, turn.belief->name) - keys.begin() : 0;
  return stage().registers[first + static_cast<std::size_t>(which)];
}

void Member::Caller::enter(const TurnPtr& turn) {
  turn->read = guarded(*turn).value;
  process().after(turn->action.hold, [this, turn] {
    if (mine(turn) && !turn->belief->ended) leave(turn);
  });
  if (turn->action.extended_to.count() == 0 || stage().plan.sabotage == Sabotage::no_lock) return;
  process().after(turn->action.extended_after, [this, turn] {
    if (mine(turn) && !turn->belief->ended) extend(turn);
  });
}

/// Sets its lease again. What the hold believes of it then, the judge compares with the server.
void Member::Caller::extend(const TurnPtr& turn) {
  stage().say(process(), "extends it to " + std::to_string(turn->action.extended_to.count()) + " ms");
  const Judge::CallId call = stage().judge.begin("an extension of client " + std::to_string(member_.index()), process(),
                                                 member_.plan().command_timeout);
  turn->hold.async_extend(turn->action.extended_to, [this, call](const Failure& failure) {
    stage().judge.end(call);
    stage().say(process(), std::string("its extension ends: ") + (failure ? failure.what() : "extended"));
    const auto code = static_cast<Errc>(failure.code().value());
    if (failure && code != Errc::lost && !is_expected_of_all(code, failure.what())) {
      stage().judge.violated("failure", std::string("an extension has failed: ") + failure.what());
    }
  });
}

void Member::Caller::on_lost(const TurnPtr& turn, LossReason reason) {
  ++stage().deeds.losses[static_cast<std::size_t>(reason)];
  stage().say(process(), std::string("is told of a loss: ") + to_string(reason));
  // The notice may be on its way before the grant is, and after the release.
  if (!turn->belief || turn->belief->ended) return;
  stage().judge.told(*turn->belief);
  if (mine(turn) && turn->action.heeds_loss) leave(turn);
}

void Member::Caller::leave(const TurnPtr& turn) {
  if (stage().plan.sabotage == Sabotage::no_lock) {
    turn->belief->ended = true;
    write(*turn);
    return next();
  }
  if (turn->leaving) return;
  turn->leaving = true;
  // Permits guard nothing that only one may write.
  if (turn->hold.valid_for() <= 2 * kWrite || stage().plan.kind == LockKind::permits) return release(turn);
  if (turn->action.reads && stage().plan.kind == LockKind::read_write) {
    read(*turn);
    return release(turn);
  }
  write(*turn);
  process().after(2 * kWrite, [this, turn] {
    if (mine(turn)) release(turn);
  });
}

/// What it reads is what it was when it entered.
void Member::Caller::read(const Turn& turn) {
  const Register& stored = guarded(turn);
  if (stored.value == turn.read || turn.belief->forgotten || stage().plan.forgets()) return;
  stage().judge.violated("register", "lock " + std::to_string(turn.action.lock) + " was written beside a reader");
}

/// It was sent: whatever becomes of the process, it arrives.
void Member::Caller::write(const Turn& turn) {
  Stage& common = stage();
  ++common.deeds.writes;
  const bool excused = turn.belief->forgotten;
  Register& stored = guarded(turn);
  common.world.after(common.world.between({}, kWrite),
                     [&common, &stored, lock = turn.action.lock, read = turn.read, excused] {
                       ++stored.writes;
                       if (stored.value != read && !excused && !common.plan.forgets()) {
                         common.judge.violated("register", "an update of lock " + std::to_string(lock) + " was lost");
                       }
                       stored.value = read + 1;
                     });
}

void Member::Caller::release(const TurnPtr& turn) {
  turn->belief->ended = true;
  stage().say(process(), turn->action.end == Action::End::drop ? "drops it" : "releases it");
  if (turn->action.end == Action::End::drop) {
    turn->hold = {};
    return next();
  }
  turn->call = stage().judge.begin("a release of client " + std::to_string(member_.index()), process(),
                                   member_.plan().release_timeout);
  turn->hold.async_release([this, turn](ReleaseOutcome outcome) {
    stage().judge.end(*turn->call);
    ++stage().deeds.releases[static_cast<std::size_t>(outcome)];
    stage().say(process(), std::string("its release ends: ") + to_string(outcome));
    next();
  });
}

}  // namespace holdfast::test::sim
