// SPDX-License-Identifier: Apache-2.0
#include "sim/shrink.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::test::sim {
namespace {

class Shrinking {
 public:
  Shrinking(Plan plan, const Verdict& verdict, std::size_t most)
      : plan_(std::move(plan)), verdict_(verdict), left_(most), promise_(verdict(plan_)) {}

  Plan go() {
    if (promise_.empty()) return plan_;
    Plan before;
    do {
      before = plan_;
      drop_clients();
      drop_parts(&Plan::faults);
      drop_parts(&Plan::actions);
      simplify_actions();
      shorten();
    } while (plan_ != before && left_ > 0);
    return plan_;
  }

 private:
  /// True: it fails as before, and is the plan from now on.
  bool accept(Plan candidate) {
    if (candidate == plan_ || left_ == 0) return false;
    --left_;
    if (verdict_(candidate) != promise_) return false;
    plan_ = std::move(candidate);
    return true;
  }

  /// What they do; they themselves stay, so that numbers mean the same.
  void drop_clients() {
    for (std::size_t i = 0; i < plan_.clients.size(); ++i) {
      Plan candidate = plan_;
      std::erase_if(candidate.actions, [i](const Action& each) { return each.client == static_cast<int>(i); });
      std::erase_if(candidate.faults,
                    [i](const Fault& each) { return !each.of_server() && each.client == static_cast<int>(i); });
      accept(std::move(candidate));
    }
    while (plan_.clients.size() > 1) {
      Plan candidate = plan_;
      const int last = static_cast<int>(candidate.clients.size()) - 1;
      candidate.clients.pop_back();
      if (std::any_of(plan_.actions.begin(), plan_.actions.end(), [last](const Action& a) { return a.client == last; }))
        return;
      if (!accept(std::move(candidate))) return;
    }
  }

  /// In halves, quarters, and so on.
  template <class Part>
  void drop_parts(std::vector<Part> Plan::* parts) {
    for (std::size_t length = (plan_.*parts).size(); length > 0; length /= 2) {
      for (std::size_t begin = 0; begin < (plan_.*parts).size();) {
        Plan candidate = plan_;
        std::vector<Part>& all = candidate.*parts;
        const std::size_t end = std::min(begin + length, all.size());
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end));
        if (!accept(std::move(candidate))) begin = end;
      }
    }
  }

  template <class Change>
  void change_action(std::size_t index, Change change) {
    Plan candidate = plan_;
    change(candidate.actions[index]);
    accept(std::move(candidate));
  }
  void simplify_actions() {
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      change_action(i, [](Action& action) { action.cancel = Action::Cancel::never; });
      change_action(i, [](Action& action) { action.max_hold.reset(); });
      change_action(i, [](Action& action) { action.lease = {}; });
      change_action(i, [](Action& action) { action.extended_to = {}; });
      change_action(i, [](Action& action) { action.fixed = action.extended_to.count() > 0; });
      change_action(i, [](Action& action) { action.end = Action::End::release; });
    }
  }

  template <class Time>
  void halve(Time time) {
    for (milliseconds before = time(plan_); before.count() > 0; before = time(plan_)) {
      Plan candidate = plan_;
      time(candidate) = before / 2;
      if (!accept(std::move(candidate))) return;
    }
  }
  void shorten() {
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      halve([i](Plan& plan) -> milliseconds& { return plan.actions[i].pause; });
      halve([i](Plan& plan) -> milliseconds& { return plan.actions[i].hold; });
    }
    for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
      halve([i](Plan& plan) -> milliseconds& { return plan.faults[i].lasts; });
      halve([i](Plan& plan) -> milliseconds& { return plan.faults[i].amount; });
    }
  }

  Plan plan_;
  const Verdict& verdict_;
  std::size_t left_;
  const std::string promise_;
};

}  // namespace

Plan shrink(Plan plan, const Verdict& verdict, std::size_t most) {
  return Shrinking(std::move(plan), verdict, most).go();
}

}  // namespace holdfast::test::sim
