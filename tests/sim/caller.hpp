// SPDX-License-Identifier: Apache-2.0
// One after another, what a caller of a client does.
#pragma once

#include <deque>
#include <memory>

#include "sim/member.hpp"

namespace holdfast::test::sim {

class Member::Caller {
 public:
  Caller(Member& member, std::deque<Action> actions) : member_(member), actions_(std::move(actions)) {}

  /// Takes the next of its actions. In the member's process.
  void next();
  /// Its process was killed: what was under way will not go on.
  void forget();
  bool writes() const { return turn_ && turn_->leaving && !turn_->belief->ended; }

 private:
  /// An action under way; its handlers keep it alive.
  struct Turn {
    Action action;
    boost::asio::cancellation_signal cancel;
    std::stop_source stop;
    std::optional<Judge::CallId> call;
    Judge::BeliefPtr belief;
    Hold hold;
    std::optional<Ledger::UseId> use{};  // of a semaphore
    std::uint64_t read = 0;
    bool answered = false;
    bool leaving = false;  // it writes, and then releases
  };
  using TurnPtr = std::shared_ptr<Turn>;

  bool mine(const TurnPtr& turn) const { return turn == turn_; }
  Stage& stage() const { return member_.stage_; }
  Process& process() const { return *member_.process_; }
  std::optional<base::Duration> bound(const Action& action) const;
  void begin(const TurnPtr& turn);
  void ask(const TurnPtr& turn);
  void cancel(const TurnPtr& turn);
  void on_answer(const TurnPtr& turn, const Failure& failure, std::optional<Hold> hold);
  void fail(const Turn& turn, const Failure& failure);
  bool is_expected_of_all(Errc code, std::string_view words) const;
  bool is_expected_of_site(Errc code, std::string_view words) const;
  bool is_expected_of_faults(Errc code) const;
  void enter(const TurnPtr& turn);
  void extend(const TurnPtr& turn);
  void on_lost(const TurnPtr& turn, LossReason reason);
  void leave(const TurnPtr& turn);
  void read(const Turn& turn);
  void write(const Turn& turn);
  void release(const TurnPtr& turn);
  Register& guarded(const Turn& turn) const;
  // Of what is counted: caller_counting.cpp.
  void count(const TurnPtr& turn);
  void take_permits(const TurnPtr& turn);
  void give_permits(const TurnPtr& turn);
  void wait_for_latch(const TurnPtr& turn);
  void step(const TurnPtr& turn);
  void cancel_later(const TurnPtr& turn);

  Member& member_;
  std::deque<Action> actions_;
  TurnPtr turn_;
};

}  // namespace holdfast::test::sim
