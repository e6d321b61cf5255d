// SPDX-License-Identifier: Apache-2.0
#include "sim/plan.hpp"

#include <algorithm>
#include <array>

namespace holdfast::test::sim {
namespace {

std::string in_words(milliseconds time) { return std::to_string(time.count()) + " ms"; }

std::string describe(const ClientPlan& client) {
  std::string out = "lease " + in_words(client.lease) + ", safety poll " + in_words(client.safety_poll) +
                    ", patience " + in_words(client.patience) + ", commands " + in_words(client.command_timeout) +
                    ", releases " + in_words(client.release_timeout) + ", handoff " + in_words(client.handoff);
  if (client.drift_ppm != 0) out += ", clock " + std::to_string(client.drift_ppm) + " ppm";
  if (client.loss_notice) out += ", notices";
  if (client.named) out += ", named";
  if (client.pipelined) out += ", pipelined";
  if (client.resp2) out += ", RESP2";
  if (client.acks == Acks::all()) out += ", acks of all";
  if (client.acks == Acks::majority()) out += ", acks of most";
  if (client.acks.number() > 0) out += ", acks of " + std::to_string(client.acks.number());
  if (client.leaves) out += ", leaves its holds";
  return out;
}

std::string describe(const Action& action) {
  std::string out = "client " + std::to_string(action.client) + " caller " + std::to_string(action.caller) +
                    ": after " + in_words(action.pause);
  out += action.call == Action::Call::acquire ? " acquire" : " try_acquire";
  out += " lock " + std::to_string(action.lock);
  if (action.number > 1) out += ", " + std::to_string(action.number) + " at once";
  if (action.reads) out += " as a reader";
  if (action.wait) out += ", wait " + in_words(*action.wait);
  if (action.fixed) out += ", fixed";
  if (action.lease.count() > 0) out += ", lease " + in_words(action.lease);
  if (action.max_hold) out += ", max_hold " + in_words(*action.max_hold);
  if (action.cancel != Action::Cancel::never) {
    out += action.cancel == Action::Cancel::by_slot ? ", cancel" : ", stop";
    out += " after " + in_words(action.cancel_after);
  }
  out += ", hold " + in_words(action.hold);
  if (action.extended_to.count() > 0) {
    out += ", extended after " + in_words(action.extended_after) + " to " + in_words(action.extended_to);
  }
  out += action.end == Action::End::release ? ", release" : ", drop";
  return out + (action.heeds_loss ? "" : ", heedless");
}

std::string describe(const Fault& fault) {
  std::string out = "at " + in_words(fault.at) + " " + to_string(fault.kind);
  if (!fault.of_server()) out += " client " + std::to_string(fault.client);
  if (fault.lasts.count() > 0) out += " for " + in_words(fault.lasts);
  if (fault.amount.count() > 0) out += ", " + in_words(fault.amount);
  if (fault.which > 0) out += ", number " + std::to_string(fault.which);
  return out;
}

/// After so much time all that has moved is confirmed anew.
constexpr milliseconds kSettled{10'000};

}  // namespace

const char* to_string(Fault::Kind kind) {
  static constexpr std::array<const char*, kFaultKinds> kNames = {"slow",
                                                                  "cut",
                                                                  "held_back",
                                                                  "swallow_to_server",
                                                                  "swallow_to_client",
                                                                  "lose_reply",
                                                                  "refuse",
                                                                  "pause",
                                                                  "reopen",
                                                                  "kill",
                                                                  "freeze",
                                                                  "restart",
                                                                  "forget_scripts",
                                                                  "slow_server",
                                                                  "full_memory",
                                                                  "withdraw",
                                                                  "answer_errors",
                                                                  "clock_back",
                                                                  "fail_over",
                                                                  "kill_primary",
                                                                  "freeze_primary",
                                                                  "isolate_primary",
                                                                  "cut_replica",
                                                                  "move_slot",
                                                                  "abandon_slot",
                                                                  "hide_node",
                                                                  "lose_data",
                                                                  "clock_ahead",
                                                                  "older_data",
                                                                  "flush",
                                                                  "force"};
  return kNames.at(static_cast<std::size_t>(kind));
}

bool Fault::fails_over() const {
  return kind == Kind::fail_over || kind == Kind::kill_primary || kind == Kind::freeze_primary ||
         kind == Kind::isolate_primary;
}

bool Fault::of_server() const {
  switch (kind) {
    case Kind::freeze:
    case Kind::restart:
    case Kind::forget_scripts:
    case Kind::slow_server:
    case Kind::full_memory:
    case Kind::withdraw:
    case Kind::answer_errors:
    case Kind::clock_back:
    case Kind::clock_ahead:
    case Kind::cut_replica:
    case Kind::move_slot:
    case Kind::abandon_slot:
    case Kind::lose_data:
    case Kind::older_data:
    case Kind::flush:
      return true;
    default:
      return fails_over();
  }
}

bool Plan::has(Fault::Kind fault) const {
  return std::ranges::any_of(faults, [fault](const Fault& each) { return each.kind == fault; });
}

std::vector<std::string> Plan::keys(int lock) const {
  const std::string name = "lock" + std::to_string(lock);
  if (kind == LockKind::multi) return {name + ":one", name + ":other"};
  if (kind == LockKind::any && site == Site::cluster)  // two of the four share a slot
    return {name + ":0", "{" + name + ":0}:1", name + ":1", name + ":2"};
  if (kind == LockKind::any) return {"{" + name + "}:0", "{" + name + "}:1", "{" + name + "}:2"};
  return {name};
}

std::int64_t Plan::total(int lock) const {
  if (kind != LockKind::latch) return permits;
  std::int64_t steps = 0;
  for (const Action& action : actions) {
    if (action.lock == lock && !action.reads) steps += action.number;
  }
  // So that most open before all is over.
  return std::max<std::int64_t>(2 * steps / 3, 1);
}

std::int64_t Plan::most_wanted() const {
  std::int64_t most = 1;
  for (const Action& action : actions) most = std::max<std::int64_t>(most, action.number);
  return most;
}

bool Plan::forgets(const Fault& fault) const {
  if (fault.kind >= Fault::Kind::lose_data) return true;
  if (!fault.fails_over()) return false;
  // What has just moved is with its new primary, and nobody says that the replicas have it.
  return !std::all_of(clients.begin(), clients.end(), [](const ClientPlan& c) { return c.acks == Acks::all(); }) ||
         std::any_of(faults.begin(), faults.end(), [&fault](const Fault& other) {
           return other.kind == Fault::Kind::move_slot && other.at < fault.at + fault.lasts + kSettled &&
                  fault.at < other.at + other.lasts + kSettled;
         });
}

bool Plan::forgets() const {
  return std::any_of(faults.begin(), faults.end(), [this](const Fault& fault) { return forgets(fault); });
}

std::string describe(const Plan& plan) {
  std::string out = plan.scenario + ", seed " + std::to_string(plan.seed) + ", locks " + std::to_string(plan.locks);
  static constexpr std::array<const char*, 11> kKinds = {
      "",       ", simple",         ", of several", ", fenced",    ", read-write", ", fair",
      ", spin", ", any of several", ", permits",    ", semaphore", ", latch"};
  out += kKinds.at(static_cast<std::size_t>(plan.kind));
  if (plan.permits > 0) out += ", " + std::to_string(plan.permits) + " permits each";
  if (plan.servers > 1) out += ", servers " + std::to_string(plan.servers) + (plan.needs_all ? ", all of them" : "");
  out += "\n";
  for (std::size_t i = 0; i < plan.clients.size(); ++i) {
    out += "  client " + std::to_string(i) + ": " + describe(plan.clients[i]) + "\n";
  }
  for (const Action& action : plan.actions) out += "  " + describe(action) + "\n";
  for (const Fault& fault : plan.faults) out += "  " + describe(fault) + "\n";
  return out;
}

}  // namespace holdfast::test::sim
