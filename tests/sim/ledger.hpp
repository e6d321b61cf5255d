// SPDX-License-Identifier: Apache-2.0
// What is counted, in a run's own books: the permits of semaphores and the steps of latches, against the number that
// the server has. Whatever is lost, is sent again, or is given up: no permit and no step is ever created or lost.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan.hpp"
#include "sim/process.hpp"
#include "sim/world.hpp"

namespace holdfast::test::sim {

class Ledger {
 public:
  struct Sight {
    std::function<std::int64_t(int lock)> number{};  ///< That the server has; 0: there is none.
    std::function<std::int64_t(int lock)> leased{};  ///< Permits that are held, those whose lease is over included.
  };
  Ledger(World& world, const Plan& plan, Sight sight);

  // ---- a semaphore's permits, which belong to nobody ----
  struct Use {
    enum class State { asking, in_hand, giving, given_up };
    int lock = 0;
    std::int64_t permits = 1;
    const Process* process = nullptr;
    State state = State::asking;
    base::TimePoint since{};
    bool cut_short = false;  // its client was closed meanwhile
  };
  using UseId = std::list<Use>::iterator;
  UseId asks(int lock, std::int64_t permits, const Process& process);
  void got(UseId use) { enter(use, Use::State::in_hand); }
  /// What it may have taken comes back.
  void got_nothing(UseId use);
  void gives(UseId use) { enter(use, Use::State::giving); }
  /// `known`: that it was given back.
  void gave(UseId use, bool known);

  // ---- a latch's steps ----
  void steps(int lock, std::int64_t steps) { accounts_[static_cast<std::size_t>(lock)].begun += steps; }
  void stepped(int lock, std::int64_t steps) { accounts_[static_cast<std::size_t>(lock)].made += steps; }
  /// Somebody who has waited goes on.
  void passes(int lock);

  /// What it has under way is not brought to its end by anybody.
  void killed(const Process& process);
  /// Perhaps neither.
  void closed(const Process& process);

  /// After each event; and once nothing is under way any more.
  void look() { look_at_all(false); }
  void look_at_rest() { look_at_all(true); }
  /// One that was found, and what it is.
  struct Finding {
    std::string promise, what;
  };
  const std::optional<Finding>& finding() const { return finding_; }

  /// Of a leased semaphore: there, held, and over are as many as there should be.
  bool adds_up(int lock) const {
    return sight_.number(lock) + sight_.leased(lock) == accounts_[static_cast<std::size_t>(lock)].total;
  }

 private:
  struct Account {
    std::int64_t total = 0;
    std::int64_t gone = 0, perhaps_gone = 0;  // permits, with somebody who was killed
    std::int64_t begun = 0, made = 0;         // steps
  };
  void enter(UseId use, Use::State state);
  void look_at_all(bool at_rest);
  void look_at_semaphore(int lock, const Account& account, bool at_rest);
  void look_at_permits(int lock, const Account& account);
  void look_at_latch(int lock, const Account& account);
  void found(std::string promise, std::string what);

  World& world_;
  const Plan& plan_;
  const Sight sight_;
  std::list<Use> uses_;
  std::vector<Account> accounts_;  // by lock
  std::optional<Finding> finding_;
};

}  // namespace holdfast::test::sim
