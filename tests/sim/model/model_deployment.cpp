// SPDX-License-Identifier: Apache-2.0
#include "sim/model/model_deployment.hpp"

#include <optional>
#include <utility>

namespace holdfast::test {
namespace {

constexpr std::uint16_t kServerPort = 6379;
constexpr std::uint16_t kSentinelPort = 26379;

Place place_of(int host, std::uint16_t port) { return {"10.0.0." + std::to_string(host), port}; }

}  // namespace

ModelDeployment::ModelDeployment(Time& time, DeploymentSettings settings)
    : time_(time), settings_(std::move(settings)) {
  int host = settings_.first_host;
  for (std::size_t i = 0; i <= settings_.replicas; ++i) {
    ServerSettings its = settings_.server;
    its.place = place_of(host++, kServerPort);
    servers_.push_back(std::make_unique<ModelServer>(time_, its));
  }
  replications_.resize(servers_.size());
  cut_.resize(servers_.size());
  for (std::size_t i = 1; i < servers_.size(); ++i) attach(i);
  std::vector<Place> places;
  for (std::size_t i = 0; i < settings_.sentinels; ++i) places.push_back(place_of(host++, kSentinelPort));
  for (const Place& place : places) {
    NodeSettings its;
    its.place = place;
    sentinels_.push_back(std::make_unique<ModelSentinel>(time_, its, settings_.name, servers_.front()->place(),
                                                         static_cast<int>(settings_.replicas)));
    std::vector<Place> others = places;
    std::erase(others, place);
    sentinels_.back()->set_others(std::move(others));
  }
}

ModelDeployment::~ModelDeployment() { *lives_ = false; }

std::vector<ModelNode*> ModelDeployment::nodes() {
  std::vector<ModelNode*> nodes;
  for (const auto& server : servers_) nodes.push_back(server.get());
  for (const auto& sentinel : sentinels_) nodes.push_back(sentinel.get());
  return nodes;
}

bool ModelDeployment::runs(std::size_t server) const { return servers_[server]->up() && !servers_[server]->frozen(); }

void ModelDeployment::later(base::Duration least, base::Duration most, std::function<void()> event) {
  time_.after(time_.between(least, most), [lives = lives_, event = std::move(event)] {
    if (*lives) event();
  });
}

void ModelDeployment::attach(std::size_t replica) {
  replications_[replica].reset();
  replications_[replica] =
      std::make_unique<Replication>(time_, *servers_[primary_], *servers_[replica], settings_.replication);
  replications_[replica]->cut(cut_[replica]);
}

// ---- what can happen ----

void ModelDeployment::kill(std::size_t server) {
  servers_[server]->die();
  if (server == primary_) {
    suspect();
  } else {
    replications_[server].reset();
  }
}

/// It comes up as what it was; the Sentinels look, and tell it what it is to be.
void ModelDeployment::restart(std::size_t server, ModelServer::Restored data) {
  servers_[server]->restart(data);
  if (server != primary_) {
    later(settings_.demotion_least, settings_.demotion_most, [this, server] { demote(server); });
    return;
  }
  for (std::size_t i = 0; i < servers_.size(); ++i) {  // they begin anew with what it has
    if (i != server && runs(i)) attach(i);
  }
}

void ModelDeployment::freeze(std::size_t server) {
  servers_[server]->freeze();
  if (server == primary_) suspect();
}

void ModelDeployment::thaw(std::size_t server) {
  servers_[server]->thaw();
  if (server == primary_ || !servers_[server]->is_primary()) return;
  later(settings_.demotion_least, settings_.demotion_most, [this, server] { demote(server); });
}

void ModelDeployment::cut(std::size_t replica, bool on) {
  cut_[replica] = on;
  if (replications_[replica]) replications_[replica]->cut(on);
}

void ModelDeployment::fail_over() {
  if (!std::exchange(electing_, true)) {
    later(settings_.election_least, settings_.election_most, [this] { elect(); });
  }
}

// ---- what follows ----

void ModelDeployment::suspect() {
  later(settings_.down_after, settings_.down_after + std::chrono::milliseconds(100), [this] {
    if (!runs(primary_)) fail_over();
  });
}

void ModelDeployment::elect() {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (i == primary_ || !runs(i) || servers_[i]->is_primary()) continue;
    if (!best || servers_[i]->offset() > servers_[*best]->offset()) best = i;
  }
  electing_ = false;
  if (best) return promote(*best);
  later(std::chrono::seconds(1), std::chrono::seconds(2), [this] {
    if (!runs(primary_)) fail_over();
  });
}

void ModelDeployment::promote(std::size_t server) {
  const std::size_t before = std::exchange(primary_, server);
  for (auto& replication : replications_) replication.reset();
  servers_[server]->lead();
  servers_[server]->close_all();
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    if (i != server && i != before && runs(i)) attach(i);
  }
  if (runs(before)) later(settings_.demotion_least, settings_.demotion_most, [this, before] { demote(before); });
  for (const auto& sentinel : sentinels_) {
    later(base::Duration(0), std::chrono::milliseconds(500), [this, its = sentinel.get()] {
      if (its->up() && !its->frozen() && its->primary() != servers_[primary_]->place()) {
        its->switch_to(servers_[primary_]->place());
      }
    });
  }
}

/// Its clients are sent away, and what only it has is gone.
void ModelDeployment::demote(std::size_t server) {
  if (server == primary_ || !runs(server)) return;
  attach(server);
  servers_[server]->close_all();
}

}  // namespace holdfast::test
