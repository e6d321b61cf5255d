// SPDX-License-Identifier: Apache-2.0
// How slots go from node to node, and nodes come and go.
#include <algorithm>
#include <stdexcept>

#include "support/cluster.hpp"
#include "support/cluster_wait.hpp"
#include "support/server_program.hpp"

namespace holdfast::test {

/// Between two primaries, with a connection to each node that has to hear of it.
class Cluster::Move {
 public:
  Move(const Cluster& cluster, const RedisServer& from, const RedisServer& to)
      : from_id_(cluster.id_of(from)),
        to_id_(cluster.id_of(to)),
        source_(ask(from)),
        target_(ask(to)),
        migrate_{"MIGRATE", "127.0.0.1", std::to_string(to.port()), "", "0", "5000"} {
    for (const auto& [each, self] : cluster.selves()) {
      if (self.primary && self.id != from_id_ && self.id != to_id_) others_.push_back(ask(*each->server));
    }
    if (!cluster.options_.users.empty()) {
      migrate_.insert(migrate_.end(), {"AUTH2", kUser, cluster.secret_});
    } else if (!cluster.options_.password.empty()) {
      migrate_.insert(migrate_.end(), {"AUTH", cluster.options_.password});
    }
    migrate_.emplace_back("KEYS");
  }

  void begin(int slot) {
    // Valkey from 8.0 on says NOREPLICAS until a replica has taken it over, which a busy machine may keep waiting.
    wait_for("a slot does not open", [&] {
      told(target_, "CLUSTER", "SETSLOT", slot, "IMPORTING", from_id_);
      told(source_, "CLUSTER", "SETSLOT", slot, "MIGRATING", to_id_);
      return true;
    });
  }

  std::size_t keys(int slot, std::size_t most = kAllKeys) {
    std::size_t moved = 0;
    while (moved < most) {
      const Reply keys = told(source_, "CLUSTER", "GETKEYSINSLOT", slot, std::min<std::size_t>(most - moved, 100));
      if (keys.elements.empty()) break;
      std::vector<std::string> names;
      for (const Reply& key : keys.elements) names.push_back(key.text);
      if (these(names)) moved += names.size();
    }
    return moved;
  }

  /// False: they are gone.
  bool these(const std::vector<std::string>& names) {
    std::vector<std::string> command = migrate_;
    command.insert(command.end(), names.begin(), names.end());
    bool moved = false;
    // For a node that a busy machine kept waiting the cluster may be down for a moment.
    wait_for("keys do not move", [&] {
      const Reply reply = source_.send(command);
      if (reply.is_error()) throw std::runtime_error(reply.text);
      moved = reply.text == "OK";
      return true;
    });
    return moved;
  }

  void end(int slot) {
    wait_for("a slot is not given away", [&] {
      keys(slot);
      told(target_, "CLUSTER", "SETSLOT", slot, "NODE", to_id_);
      const Reply reply = source_.command("CLUSTER", "SETSLOT", slot, "NODE", to_id_);
      // Without its last slot it follows the target already.
      if (reply.is_error() && !reply.text.ends_with("only with masters.")) throw std::runtime_error(reply.text);
      return true;
    });
    // They would hear of it anyway.
    for (Raw& each : others_) each.command("CLUSTER", "SETSLOT", slot, "NODE", to_id_);
  }

 private:
  const std::string from_id_, to_id_;
  Raw source_, target_;
  std::vector<Raw> others_;
  std::vector<std::string> migrate_;
};

void Cluster::begin_move(int slot, RedisServer& to) {
  if (const RedisServer& from = primary_of(slot); &from != &to) Move(*this, from, to).begin(slot);
}

std::size_t Cluster::move_keys(int slot, RedisServer& to, std::size_t most) {
  const RedisServer& from = primary_of(slot);
  return &from == &to ? 0 : Move(*this, from, to).keys(slot, most);
}

bool Cluster::move_key(const std::string& key, RedisServer& to) {
  return Move(*this, primary_of(slot_of(key)), to).these({key});
}

void Cluster::end_move(int slot, RedisServer& to) {
  if (const RedisServer& from = primary_of(slot); &from != &to) Move(*this, from, to).end(slot);
  wait_until_all_know(slot, slot, to);
}

void Cluster::move_slots(int first, int last, RedisServer& to) {
  for (const auto& [each, self] : selves()) {
    if (each->server.get() == &to || !self.primary) continue;
    Move move(*this, *each->server, to);
    for (int slot = first; slot <= last; ++slot) {
      if (!self.serves(slot)) continue;
      move.begin(slot);
      move.end(slot);
    }
  }
  wait_until_all_know(first, last, to);
}

bool Cluster::moves_atomically() { return server_is_valkey(9, 0); }

void Cluster::move_slots_atomically(int first, int last, RedisServer& to) {
  Raw source = ask(primary_of(first));
  told(source, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", first, last, "NODE", id_of(to));
  wait_until_all_know(first, last, to);
}

RedisServer& Cluster::add_node(const RedisServer* primary) {
  RedisServer& added = *start_member().server;
  for (const Member* each : up()) {
    if (each->server.get() != &added) meet(added, *each->server);
  }
  if (primary != nullptr) follow(added, *primary);
  wait_until_settled();
  return added;
}

void Cluster::remove_node(RedisServer& node) {
  const auto found = std::ranges::find(members_, &node, [](const auto& each) { return each->server.get(); });
  if (found == members_.end()) throw std::invalid_argument("a server of another cluster");
  node.kill();
  const std::string id = (*found)->id;
  removed_.push_back(std::move(*found));
  members_.erase(found);
  for (const Member* each : up()) {
    Raw raw = ask(*each->server);
    told(raw, "CLUSTER", "FORGET", id);
  }
  wait_until_settled();
}

}  // namespace holdfast::test
