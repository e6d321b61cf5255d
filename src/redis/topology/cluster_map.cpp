// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/cluster_map.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {
namespace {

Config config_at(Config config, const NodeAddress& address) {
  config.server = address;
  return config;
}

}  // namespace

ClusterMap::ClusterMap(timing::Schedule& schedule, const Config& config, std::shared_ptr<Listeners> listeners,
                       ServerEvents& events)
    : schedule_(schedule),
      config_(config),
      listeners_(std::move(listeners)),
      events_(events),
      nowhere_(std::make_unique<Shard>(
          schedule, config, [] { return std::make_shared<NowhereSource>(); }, listeners_, events)),
      alarm_(schedule, [this] { tell(); }) {}

void ClusterMap::start(const std::weak_ptr<void>& owner) {
  owner_ = owner;
  nowhere_->start_at_rest(owner);
}

ClusterNode* ClusterMap::node(const NodeAddress& address) {
  ++mentions_;
  return find_or_make(address);
}

/// Nodes from one and the same view do not replace each other.
ClusterNode* ClusterMap::find_or_make(const NodeAddress& address) {
  const Key key(address.host, address.port);
  if (const auto found = nodes_.find(key); found != nodes_.end()) {
    found->second->named = mentions_;
    return found->second.get();
  }
  if (nodes_.size() >= kMostNodes) return forget_one_for(address);
  auto made = std::make_unique<ClusterNode>(schedule_, config_at(config_, address), address, listeners_, events_);
  ClusterNode* const node = made.get();
  node->named = mentions_;
  node->shard.subscriptions()->set_publish(publish_);
  by_shard_.emplace(&node->shard, node);
  nodes_.emplace(key, std::move(made));
  node->shard.start_at_rest(owner_);
  return node;
}

/// A node that serves a slot, or has just been told to wait for one, does not count as at rest, whatever the state of
/// its connection.
ClusterNode* ClusterMap::forget_one_for(const NodeAddress& address) {
  const auto may_go = [&](const ClusterNode& node) {
    return !node.serves && !node.awaited && node.named < mentions_ && node.shard.at_rest();
  };
  auto oldest = nodes_.end();
  for (auto it = nodes_.begin(); it != nodes_.end(); ++it) {
    const bool older = oldest == nodes_.end() || it->second->named < oldest->second->named;
    if (older && may_go(*it->second)) oldest = it;
  }
  if (oldest == nodes_.end()) return nullptr;
  Key key(address.host, address.port);
  NodeAddress its_own = address;
  auto moved = nodes_.extract(oldest);  // no exceptions from here on
  moved.key() = std::move(key);
  ClusterNode* const node = moved.mapped().get();
  nodes_.insert(std::move(moved));
  node->become(std::move(its_own));
  node->named = mentions_;
  return node;
}

void ClusterMap::set_publish(Publish publish) {
  publish_ = publish;
  nowhere_->subscriptions()->set_publish(publish);
  for_each_node([publish](ClusterNode& node) { node.shard.subscriptions()->set_publish(publish); });
}

ClusterNode* ClusterMap::node_of(const Shard& shard) {
  const auto found = by_shard_.find(&shard);
  return found == by_shard_.end() ? nullptr : found->second;
}

/// A slot's first owner is not reported, since there can be no holds there yet.
void ClusterMap::set(std::uint16_t slot, ClusterNode* node) {
  if (!table_.set(slot, node != nullptr ? &node->shard : nullptr)) return;
  if (known_[slot]) changed_.set(slot);
  if (node != nullptr) known_.set(slot);
}

void ClusterMap::adopt(const cluster::View& view) {
  ++mentions_;
  std::vector<ClusterNode*> primaries;
  for (const cluster::Primary& primary : view.primaries) {
    ClusterNode* const its_node = find_or_make(primary.address);
    if (its_node != nullptr) its_node->shard.set_configured_replicas(primary.replicas);
    primaries.push_back(its_node);
  }
  for (std::uint16_t slot = 0; slot < cluster::kSlots; ++slot) {
    const std::uint16_t by = view.served_by[slot];
    set(slot, by == cluster::View::kNobody ? nullptr : primaries[by]);
  }
  find_serving();
  nowhere_->reroute();
  tell_soon();
}

void ClusterMap::correct(std::uint16_t slot, const NodeAddress& address) {
  ClusterNode* const its_node = node(address);
  if (its_node == nullptr) return;
  set(slot, its_node);
  if (!its_node->serves) find_serving();
  nowhere_->reroute();
  tell_soon();
}

void ClusterMap::find_serving() {
  std::vector<Shard*> serving;
  for (std::uint16_t slot = 0; slot < cluster::kSlots; ++slot) {
    Shard* const shard = table_.at(slot);
    if (shard != nullptr && (serving.empty() || serving.back() != shard) &&
        std::ranges::find(serving, shard) == serving.end()) {
      serving.push_back(shard);
    }
  }
  serving_ = std::move(serving);
  for (const auto& [key, each] : nodes_) {
    const bool serves = std::ranges::find(serving_, &each->shard) != serving_.end();
    each->awaited = each->awaited || serves;
    if (std::exchange(each->serves, serves) != serves) each->shard.set_needed(serves);
  }
}

/// Resharding a cluster moves thousands of slots one by one, and each report makes its receiver go through all holds.
void ClusterMap::tell_soon() {
  if (changed_.any()) alarm_.set_by(base::Clock::now() + pause_);
}

void ClusterMap::tell() {
  const cluster::SlotSet changed = std::exchange(changed_, {});
  for_each_node([](ClusterNode& node) {
    node.shard.reroute();
    node.awaited = node.serves;
  });
  const base::TimePoint began = base::Clock::now();
  try {
    events_.moved(changed);
  } catch (...) {
    changed_ |= changed;  // out of memory: they are reported again
    tell_soon();
    throw;
  }
  pause_ = std::max<base::Duration>(kTogether, kShare * (base::Clock::now() - began));
}

}  // namespace holdfast::redis
