// SPDX-License-Identifier: Apache-2.0
#include "support/strike.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "support/cluster_wait.hpp"
#include "support/raw.hpp"
#include "support/shared_clock.hpp"

namespace holdfast::test {

const char* to_string(Fault fault) {
  switch (fault) {
    case Fault::forced:
      return "forced";
    case Fault::killed:
      return "killed";
    case Fault::cut_off:
      return "cut off, killed";
    case Fault::takeover:
      return "takeover";
    case Fault::frozen:
      return "frozen";
    case Fault::resharded:
      return "slots moved key by key";
    case Fault::moved_at_once:
      return "slots moved at once";
    case Fault::grown:
      break;
  }
  return "node added and removed";
}

void PrintTo(Fault fault, std::ostream* out) { *out << to_string(fault); }

namespace {

/// What was sent to them before that, they still read when they go on.
void cut_off(const RedisServer& primary, const std::vector<RedisServer*>& replicas) {
  for (RedisServer* each : replicas) each->freeze();
  ask(primary).command("CLIENT", "KILL", "TYPE", "replica");
}

/// The slots around one that its primary has.
std::pair<int, int> around(int slot, const RedisServer& primary) {
  constexpr int kAround = 20;
  const std::vector<ClusterNode> view = view_of(primary);
  const auto self = std::ranges::find(view, true, &ClusterNode::myself);
  if (self == view.end()) throw std::logic_error("no node of a cluster");
  for (const auto& [first, last] : self->slots) {
    if (first <= slot && slot <= last) return {std::max(first, slot - kAround), std::min(last, slot + kAround)};
  }
  throw std::logic_error("it does not serve the slot");
}

RedisServer& other_primary(Cluster& cluster, const RedisServer& than) {
  for (RedisServer* each : cluster.primaries()) {
    if (each != &than) return *each;
  }
  throw std::logic_error("there is no other primary");
}

void move_and_move_back(Cluster& cluster, int first, int last, RedisServer& primary) {
  RedisServer& added = cluster.add_node();
  cluster.move_slots(first, last, added);
  cluster.move_slots(first, last, primary);
  cluster.wait_until_settled();
  cluster.remove_node(added);
}

}  // namespace

Struck strike(Deployment& deployment, Fault fault, const std::function<void()>& meanwhile) {
  deployment.wait_until_settled();
  if (fault == Fault::forced) {
    const Microseconds begun = shared_clock();
    deployment.failover();
    return {fault, begun, shared_clock()};
  }
  RedisServer& primary = deployment.primary();
  const std::vector<RedisServer*> replicas = deployment.replicas();
  if (fault == Fault::cut_off) {
    cut_off(primary, replicas);
    if (meanwhile) meanwhile();
  }
  const Microseconds killed = shared_clock();
  primary.kill();
  if (fault == Fault::cut_off) {
    for (RedisServer* each : replicas) each->thaw();
  }
  deployment.wait_for_failover_from(primary);
  const Microseconds served = shared_clock();
  primary.restart(Data::lose);
  return {fault, killed, served};
}

Struck strike(Cluster& cluster, Fault fault, const std::string& key, const std::function<void()>& meanwhile) {
  cluster.wait_until_settled();
  const int slot = cluster.slot_of(key);
  RedisServer& primary = cluster.primary_of(slot);
  const std::vector<RedisServer*> replicas = cluster.replicas_of(primary);
  const auto [first, last] = around(slot, primary);
  if (fault == Fault::cut_off) {
    cut_off(primary, replicas);
    if (meanwhile) meanwhile();
  }
  Struck struck{fault, shared_clock(), 0};
  switch (fault) {
    case Fault::forced:
      cluster.failover(primary, Failover::force);
      break;
    case Fault::takeover:
      cluster.failover(primary, Failover::takeover);
      break;
    case Fault::killed:
    case Fault::cut_off:
      primary.kill();
      if (fault == Fault::cut_off) {
        for (RedisServer* each : replicas) each->thaw();
      }
      cluster.wait_for_failover_from(primary);
      break;
    case Fault::frozen:
      primary.freeze();
      cluster.wait_for_failover_from(primary);
      break;
    case Fault::resharded:
      cluster.move_slots(first, last, other_primary(cluster, primary));
      break;
    case Fault::moved_at_once:
      cluster.move_slots_atomically(first, last, other_primary(cluster, primary));
      break;
    case Fault::grown:
      move_and_move_back(cluster, first, last, primary);
      break;
  }
  struck.served = shared_clock();
  if (fault == Fault::frozen) primary.thaw();
  if (!primary.up()) primary.restart(Data::lose);
  return struck;
}

}  // namespace holdfast::test
