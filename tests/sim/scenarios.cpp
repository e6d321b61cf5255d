// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "sim/dice.hpp"

namespace holdfast::test::sim {
namespace {

using Kind = Fault::Kind;

/// What a scenario leaves to the dice.
struct Ranges {
  int clients_least = 2, clients_most = 2;
  int callers_most = 1;
  int actions_least = 15, actions_most = 25;  // of each client
  int locks_most = 1;
  int pause_most = 120, hold_most = 150;
  int limited = 20, once = 20, cancelled = 10, fixed = 25, capped = 5;  // in a hundred
  int long_holds = 8;                                                   // beyond a lease or two
  int faults_least = 0, faults_most = 4;
  std::vector<Kind> faults{};
  Site site = Site::server;
  bool all_acks = false;
  std::vector<int> servers{1};                  // one of these
  bool needs_all = false;                       // of them
  std::vector<LockKind> kinds{LockKind::lock};  // one of these
  int pipelined = 0;                            // clients of a hundred
};

ClientPlan make_client(Dice& dice) {
  ClientPlan client;
  client.lease =
      dice.one_of<milliseconds>({milliseconds(300), milliseconds(1000), milliseconds(3000), milliseconds(10000)});
  client.safety_poll = dice.one_of<milliseconds>({milliseconds(500), milliseconds(2000)});
  client.patience = dice.one_of<milliseconds>({milliseconds(2000), milliseconds(15000)});
  client.command_timeout = dice.one_of<milliseconds>({milliseconds(300), milliseconds(1000), milliseconds(3000)});
  client.release_timeout = dice.one_of<milliseconds>({milliseconds(300), milliseconds(3000)});
  client.handoff = dice.one_of<milliseconds>({milliseconds(0), milliseconds(2), milliseconds(20)});
  client.loss_notice = dice.share(50);
  client.named = dice.share(50);
  client.leaves = dice.share(10);
  client.drift_ppm = dice.one_of<int>({0, 0, 4000, -4000, 100});
  return client;
}

Action make_action(Dice& dice, const Ranges& ranges, int client, int callers, int locks) {
  Action action;
  action.client = client;
  action.caller = dice.from(0, callers - 1);
  action.lock = dice.from(0, locks - 1);
  action.pause = dice.time(0, ranges.pause_most);
  action.call = dice.share(50) ? Action::Call::acquire : Action::Call::try_acquire;
  if (dice.share(ranges.once)) {
    action.wait = milliseconds(0);
  } else if (dice.share(ranges.limited)) {
    action.wait = dice.time(1, dice.share(50) ? 100 : 3000);
  }
  if (action.call == Action::Call::try_acquire && !action.wait) action.wait = milliseconds(60'000);
  action.fixed = dice.share(ranges.fixed);
  if (dice.share(30))
    action.lease = dice.one_of<milliseconds>({milliseconds(50), milliseconds(400), milliseconds(2000)});
  if (dice.share(ranges.capped)) action.max_hold = dice.time(10, 1000);
  if (dice.share(ranges.cancelled)) {
    action.cancel = dice.share(50) ? Action::Cancel::by_slot : Action::Cancel::by_token;
    action.cancel_after = dice.time(0, 50);
  }
  action.hold = dice.time(0, dice.share(ranges.long_holds) ? 4000 : ranges.hold_most);
  action.end = dice.share(70) ? Action::End::release : Action::End::drop;
  action.heeds_loss = dice.share(70);
  return action;
}

Fault make_fault(Dice& dice, const Ranges& ranges, const Plan& plan, int span) {
  Fault fault;
  fault.kind = dice.one_of(ranges.faults);
  fault.at = dice.time(0, span);
  fault.client = dice.from(0, static_cast<int>(plan.clients.size()) - 1);
  if (plan.site == Site::cluster) fault.which = dice.from(0, plan.locks - 1);
  if (plan.site == Site::independent) fault.which = dice.from(0, plan.servers - 1);
  switch (fault.kind) {
    case Kind::slow:
      fault.lasts = dice.time(50, 3000);
      fault.amount = dice.time(1, dice.share(50) ? 20 : 800);
      break;
    case Kind::held_back:
    case Kind::refuse:
    case Kind::pause:
    case Kind::freeze:
    case Kind::restart:
    case Kind::lose_data:
    case Kind::kill:
      fault.lasts = dice.time(1, dice.share(60) ? 400 : 6000);
      break;
    case Kind::kill_primary:
    case Kind::freeze_primary:
    case Kind::isolate_primary:
    case Kind::hide_node:
    case Kind::abandon_slot:
      fault.lasts = dice.time(100, 8000);
      break;
    case Kind::cut_replica:
    case Kind::move_slot:
      fault.lasts = dice.time(1, 3000);
      break;
    case Kind::swallow_to_server:
    case Kind::swallow_to_client:
      fault.lasts = dice.time(100, 4000);  // then the connection is found dead
      break;
    case Kind::slow_server:
      fault.lasts = dice.time(50, 3000);
      fault.amount = dice.time(1, dice.share(70) ? 10 : 200);
      break;
    case Kind::full_memory:
      fault.lasts = dice.time(1, 4000);
      break;
    case Kind::withdraw:
    case Kind::answer_errors:
      fault.lasts = dice.time(1, 4000);
      fault.which = dice.from(0, 19);
      break;
    case Kind::clock_back:
    case Kind::clock_ahead:
      fault.amount = dice.time(1, dice.share(50) ? 500 : 20'000);
      break;
    case Kind::older_data:
      fault.lasts = dice.time(1, 500);
      fault.amount = dice.time(10, 2000);
      break;
    default:
      break;
  }
  return fault;
}

/// What is different where something is counted.
void count(Dice& dice, Plan& plan) {
  if (plan.kind == LockKind::permits || plan.kind == LockKind::semaphore) plan.permits = dice.from(2, 4);
  for (Action& action : plan.actions) {
    if (plan.kind == LockKind::any) action.reads = dice.share(20);
    if (plan.kind == LockKind::latch) action.reads = dice.share(50);
    if (plan.kind != LockKind::any) action.number = dice.share(30) ? 2 : 1;
    // What somebody has who is killed is gone, and a latch may never open.
    if (plan.kind >= LockKind::semaphore && !action.wait) action.wait = milliseconds(60'000);
  }
  if (plan.kind < LockKind::semaphore) return;
  // Long enough for all faults there are, so that everything becomes known, and comes back.
  for (ClientPlan& client : plan.clients) client.patience = milliseconds(120'000);
}

/// Acks that do not promise that a failover forgets nothing, so it may.
void ask_for_some_acks(Dice& dice, Plan& plan) {
  const bool has_replicas = plan.site == Site::sentinels || plan.site == Site::cluster;
  if (!dice.share(25) || !has_replicas || plan.kind >= LockKind::semaphore) return;
  for (ClientPlan& client : plan.clients) {
    if (!client.acks.wanted()) client.acks = dice.one_of<Acks>({Acks::none(), Acks::replicas(1), Acks::majority()});
  }
}

/// Often without faults: then the judge sees a message that a client has not made use of.
void speak_resp2(Dice& dice, Plan& plan) {
  if (!dice.share(25)) return;
  for (ClientPlan& client : plan.clients) client.resp2 = dice.share(70);
  if (dice.share(40)) plan.faults.clear();
}

void extend(Dice& dice, Plan& plan) {
  const bool several = plan.kind == LockKind::multi || plan.kind == LockKind::any;
  if (!dice.share(25) || several || plan.kind >= LockKind::semaphore || plan.site == Site::independent) return;
  for (Action& action : plan.actions) {
    if (!action.fixed || !dice.share(50)) continue;
    action.extended_after = dice.time(0, dice.share(50) ? 50 : 300);
    action.extended_to =
        dice.one_of<milliseconds>({milliseconds(50), milliseconds(400), milliseconds(2000), milliseconds(5000)});
    action.hold = std::max(action.hold, action.extended_after + dice.time(0, 500));
  }
}

Plan make(std::string_view name, std::uint64_t seed, const Ranges& ranges) {
  Dice dice(seed * 2 + 1);
  Plan plan;
  plan.scenario = name;
  plan.seed = seed;
  plan.site = ranges.site;
  plan.locks = dice.from(1, ranges.locks_most);
  if (ranges.servers.size() > 1) plan.servers = dice.one_of(ranges.servers);
  const int clients = dice.from(ranges.clients_least, ranges.clients_most);
  int longest = 0;
  for (int client = 0; client < clients; ++client) {
    plan.clients.push_back(make_client(dice));
    if (ranges.all_acks) plan.clients.back().acks = Acks::all();
    const int callers = dice.from(1, ranges.callers_most);
    const int actions = dice.from(ranges.actions_least, ranges.actions_most);
    for (int i = 0; i < actions; ++i) plan.actions.push_back(make_action(dice, ranges, client, callers, plan.locks));
    longest = std::max(longest, actions / callers);
  }
  const int span = longest * (ranges.pause_most + ranges.hold_most);
  const int faults = ranges.faults.empty() ? 0 : dice.from(ranges.faults_least, ranges.faults_most);
  for (int i = 0; i < faults; ++i) plan.faults.push_back(make_fault(dice, ranges, plan, span));
  plan.needs_all = ranges.needs_all;
  if (ranges.kinds.size() > 1) plan.kind = dice.one_of(ranges.kinds);
  if (ranges.kinds.size() == 1) plan.kind = ranges.kinds.front();
  if (plan.kind == LockKind::read_write) {
    for (Action& action : plan.actions) action.reads = dice.share(60);
  }
  if (plan.kind == LockKind::fair) {
    // A process without names that is killed keeps its place for 5 minutes, as one of Redisson's.
    for (ClientPlan& client : plan.clients) client.named = true;
  }
  if (plan.kind >= LockKind::any) count(dice, plan);
  for (ClientPlan& client : plan.clients) client.pipelined = ranges.pipelined > 0 && dice.share(ranges.pipelined);
  std::sort(plan.faults.begin(), plan.faults.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  // By dice of their own: a plan that has none of these is what it was before there were any.
  Dice later(seed * 2 + 1'000'712);
  extend(later, plan);
  ask_for_some_acks(later, plan);
  Dice last(seed * 2 + 3'000'001);
  speak_resp2(last, plan);
  return plan;
}

const std::vector<Kind> kHarmless = {Kind::slow,
                                     Kind::cut,
                                     Kind::held_back,
                                     Kind::swallow_to_server,
                                     Kind::swallow_to_client,
                                     Kind::lose_reply,
                                     Kind::refuse,
                                     Kind::pause,
                                     Kind::reopen,
                                     Kind::kill,
                                     Kind::freeze,
                                     Kind::restart,
                                     Kind::forget_scripts};
const std::vector<Kind> kRefusals = {Kind::slow_server, Kind::full_memory, Kind::withdraw, Kind::answer_errors,
                                     Kind::clock_back};
const std::vector<LockKind> kKinds = {LockKind::lock, LockKind::lock, LockKind::simple, LockKind::multi};
const std::vector<Kind> kForgetful = {Kind::lose_data, Kind::older_data, Kind::flush, Kind::force, Kind::clock_ahead};

const std::vector<Kind> kFailovers = {Kind::cut,       Kind::pause,        Kind::slow,           Kind::kill,
                                      Kind::fail_over, Kind::kill_primary, Kind::freeze_primary, Kind::cut_replica};

const std::vector<Kind> kOfCluster = {
    Kind::cut,          Kind::pause,           Kind::slow,        Kind::kill,
    Kind::fail_over,    Kind::kill_primary,    Kind::cut_replica, Kind::freeze_primary,
    Kind::move_slot,    Kind::move_slot,       Kind::hide_node,   Kind::reopen,
    Kind::abandon_slot, Kind::isolate_primary, Kind::lose_reply,  Kind::forget_scripts};

std::vector<Kind> both(std::vector<Kind> some, const std::vector<Kind>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

const std::vector<LockKind> kLater = {LockKind::fenced, LockKind::read_write, LockKind::fair};

Ranges of_kind(LockKind kind) {
  return {.clients_most = 4,
          .callers_most = 3,
          .actions_least = 8,
          .locks_most = 2,
          .faults_most = 5,
          .faults = kHarmless,
          .kinds = {kind},
          .pipelined = 30};
}

Ranges in_cluster(std::vector<LockKind> kinds, int pipelined = 0) {
  return {.clients_most = 4,
          .callers_most = 2,
          .actions_least = 8,
          .locks_most = 3,
          .faults_least = 1,
          .faults_most = 4,
          .faults = kOfCluster,
          .site = Site::cluster,
          .kinds = std::move(kinds),
          .pipelined = pipelined};
}

Ranges with_all_acks(Ranges ranges) {
  ranges.all_acks = true;
  return ranges;
}

struct Entry {
  Scenario scenario;
  Ranges ranges;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {{"pair", "two clients and one lock, under faults that forget nothing"},
       {.faults_least = 1, .faults = kHarmless, .kinds = kKinds, .pipelined = 30}},
      {{"calm", "several clients with several callers, and no fault"},
       {.clients_most = 4, .callers_most = 3, .actions_least = 8, .locks_most = 2, .kinds = kKinds, .pipelined = 30}},
      {{"crowd", "several clients with several callers, under faults that forget nothing"},
       {.clients_least = 3,
        .clients_most = 5,
        .callers_most = 3,
        .actions_least = 8,
        .actions_most = 15,
        .locks_most = 2,
        .faults_least = 1,
        .faults_most = 6,
        .faults = kHarmless,
        .kinds = kKinds,
        .pipelined = 30}},
      {{"forgetful", "the same, and the server or somebody by force forgets locks"},
       {.clients_most = 4,
        .callers_most = 2,
        .actions_least = 8,
        .faults_least = 1,
        .faults = both(kHarmless, kForgetful),
        .kinds = kKinds,
        .pipelined = 30}},
      {{"refusals", "several clients, a server that refuses, is slow, or has another clock"},
       {.clients_most = 4,
        .callers_most = 2,
        .actions_least = 8,
        .faults_least = 1,
        .faults = both(kRefusals, {Kind::cut, Kind::pause, Kind::kill}),
        .kinds = kKinds,
        .pipelined = 30}},
      {{"sentinel", "several clients, a primary with two replicas and three Sentinels, failovers, no acks"},
       {.clients_most = 4,
        .callers_most = 2,
        .actions_least = 8,
        .faults_least = 1,
        .faults_most = 3,
        .faults = kFailovers,
        .site = Site::sentinels}},
      {{"acks", "the same, and all replicas confirm each grant"},
       {.clients_most = 4,
        .callers_most = 2,
        .actions_least = 8,
        .faults_least = 1,
        .faults_most = 3,
        .faults = kFailovers,
        .site = Site::sentinels,
        .all_acks = true}},
      {{"cluster", "several clients and locks, three primaries with a replica each, slots that move, no acks"},
       in_cluster({LockKind::lock, LockKind::lock, LockKind::multi}, 30)},
      {{"cluster_acks", "the same, and all replicas confirm each grant"},
       with_all_acks(in_cluster({LockKind::lock, LockKind::lock, LockKind::multi}, 30))},
      {{"redlock", "several clients, a majority of three or five servers, faults that forget nothing"},
       {.clients_most = 3,
        .callers_most = 2,
        .actions_least = 8,
        .actions_most = 15,
        .faults_least = 1,
        .faults_most = 5,
        .faults = both(kHarmless, {Kind::hide_node, Kind::freeze, Kind::restart}),
        .site = Site::independent,
        .servers = {3, 5},
        .kinds = kKinds,
        .pipelined = 30}},
      {{"multilock", "several clients, all of two or three servers, faults that forget nothing"},
       {.clients_most = 3,
        .callers_most = 2,
        .actions_least = 8,
        .actions_most = 15,
        .faults_least = 1,
        .faults_most = 5,
        .faults = both(kHarmless, {Kind::hide_node, Kind::freeze, Kind::restart}),
        .site = Site::independent,
        .servers = {2, 3},
        .needs_all = true,
        .pipelined = 30}},
      {{"redlock_losses", "the same, and servers forget locks"},
       {.clients_most = 3,
        .callers_most = 2,
        .actions_least = 8,
        .actions_most = 15,
        .faults_least = 1,
        .faults_most = 5,
        .faults = both(kHarmless, {Kind::hide_node, Kind::lose_data, Kind::older_data, Kind::flush}),
        .site = Site::independent,
        .servers = {3, 5},
        .kinds = kKinds,
        .pipelined = 30}},
      {{"fenced", "clients of a fenced lock, under faults that forget nothing"}, of_kind(LockKind::fenced)},
      {{"read_write", "clients that read and write, under faults that forget nothing"}, of_kind(LockKind::read_write)},
      {{"fair", "clients that queue up, under faults that forget nothing"}, of_kind(LockKind::fair)},
      {{"spin", "clients that ask again and again, under faults that forget nothing"}, of_kind(LockKind::spin)},
      {{"any", "clients that take any one of three, or a certain one, under faults that forget nothing"},
       of_kind(LockKind::any)},
      {{"permits", "clients of a leased semaphore, under faults that forget nothing"}, of_kind(LockKind::permits)},
      {{"semaphore", "clients of a semaphore, under faults that forget nothing"}, of_kind(LockKind::semaphore)},
      {{"latch", "clients that count down a latch, or wait for it, under faults that forget nothing"},
       of_kind(LockKind::latch)},
      {{"kinds_forgetful", "clients of one of these kinds, and the server or somebody by force forgets locks"},
       {.clients_most = 4,
        .callers_most = 2,
        .actions_least = 8,
        .faults_least = 1,
        .faults = both(kHarmless, kForgetful),
        .kinds = kLater}},
      {{"kinds_cluster", "the same in a cluster"}, in_cluster(kLater)},
      {{"any_cluster", "clients that take any one of four in three slots, or a certain one, in a cluster"},
       in_cluster({LockKind::any}, 30)},
      {{"counting_cluster", "clients of leased semaphores, semaphores or latches in a cluster"},
       in_cluster({LockKind::permits, LockKind::semaphore, LockKind::latch})},
  };
  return all;
}

constexpr Scenario kSwarm{"swarm", "one of the others with a few of its faults, more often, and other callers"};

/// What is done seldom hides what is done never: a run without this or that fault or call reaches what others do not.
Ranges swarmed(Ranges ranges, Dice& dice) {
  std::vector<Kind> some;
  for (const Kind kind : ranges.faults) {
    if (dice.share(25)) some.push_back(kind);
  }
  if (some.empty() && !ranges.faults.empty()) some.push_back(dice.one_of(ranges.faults));
  ranges.faults = std::move(some);
  ranges.faults_most = dice.one_of<int>({2, 6, 12});
  for (int* share : {&ranges.limited, &ranges.once, &ranges.cancelled, &ranges.fixed, &ranges.capped,
                     &ranges.long_holds, &ranges.pipelined}) {
    *share = dice.one_of<int>({0, *share, 60});
  }
  ranges.pause_most = dice.one_of<int>({5, 120, 1000});
  ranges.hold_most = dice.one_of<int>({5, 150, 1000});
  return ranges;
}

Plan make_swarm(std::uint64_t seed) {
  Dice dice(seed * 2);
  const Ranges& ranges =
      entries().at(static_cast<std::size_t>(dice.from(0, static_cast<int>(entries().size()) - 1))).ranges;
  return make(kSwarm.name, seed, swarmed(ranges, dice));
}

}  // namespace

const std::vector<Scenario>& scenarios() {
  static const std::vector<Scenario> all = [] {
    std::vector<Scenario> names;
    for (const Entry& each : entries()) names.push_back(each.scenario);
    names.push_back(kSwarm);
    return names;
  }();
  return all;
}

Plan make_plan(std::string_view scenario, std::uint64_t seed) {
  if (scenario == kSwarm.name) return make_swarm(seed);
  for (const Entry& each : entries()) {
    if (each.scenario.name == scenario) return make(scenario, seed, each.ranges);
  }
  throw std::out_of_range("there is no scenario " + std::string(scenario));
}

}  // namespace holdfast::test::sim
