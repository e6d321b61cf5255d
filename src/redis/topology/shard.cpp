// SPDX-License-Identifier: Apache-2.0
#include "redis/topology/shard.hpp"

#include <algorithm>
#include <utility>

namespace holdfast::redis {

/// It has no subscriptions.
struct Shard::SideLane final : private LaneEvents {
  SideLane(Shard& its_shard, Side its_side)
      : shard(its_shard),
        side(its_side),
        subscriptions(std::make_shared<Listeners>()),
        lane(shard.schedule_, shard.config_, shard.make_source_(), subscriptions, *this) {}

  void connected() override { shard.events_.side_connected(shard, side); }
  void disconnected(const std::string&) override { shard.events_.side_disconnected(shard, side); }
  void command() override { shard.events_.command(shard); }
  void to_be_flushed(std::size_t bytes) override { shard.events_.to_be_flushed(shard, bytes); }
  void answered(Operation operation, base::Duration took) override { shard.events_.answered(shard, operation, took); }
  void invalidated(const base::Reply& keys) override { shard.events_.invalidated(shard, keys); }
  void refused(const std::string& error_text) override { shard.events_.refused(shard, error_text); }

  Shard& shard;
  const Side side;
  Subscriptions subscriptions;
  Lane lane;
};

Shard::Shard(timing::Schedule& schedule, const Config& config, MakeSource make_source,
             std::shared_ptr<Listeners> listeners, ServerEvents& events)
    : schedule_(schedule),
      config_(config),
      make_source_(std::move(make_source)),
      events_(events),
      subscriptions_(std::make_shared<Subscriptions>(std::move(listeners))),
      lane_(schedule, config, make_source_(), *subscriptions_, *this) {}

Shard::~Shard() = default;

void Shard::disconnected(const std::string& cause) {
  identify(0);
  events_.disconnected(*this, cause);
}

Lane& Shard::side_lane(Side side) {
  std::unique_ptr<SideLane>& made = sides_.at(static_cast<std::size_t>(side));
  if (made == nullptr) {
    made = std::make_unique<SideLane>(*this, side);
    if (lane_.closed()) {
      made->lane.close();
    } else if (needed_) {
      made->lane.start(owner_);
    } else {
      made->lane.start_at_rest(owner_);
    }
  }
  return made->lane;
}

bool Shard::is_beside_main(Side side) const {
  const auto& its = sides_[static_cast<std::size_t>(side)];
  const Endpoint* const there = its ? its->lane.endpoint() : nullptr;
  const Endpoint* const main = lane_.endpoint();
  return there != nullptr && main != nullptr && *there == *main;
}

std::array<int, 2> Shard::sockets() const {
  const auto& acks = sides_[static_cast<std::size_t>(Side::acks)];
  return {lane_.socket(), acks ? acks->lane.socket() : -1};
}

void Shard::start(const std::weak_ptr<void>& owner) {
  owner_ = owner;
  lane_.start(owner);
}

void Shard::start_at_rest(const std::weak_ptr<void>& owner) {
  owner_ = owner;
  needed_ = used_ = false;
  lane_.start_at_rest(owner);
}

void Shard::send(Request&& request, Lane::Handler&& handler) {
  if (!std::exchange(used_, true)) lane_.set_needed(needed_);
  lane_.send(std::move(request), std::move(handler));
}

void Shard::rest_if_unused() {
  if (!used_) lane_.set_needed(false);
}

void Shard::set_needed(bool needed) {
  needed_ = needed;
  lane_.set_needed(needed && used_);
  for (const auto& side : sides_) {
    if (side) side->lane.set_needed(needed);
  }
}

bool Shard::at_rest() const {
  return lane_.at_rest() && std::ranges::all_of(sides_, [](const auto& side) { return !side || side->lane.at_rest(); });
}

void Shard::begin_anew() {
  needed_ = used_ = false;
  configured_replicas_.reset();
  identify(0);
  for_each_lane(&Lane::begin_anew);
}

void Shard::for_each_lane(void (Lane::*what)()) {
  (lane_.*what)();
  for (const auto& side : sides_) {
    if (side) (side->lane.*what)();
  }
}

void Shard::flush() { for_each_lane(&Lane::flush); }

void Shard::recover() { for_each_lane(&Lane::recover); }

void Shard::close() { for_each_lane(&Lane::close); }

void Shard::drop_all() { for_each_lane(&Lane::drop_all); }

}  // namespace holdfast::redis
