// SPDX-License-Identifier: Apache-2.0
// Calls of the fair lock named L, and the states that they meet and leave.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kinds/fair_lock.hpp"
#include "scripts/script_table.hpp"

namespace holdfast::test::fair_lock {

using std::chrono::milliseconds;
using table::State;
namespace fair = wire::fair;

inline constexpr milliseconds kLease{60'000};
/// Long, so that rows can tell it from what has run down.
inline constexpr milliseconds kTurn{100'000};
inline const wire::LockNames kL = fair::names("L");
inline const std::string kQueue = "redisson_lock_queue:{L}", kDeadlines = "redisson_lock_timeout:{L}";
// Of clients of Holdfast, and of one of Redisson.
inline const wire::Owner kX{"11111111-2222-8333-8444-555555555555:1"};
inline const wire::Owner kY{"22222222-2222-8333-8444-555555555555:2"};
inline const wire::Owner kZ{"33333333-2222-8333-8444-555555555555:3"};
inline const wire::Owner kJ{"99999999-2222-4333-8444-555555555555:7"};

inline base::Command ask(const wire::Owner& owner, std::optional<milliseconds> turn = kTurn) {
  wire::AcquireCall call{{&kL, 1}, owner, kLease};
  call.turn = turn;
  return fair::acquire(call);
}
inline base::Command give_back(const wire::Owner& owner, milliseconds turn = kTurn) {
  return fair::release({.names = {&kL, 1}, .owner = owner, .turn = turn});
}
inline base::Command leave(const wire::Owner& owner, milliseconds turn = kTurn) {
  return fair::leave({{&kL, 1}, owner, turn});
}
/// The reply to one who is queued, beside so many others.
inline Reply behind(long long others, long long left) {
  return table::several({table::number(1), table::number(left), table::number(others + 2)});
}

inline State held(const wire::Owner& owner, long long ttl) { return {{"L", table::hash({{owner.text, "1"}}, ttl)}}; }
/// Those who wait, in order, each with its deadline.
inline State with(State state, const std::vector<std::pair<wire::Owner, long long>>& waiters) {
  std::vector<std::string> order;
  std::map<std::string, long long> deadlines;
  for (const auto& [owner, deadline] : waiters) {
    order.push_back(owner.text);
    deadlines[owner.text] = deadline;
  }
  if (!waiters.empty()) {
    state[kQueue] = table::list(order);
    state[kDeadlines] = table::zset(deadlines);
  }
  return state;
}
inline constexpr long long kDay = 86'400'000;
/// With a queue that ends then.
inline State ending(State state, long long ttl) {
  for (const std::string& key : {kQueue, kDeadlines}) state.at(key).ttl = ttl;
  return state;
}
/// As a waiter leaves it that has asked: the queue ends a day after its last deadline.
inline State kept(const State& state) {
  long long last = 0;
  for (const auto& [waiter, deadline] : state.at(kDeadlines).scores) last = std::max(last, deadline);
  return ending(state, last + kDay);
}
inline Message turn_of(const wire::Owner& owner) { return {fair::wake_channel(kL, owner), "0"}; }

}  // namespace holdfast::test::fair_lock
