// SPDX-License-Identifier: Apache-2.0
#include "sim/cluster_servers.hpp"

#include <algorithm>

namespace holdfast::test::sim {
namespace {

using Kind = Fault::Kind;
using Restored = ModelServer::Restored;

constexpr std::uint16_t kNobody = ClusterMember::kNobody;
/// Slots that are looked at for one of another, or of the same shard: no lock lies in them.
constexpr std::uint16_t kStep = 1000;

}  // namespace

ClusterServers::ClusterServers(World& world, Network& network, const Plan& plan)
    : world_(world), plan_(plan), cluster_(world) {
  for (ModelNode* const node : cluster_.nodes()) network.add(*node);
  world.run(kBeginning);
}

std::vector<Config> ClusterServers::reached_by(const Config& settings) const {
  std::vector<Config> configs(1, settings);
  ClusterConfig& cluster = configs[0].server.emplace<ClusterConfig>();
  for (std::size_t i = 0; i < 3; ++i) {
    const Place& place = cluster_.server(i).place();
    cluster.addresses.push_back({place.host, place.port});
  }
  return configs;
}

std::uint16_t ClusterServers::slot_of(const Fault& fault) const {
  return model_slot_of(plan_.keys(fault.which).front());
}

std::uint16_t ClusterServers::keeper(std::uint16_t slot) const {
  const auto abandoned = abandoned_.find(slot);
  return cluster_.owner(abandoned == abandoned_.end() ? slot : abandoned->second);
}

std::vector<std::string> ClusterServers::owners(const std::string& key) {
  const std::uint16_t slot = model_slot_of(key);
  std::vector<std::string> owners = cluster_.server(keeper(slot)).owners(key);
  if (const std::uint16_t target = cluster_.target(slot);
      target != kNobody && cluster_.member(keeper(slot)).migrates(slot)) {
    const std::vector<std::string> there = cluster_.server(target).owners(key);
    owners.insert(owners.end(), there.begin(), there.end());
  }
  return owners;
}

std::vector<std::string> ClusterServers::waiting(const std::string& queue) {
  return cluster_.server(keeper(model_slot_of(queue))).waiting(queue);
}

Keyspace& ClusterServers::keyspace_of(const std::string& key) {
  const std::uint16_t slot = model_slot_of(key);
  Keyspace& keeper_has = cluster_.server(keeper(slot)).keyspace_now();
  const std::uint16_t target = cluster_.target(slot);
  const bool moves = target != kNobody && cluster_.member(keeper(slot)).migrates(slot);
  return moves && keeper_has.find(key) == nullptr ? cluster_.server(target).keyspace_now() : keeper_has;
}

void ClusterServers::put(const std::string& key, const std::string& text) {
  cluster_.server(keeper(model_slot_of(key))).change([&](Keyspace& keys) { keys.set(key, text); });
}

Servers::Heal ClusterServers::strike(const Fault& fault) {
  const std::uint16_t slot = slot_of(fault);
  const std::uint16_t primary = keeper(slot);
  switch (fault.kind) {
    case Kind::fail_over:
      return take_over(primary);
    case Kind::kill_primary:
      cluster_.kill(primary);
      return [this, primary] { cluster_.restart(primary, Restored::kept); };
    case Kind::freeze_primary:
      cluster_.freeze(primary);
      return [this, primary] { cluster_.thaw(primary); };
    case Kind::isolate_primary:
      cluster_.isolate(primary, true);
      return [this, primary] { cluster_.isolate(primary, false); };
    case Kind::cut_replica:
      return cut_replica(primary);
    case Kind::move_slot:
      return move(slot, fault.lasts);
    case Kind::abandon_slot:
      return abandon(slot);
    case Kind::forget_scripts:
      cluster_.server(primary).forget_scripts();
      return {};
    default:
      return {};
  }
}

Servers::Heal ClusterServers::take_over(std::uint16_t primary) {
  for (const ClusterMember* const replica : cluster_.replicas_of(primary)) {
    if (replica->server().frozen()) continue;
    cluster_.take_over(replica->number());
    break;
  }
  return {};
}

Servers::Heal ClusterServers::cut_replica(std::uint16_t primary) {
  const std::vector<const ClusterMember*> replicas = cluster_.replicas_of(primary);
  if (replicas.empty()) return {};
  const std::uint16_t replica = replicas.front()->number();
  cluster_.cut(replica, true);
  return [this, replica] { cluster_.cut(replica, false); };
}

Servers::Heal ClusterServers::move(std::uint16_t slot, base::Duration lasts) {
  if (abandoned_.contains(slot) || cluster_.target(slot) != kNobody) return {};
  for (std::uint16_t other = 0; other < kModelSlots; other += kStep) {
    if (cluster_.owner(other) == cluster_.owner(slot)) continue;
    cluster_.begin_move(slot, cluster_.owner(other));
    world_.after(world_.between({}, lasts), [this, slot] {
      if (cluster_.target(slot) != kNobody) cluster_.move_keys(slot, 1);
    });
    return [this, slot] { cluster_.finish_move(slot); };
  }
  return {};
}

Servers::Heal ClusterServers::abandon(std::uint16_t slot) {
  if (abandoned_.contains(slot) || cluster_.target(slot) != kNobody) return {};
  for (std::uint16_t other = 0; other < kModelSlots; other += kStep) {
    if (cluster_.owner(other) != cluster_.owner(slot)) continue;
    abandoned_[slot] = other;
    cluster_.abandon(slot);
    return [this, slot] {
      cluster_.adopt(slot, keeper(slot));
      abandoned_.erase(slot);
    };
  }
  return {};
}

Servers::Heal ClusterServers::hide_from(Network& network, const Process& process, const Fault& fault) {
  const Place place = cluster_.server(keeper(slot_of(fault))).place();
  network.hide(process, place, true);
  return [&network, &process, place] { network.hide(process, place, false); };
}

void ClusterServers::lose_all() {
  for (std::size_t i = 0; i < cluster_.size(); ++i) {
    if (cluster_.server(i).is_primary()) cluster_.server(i).lose_all();
  }
}

void ClusterServers::freeze() {
  for (std::uint16_t i = 0; i < cluster_.size(); ++i) cluster_.freeze(i);
}

void ClusterServers::spoil(Sabotage sabotage) {
  for (std::uint16_t i = 0; i < cluster_.size(); ++i) Servers::spoil(cluster_.server(i), sabotage);
}

}  // namespace holdfast::test::sim
