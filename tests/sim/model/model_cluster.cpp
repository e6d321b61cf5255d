// SPDX-License-Identifier: Apache-2.0
#include "sim/model/model_cluster.hpp"

#include <optional>
#include <utility>

namespace holdfast::test {
namespace {

constexpr std::uint16_t kNobody = ClusterMember::kNobody;
constexpr base::Duration kAgain = std::chrono::milliseconds(100);

std::vector<bool> only(std::uint16_t slot) {
  std::vector<bool> slots(kModelSlots);
  slots[slot] = true;
  return slots;
}

}  // namespace

ModelCluster::ModelCluster(Time& time, ClusterSettings settings)
    : time_(time), settings_(std::move(settings)), owners_(kModelSlots, kNobody), targets_(kModelSlots, kNobody) {
  const std::size_t primaries = settings_.primaries;
  const std::size_t nodes = primaries * (1 + settings_.replicas);
  for (std::size_t i = 0; i < nodes; ++i) {
    ServerSettings its = settings_.server;
    its.cluster = true;
    its.place = {"10.0.0." + std::to_string(settings_.first_host + static_cast<int>(i)), 6379};
    servers_.push_back(std::make_unique<ModelServer>(time_, its));
    members_.push_back(std::make_unique<ClusterMember>(*this, *servers_.back(), static_cast<std::uint16_t>(i)));
  }
  ++epoch_;
  for (std::size_t slot = 0; slot < kModelSlots; ++slot) {
    owners_[slot] = static_cast<std::uint16_t>(slot * primaries / kModelSlots);
    for (const auto& member : members_) member->learn(static_cast<std::uint16_t>(slot), owners_[slot], epoch_);
  }
  replications_.resize(nodes);
  cut_.resize(nodes);
  isolated_.resize(nodes);
  for (std::size_t i = primaries; i < nodes; ++i) {
    members_[i]->set_leader(static_cast<std::uint16_t>(i % primaries));
    attach(static_cast<std::uint16_t>(i));
  }
}

ModelCluster::~ModelCluster() { *lives_ = false; }

std::vector<ModelNode*> ModelCluster::nodes() {
  std::vector<ModelNode*> nodes;
  for (const auto& server : servers_) nodes.push_back(server.get());
  return nodes;
}

std::vector<const ClusterMember*> ModelCluster::replicas_of(std::uint16_t primary) const {
  std::vector<const ClusterMember*> replicas;
  for (const auto& member : members_) {
    if (member->leader() == primary && member->number() != primary && member->server().up()) {
      replicas.push_back(member.get());
    }
  }
  return replicas;
}

void ModelCluster::later(base::Duration least, base::Duration most, std::function<void()> event) {
  time_.after(time_.between(least, most), [lives = lives_, event = std::move(event)] {
    if (*lives) event();
  });
}

/// PUBLISH is for all nodes, SPUBLISH for those of the shard.
void ModelCluster::spread(const ClusterMember& from, Channel kind, std::string_view channel, std::string_view text) {
  if (isolated_[from.number()]) return;
  for (const auto& member : members_) {
    if (member->number() == from.number()) continue;
    if (kind == Channel::sharded && member->leader() != from.leader()) continue;
    later(settings_.replication.least, settings_.replication.most,
          [this, node = member->number(), kind, to = std::string(channel), what = std::string(text)] {
            if (is_heard(node)) server(node).hear(kind, to, what);
          });
  }
}

// ---- nodes come and go ----

void ModelCluster::attach(std::uint16_t replica) {
  const std::uint16_t leader = members_[replica]->leader();
  replications_[replica].reset();
  replications_[replica] =
      std::make_unique<Replication>(time_, *servers_[leader], *servers_[replica], settings_.replication);
  cut_links(replica);
}

/// As far as anything is in the way.
void ModelCluster::cut_links(std::uint16_t replica) {
  if (!replications_[replica]) return;
  replications_[replica]->cut(cut_[replica] || isolated_[replica] || isolated_[members_[replica]->leader()]);
}

void ModelCluster::kill(std::uint16_t node) {
  server(node).die();
  if (member(node).leader() == node) {
    suspect(node);
  } else {
    replications_[node].reset();
  }
}

void ModelCluster::freeze(std::uint16_t node) {
  server(node).freeze();
  if (member(node).leader() == node) suspect(node);
}

/// It believes for a while what it has believed before.
void ModelCluster::restart(std::uint16_t node, ModelServer::Restored data) {
  server(node).restart(data);
  if (member(node).leader() != node) return attach(node);
  for (const ClusterMember* const replica : replicas_of(node)) {
    if (runs(replica->number())) attach(replica->number());
  }
}

void ModelCluster::thaw(std::uint16_t node) { server(node).thaw(); }

void ModelCluster::cut(std::uint16_t replica, bool on) {
  cut_[replica] = on;
  cut_links(replica);
}

/// After a while it knows that it is alone, and refuses all commands; the others replace it.
void ModelCluster::isolate(std::uint16_t node, bool on) {
  isolated_[node] = on;
  for (std::uint16_t i = 0; i < size(); ++i) cut_links(i);
  if (!on)
    return later(settings_.gossip_least, settings_.gossip_most, [this, node] {
      if (!isolated_[node]) member(node).set_down(false);
    });
  later(settings_.node_timeout, settings_.node_timeout, [this, node] {
    if (isolated_[node]) member(node).set_down(true);
  });
  if (member(node).leader() == node) suspect(node);
}

// ---- failover ----

void ModelCluster::suspect(std::uint16_t primary) {
  later(settings_.node_timeout + settings_.election_least, settings_.node_timeout + settings_.election_most,
        [this, primary] { elect(primary); });
}

void ModelCluster::elect(std::uint16_t primary) {
  if (is_heard(primary) || member(primary).leader() != primary) return;
  std::optional<std::uint16_t> best;
  for (const ClusterMember* const replica : replicas_of(primary)) {
    const std::uint16_t number = replica->number();
    if (!is_heard(number)) continue;
    if (!best || server(number).offset() > server(*best).offset()) best = number;
  }
  if (best) return take_over(*best);
  later(kAgain, kAgain, [this, primary] { elect(primary); });
}

void ModelCluster::take_over(std::uint16_t replica) {
  const std::uint16_t before = member(replica).leader();
  if (before == replica) return;
  std::vector<bool> slots(kModelSlots);
  for (std::size_t slot = 0; slot < kModelSlots; ++slot) {
    slots[slot] = owners_[slot] == before;
    if (slots[slot]) owners_[slot] = replica;
    if (targets_[slot] == before) targets_[slot] = replica;
  }
  replications_[replica].reset();
  server(replica).lead();
  member(replica).set_leader(replica);
  announce(replica, slots);
}

/// It knows at once, the others when they are told.
void ModelCluster::announce(std::uint16_t by, const std::vector<bool>& slots) {
  const std::uint64_t epoch = ++epoch_;
  inform(by, slots, by, epoch);
  for (const auto& each : members_) {
    if (each->number() == by) continue;
    later(settings_.gossip_least, settings_.gossip_most,
          [this, node = each->number(), slots, by, epoch] { inform(node, slots, by, epoch); });
  }
}

void ModelCluster::inform(std::uint16_t node, const std::vector<bool>& slots, std::uint16_t owner,
                          std::uint64_t epoch) {
  if (!is_heard(node)) {
    return later(kAgain, kAgain, [this, node, slots, owner, epoch] { inform(node, slots, owner, epoch); });
  }
  bool news = false;
  for (std::size_t slot = 0; slot < kModelSlots; ++slot) {
    if (slots[slot]) news = member(node).learn(static_cast<std::uint16_t>(slot), owner, epoch) || news;
  }
  if (!news) return;
  take_place(node);
  member(node).give_away_what_left(slots);
}

/// Whoever has lost its last slot, or whose primary has, follows the one that has them now.
void ModelCluster::take_place(std::uint16_t node) {
  const std::uint16_t leader = member(node).leader();
  std::uint16_t successor = kNobody;
  for (std::size_t slot = 0; slot < kModelSlots; ++slot) {
    const std::uint16_t owner = member(node).owner(static_cast<std::uint16_t>(slot));
    if (owner == leader) return;
    // Of those that were born with it.
    if (owner != kNobody && owner % settings_.primaries == leader % settings_.primaries) successor = owner;
  }
  if (successor == kNobody || successor == node) return;
  member(node).set_leader(successor);
  attach(node);
}

// ---- slots ----

void ModelCluster::begin_move(std::uint16_t slot, std::uint16_t to) {
  targets_[slot] = to;
  member(to).set_importing(slot);
  member(owners_[slot]).set_migrating(slot, to);
}

std::size_t ModelCluster::move_keys(std::uint16_t slot, std::size_t most) {
  ModelServer& from = server(owners_[slot]);
  std::vector<std::pair<std::string, Keyspace::Value>> moving;
  for (const auto& [key, value] : from.keyspace_now().all()) {
    if (moving.size() < most && model_slot_of(key) == slot) moving.emplace_back(key, value);
  }
  for (const auto& [key, value] : moving) {
    server(targets_[slot]).change([&](Keyspace& keys) { keys.apply(key, value); });
    from.change([&](Keyspace& keys) { keys.apply(key, std::nullopt); });
  }
  return moving.size();
}

/// The new owner knows first, then the old one, then all others.
void ModelCluster::end_move(std::uint16_t slot) {
  const std::uint16_t before = owners_[slot];
  const std::uint16_t to = std::exchange(targets_[slot], kNobody);
  owners_[slot] = to;
  announce(to, only(slot));
  inform(before, only(slot), to, epoch_);
  member(to).settle(slot);
  member(before).settle(slot);
}

void ModelCluster::finish_move(std::uint16_t slot) {
  if (!is_heard(owners_[slot]) || !is_heard(targets_[slot])) {
    return later(kAgain, kAgain, [this, slot] { finish_move(slot); });
  }
  move_keys(slot, SIZE_MAX);
  end_move(slot);
}

void ModelCluster::move_at_once(std::uint16_t slot, std::uint16_t to) {
  targets_[slot] = to;
  move_keys(slot, SIZE_MAX);
  end_move(slot);
}

void ModelCluster::adopt(std::uint16_t slot, std::uint16_t by) {
  owners_[slot] = by;
  announce(by, only(slot));
}

void ModelCluster::abandon(std::uint16_t slot) {
  owners_[slot] = kNobody;
  const std::uint64_t epoch = ++epoch_;
  for (const auto& each : members_) inform(each->number(), only(slot), kNobody, epoch);
}

}  // namespace holdfast::test
