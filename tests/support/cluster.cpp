// SPDX-License-Identifier: Apache-2.0
#include "support/cluster.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "kinds/owner.hpp"
#include "support/cluster_wait.hpp"
#include "support/server_program.hpp"

namespace holdfast::test {
namespace {

using Listen = ServerOptions::Listen;

}  // namespace

const char* to_string(Failover how) {
  switch (how) {
    case Failover::plain:
      return "plain";
    case Failover::force:
      return "FORCE";
    case Failover::takeover:
      break;
  }
  return "TAKEOVER";
}

Cluster::Cluster(ClusterOptions options) : options_(std::move(options)), secret_(wire::make_uuid()) {
  if (options_.tls) certificates_ = Certificates::make(folder_.path() / "tls", "DNS:localhost,IP:127.0.0.1");
  const auto primaries = static_cast<int>(options_.primaries);
  for (int i = 0; i < primaries; ++i) {
    Raw raw(*start_member().server);
    raw.command("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
    std::vector<std::string> slots{"CLUSTER", "ADDSLOTS"};  // Redis 6 knows no ADDSLOTSRANGE
    for (int slot = kSlots * i / primaries; slot < kSlots * (i + 1) / primaries; ++slot) {
      slots.push_back(std::to_string(slot));
    }
    raw.send(slots);
  }
  for (std::size_t i = 0; i < options_.primaries * options_.replicas; ++i) start_member();
  for (std::size_t i = 0; i < nodes(); ++i) {
    for (std::size_t j = 0; j < i; ++j) meet(node(i), node(j));
  }
  for (std::size_t i = options_.primaries; i < nodes(); ++i) {
    follow(node(i), node((i - options_.primaries) / options_.replicas));
  }
  std::string addresses;
  for (const auto& each : members_) addresses += (addresses.empty() ? "" : ",") + address(*each->server);
  url_ = url_at(addresses);
  wait_until_settled();
}

ServerOptions Cluster::member_options() const {
  ServerOptions server{.listen = options_.tls ? Listen::tls : Listen::tcp,
                       .password = options_.password,
                       .users = options_.users,
                       .persistent = options_.persistent,
                       .cluster_member = true};
  if (options_.tls) {
    server.certificates = certificates_;
    server.config.emplace_back("tls-replication yes");
    server.config.emplace_back("tls-cluster yes");
  }
  if (!options_.users.empty()) {
    server.users.push_back(std::string(kUser) + " on >" + secret_ + " ~* &* +@all");
    server.config.push_back(std::string("masteruser ") + kUser);
    server.config.push_back("masterauth " + secret_);
  } else if (!options_.password.empty()) {
    server.config.push_back("masterauth \"" + options_.password + "\"");
  }
  server.config.push_back("cluster-node-timeout " + std::to_string(options_.node_timeout.count()));
  server.config.emplace_back("cluster-migration-barrier 100");
  if (server_like_redis(6, 2)) server.config.emplace_back("cluster-allow-replica-migration no");
  server.config.insert(server.config.end(), options_.config.begin(), options_.config.end());
  return server;
}

Cluster::Member& Cluster::start_member() {
  auto server = std::make_unique<RedisServer>(member_options());
  std::string id = ask(*server).command("CLUSTER", "MYID").text;
  members_.push_back(std::make_unique<Member>(std::move(server), std::move(id)));
  return *members_.back();
}

void Cluster::meet(const RedisServer& one, const RedisServer& other) {
  ask(one).command("CLUSTER", "MEET", "127.0.0.1", other.port(), other.bus_port());
}

void Cluster::follow(const RedisServer& node, const RedisServer& primary) {
  wait_for("a node cannot become a replica",
           [&] { return ask(node).command("CLUSTER", "REPLICATE", id_of(primary)).text == "OK"; });
}

std::string Cluster::url_at(const std::string& addresses) const {
  std::string url = options_.tls ? "rediss+cluster://" : "redis+cluster://";
  if (!options_.password.empty()) url += ":" + options_.password + "@";
  url += addresses;
  if (options_.tls) url += "?ca_file=" + certificates_.ca_file;
  return url;
}

const Cluster::Member& Cluster::member(const RedisServer& node) const {
  for (const auto* list : {&members_, &removed_}) {
    for (const auto& each : *list) {
      if (each->server.get() == &node) return *each;
    }
  }
  throw std::invalid_argument("a server of another cluster");
}

std::vector<const Cluster::Member*> Cluster::up() const {
  std::vector<const Member*> found;
  for (const auto& each : members_) {
    if (each->server->up()) found.push_back(each.get());
  }
  if (found.empty()) throw std::logic_error("no node is up");
  return found;
}

std::vector<std::pair<const Cluster::Member*, ClusterNode>> Cluster::selves() const {
  std::vector<std::pair<const Member*, ClusterNode>> found;
  for (const Member* each : up()) {
    for (ClusterNode& node : view_of(*each->server)) {
      if (node.myself) found.emplace_back(each, std::move(node));
    }
  }
  return found;
}

RedisServer* Cluster::server_of(int slot) {
  RedisServer* found = nullptr;
  long long epoch = -1;
  for (const auto& [each, self] : selves()) {
    if (self.primary && self.serves(slot) && self.epoch > epoch) {
      found = each->server.get();
      epoch = self.epoch;
    }
  }
  return found;
}

RedisServer& Cluster::primary_of(int slot) {
  RedisServer* found = nullptr;
  wait_for("nobody serves slot " + std::to_string(slot), [&] { return (found = server_of(slot)) != nullptr; });
  return *found;
}

std::vector<RedisServer*> Cluster::primaries() {
  std::map<int, std::pair<long long, RedisServer*>> by_slot;
  for (const auto& [each, self] : selves()) {
    if (!self.primary || self.slots.empty()) continue;
    auto& [epoch, server] = by_slot[self.slots.front().first];
    if (server == nullptr || self.epoch > epoch) std::tie(epoch, server) = std::pair(self.epoch, each->server.get());
  }
  std::vector<RedisServer*> found;
  for (const auto& [slot, claim] : by_slot) found.push_back(claim.second);
  return found;
}

std::vector<RedisServer*> Cluster::replicas_of(const RedisServer& primary) {
  std::vector<RedisServer*> found;
  for (const auto& [each, self] : selves()) {
    if (self.primary_id == id_of(primary)) found.push_back(each->server.get());
  }
  return found;
}

bool Cluster::is_primary(const RedisServer& node) { return ask(node).info("replication", "role") == "master"; }

int Cluster::slot_of(std::string_view key) {
  return static_cast<int>(ask(*up().front()->server).command("CLUSTER", "KEYSLOT", key).integer);
}

std::string Cluster::name_on(const RedisServer& primary, int number, const std::string& what) {
  for (int i = 0;; ++i) {
    std::string name = what + ":" + std::to_string(i);
    if (&primary_of(name) == &primary && number-- == 0) return name;
  }
}

std::vector<std::string> Cluster::names_on_each(const std::string& what) {
  std::vector<std::string> names;
  for (const RedisServer* primary : primaries()) names.push_back(name_on(*primary, 0, what));
  return names;
}

std::string Cluster::unrest() const {
  std::map<std::string, std::string> said_first;  // by id
  for (const Member* each : up()) {
    Raw raw = ask(*each->server);
    if (!raw.command("CLUSTER", "INFO").text.starts_with("cluster_state:ok")) return "a node does not serve";
    const std::vector<ClusterNode> view = read_cluster_nodes(raw.command("CLUSTER", "NODES").text);
    if (view.size() != members_.size()) return "not all nodes know each other";
    for (const ClusterNode& node : view) {
      const auto known = std::ranges::find(members_, node.id, [](const auto& member) { return member->id; });
      if (known == members_.end()) return "a node is not known by its own name yet";
      if ((*known)->server->up() && node.doubtful) return "a node is in doubt";
      std::string said = node.primary ? "primary" : "replica of " + node.primary_id;
      for (const auto& [first, last] : node.slots) said += " " + std::to_string(first) + "-" + std::to_string(last);
      if (said_first.try_emplace(node.id, said).first->second != said) return "two nodes differ about a third";
      if (!node.myself || node.primary) continue;
      if (raw.info("replication", "master_link_status") != "up") return "a replica is not linked";
    }
  }
  return {};
}

void Cluster::introduce_again() const {
  for (const Member* each : up()) {
    const std::vector<ClusterNode> view = view_of(*each->server);
    const auto knows = [&](const auto& member) {
      return std::ranges::find(view, member->id, &ClusterNode::id) != view.end();
    };
    for (const Member* other : up()) {
      if (!knows(other)) meet(*each->server, *other->server);
    }
    for (const auto& gone : removed_) {
      if (knows(gone)) ask(*each->server).command("CLUSTER", "FORGET", gone->id);
    }
  }
}

void Cluster::wait_until_settled() {
  constexpr std::chrono::seconds kBetween(5);
  auto next = std::chrono::steady_clock::now() + kBetween;
  wait_for("does not settle", [&] {
    const std::string why = unrest();
    if (why.empty()) return true;
    if (const auto now = std::chrono::steady_clock::now(); now >= next) {
      next = now + kBetween;
      introduce_again();
    }
    throw std::runtime_error(why);
  });
}

bool Cluster::all_know(int first, int last, const RedisServer& primary) const {
  const std::vector<ClusterNode> own = view_of(primary);
  const auto self = std::ranges::find(own, true, &ClusterNode::myself);
  return std::ranges::all_of(up(), [&](const Member* each) {
    const std::vector<ClusterNode> view = view_of(*each->server);
    const auto known = std::ranges::find(view, id_of(primary), &ClusterNode::id);
    if (known == view.end() || self == own.end() || known->epoch != self->epoch) return false;
    for (int slot = first; slot <= last; ++slot) {
      if (!known->serves(slot)) return false;
    }
    return true;
  });
}

void Cluster::wait_until_all_know(int first, int last, const RedisServer& primary) const {
  wait_for("not all know who serves slot " + std::to_string(first), [&] { return all_know(first, last, primary); });
}

void Cluster::failover(RedisServer& primary, Failover how) {
  const std::vector<ClusterNode> view = view_of(*up().front()->server);
  const auto known = std::ranges::find(view, id_of(primary), &ClusterNode::id);
  if (known == view.end() || known->slots.empty()) throw std::logic_error("not a primary with slots");
  const int slot = known->slots.front().first;
  const auto begun = [&] {
    // Until 6.2 a replica waits in vain where nothing was ever replicated: to it, offset 0 is an offset it was not
    // told.
    if (how == Failover::plain) ask(primary).command("SCRIPT", "LOAD", "return 0");
    for (const RedisServer* each : replicas_of(primary)) {
      std::vector<std::string> command{"CLUSTER", "FAILOVER"};
      if (how != Failover::plain) command.emplace_back(to_string(how));
      if (ask(*each).send(command).text == "OK") return true;
    }
    return false;
  };
  const auto done = [&] {
    const RedisServer* now = server_of(slot);
    return now != nullptr && now != &primary && all_know(slot, slot, *now) && (!primary.up() || !is_primary(primary));
  };
  // An election may fail, and is not repeated by itself.
  wait_for("no failover", [&] { return begun() && eventually(done, std::chrono::seconds(10)); });
}

void Cluster::wait_for_failover_from(const RedisServer& old_primary) {
  wait_for("no failover", [&] {
    return std::ranges::all_of(up(), [&](const Member* each) {
      Raw raw = ask(*each->server);
      if (!raw.command("CLUSTER", "INFO").text.starts_with("cluster_state:ok")) return false;
      const std::vector<ClusterNode> view = read_cluster_nodes(raw.command("CLUSTER", "NODES").text);
      const auto known = std::ranges::find(view, id_of(old_primary), &ClusterNode::id);
      return known == view.end() || known->slots.empty();
    });
  });
}

void Cluster::wait_for_one_primary(int slot) {
  wait_for("two primaries", [&] {
    const RedisServer* now = server_of(slot);
    return now != nullptr && all_know(slot, slot, *now);
  });
}

}  // namespace holdfast::test
