// SPDX-License-Identifier: Apache-2.0
// What a caller does with what is counted, which nobody holds: a semaphore's permits and a latch's steps.
#include <boost/asio/bind_cancellation_slot.hpp>

#include "sim/caller.hpp"

namespace holdfast::test::sim {

void Member::Caller::count(const TurnPtr& turn) {
  if (stage().plan.kind == LockKind::semaphore) {
    take_permits(turn);
  } else if (turn->action.reads) {
    wait_for_latch(turn);
  } else {
    return step(turn);
  }
  // Those that count are cancelled by their slot alone.
  turn->action.cancel = turn->action.cancel == Action::Cancel::never ? Action::Cancel::never : Action::Cancel::by_slot;
  cancel_later(turn);
}

void Member::Caller::take_permits(const TurnPtr& turn) {
  const Action& action = turn->action;
  stage().say(process(), "asks for " + std::to_string(action.number) + " permits of " + std::to_string(action.lock));
  turn->use = stage().ledger.asks(action.lock, action.number, process());
  turn->call = stage().judge.begin("an acquire of client " + std::to_string(member_.index()), process(), bound(action),
                                   action.lock);
  member_.semaphore(action.lock)
      .async_try_acquire_for(
          *action.wait, static_cast<std::uint32_t>(action.number),
          boost::asio::bind_cancellation_slot(turn->cancel.slot(), [this, turn](const Failure& failure, bool taken) {
            turn->answered = true;
            stage().judge.end(*turn->call);
            stage().say(process(), taken ? "has its permits" : "has no permits");
            if (failure) fail(*turn, failure);
            if (!taken) {
              stage().ledger.got_nothing(*turn->use);
              return next();
            }
            ++stage().deeds.grants;
            stage().ledger.got(*turn->use);
            process().after(turn->action.hold, [this, turn] {
              if (mine(turn)) give_permits(turn);
            });
          }));
}

void Member::Caller::give_permits(const TurnPtr& turn) {
  stage().say(process(), "gives its permits back");
  stage().ledger.gives(*turn->use);
  turn->call = stage().judge.begin("a release of client " + std::to_string(member_.index()), process(), std::nullopt);
  member_.semaphore(turn->action.lock)
      .async_release(turn->action.number, [this, turn](const Failure& failure, bool given) {
        stage().judge.end(*turn->call);
        stage().ledger.gave(*turn->use, !failure);
        stage().say(process(), failure ? std::string("its permits: ") + failure.what() : "its permits are back");
        if (failure) fail(*turn, failure);
        if (!failure && !given && !stage().plan.forgets())
          stage().judge.violated("lost", "there is no semaphore any more");
        next();
      });
}

void Member::Caller::wait_for_latch(const TurnPtr& turn) {
  const Action& action = turn->action;
  stage().say(process(), "waits for latch " + std::to_string(action.lock));
  turn->call =
      stage().judge.begin("a wait of client " + std::to_string(member_.index()), process(), bound(action), action.lock);
  member_.latch(action.lock)
      .async_wait_for(
          *action.wait,
          boost::asio::bind_cancellation_slot(turn->cancel.slot(), [this, turn](const Failure& failure, bool open) {
            turn->answered = true;
            stage().judge.end(*turn->call);
            stage().say(process(), open ? "passes the latch" : "has not passed the latch");
            if (failure) fail(*turn, failure);
            if (open) {
              ++stage().deeds.grants;
              stage().ledger.passes(turn->action.lock);
            }
            next();
          }));
}

void Member::Caller::step(const TurnPtr& turn) {
  const Action& action = turn->action;
  stage().say(process(), "makes " + std::to_string(action.number) + " steps of latch " + std::to_string(action.lock));
  stage().ledger.steps(action.lock, action.number);
  turn->call = stage().judge.begin("a step of client " + std::to_string(member_.index()), process(), std::nullopt);
  member_.latch(action.lock).async_count_down(action.number, [this, turn](const Failure& failure, std::int64_t left) {
    stage().judge.end(*turn->call);
    stage().say(process(), failure ? std::string("its steps: ") + failure.what()
                                   : "its steps are made; " + std::to_string(left) + " are left");
    if (failure) {
      fail(*turn, failure);
    } else {
      stage().ledger.stepped(turn->action.lock, turn->action.number);
    }
    next();
  });
}

}  // namespace holdfast::test::sim
