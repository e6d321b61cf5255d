// SPDX-License-Identifier: Apache-2.0
#include "sim/model/cluster_member.hpp"

#include <algorithm>

#include "sim/model/model_cluster.hpp"

namespace holdfast::test {

ClusterMember::ClusterMember(ModelCluster& cluster, ModelServer& server, std::uint16_t number)
    : cluster_(cluster),
      server_(server),
      number_(number),
      leader_(number),
      id_(server.run_id()),
      owners_(kModelSlots, kNobody),
      epochs_(kModelSlots, 0) {
  server.set_gate(this);
}

bool ClusterMember::learn(std::uint16_t slot, std::uint16_t owner, std::uint64_t epoch) {
  if (epoch <= epochs_[slot]) return false;
  epochs_[slot] = epoch;
  owners_[slot] = owner;
  if (owner != number_) migrating_.erase(slot);
  return true;
}

void ClusterMember::give_away_what_left(const std::vector<bool>& slots) {
  server_.give_away([&](std::string_view channel) {
    const std::uint16_t slot = model_slot_of(channel);
    return slots[slot] && owners_[slot] != leader_;
  });
}

void ClusterMember::settle(std::uint16_t slot) {
  migrating_.erase(slot);
  importing_.erase(slot);
}

// ---- what it says to a command ----

void ClusterMember::refer(std::string_view how, std::uint16_t slot, std::uint16_t to) const {
  throw Refused(std::string(how) + " " + std::to_string(slot) + " " + to_string(cluster_.member(to).server().place()));
}

void ClusterMember::check(Args keys, bool asking, const std::function<bool(std::string_view)>& there) const {
  const std::uint16_t slot = model_slot_of(keys.front());
  for (const std::string_view key : keys) {
    if (model_slot_of(key) != slot) throw Refused("CROSSSLOT Keys in request don't hash to the same slot");
  }
  if (down_) throw Refused("CLUSTERDOWN The cluster is down");
  const std::uint16_t owner = owners_[slot];
  if (owner == kNobody) throw Refused("CLUSTERDOWN Hash slot not served");
  if (owner == number_) return check_served_here(slot, keys, there);
  if (asking && importing_.contains(slot)) {
    if (there && keys.size() > 1 && !std::ranges::all_of(keys, there)) {
      throw Refused("TRYAGAIN Multiple keys request during rehashing of slot");
    }
    return;
  }
  const bool sharded_channels = !there;
  if (sharded_channels && owner == leader_) return;  // a replica has its primary's channels, too
  refer("MOVED", slot, owner);
}

void ClusterMember::check_served_here(std::uint16_t slot, Args keys,
                                      const std::function<bool(std::string_view)>& there) const {
  const auto migrating = migrating_.find(slot);
  if (migrating == migrating_.end() || !there) return;
  const auto present = std::ranges::count_if(keys, there);
  if (present == std::ssize(keys)) return;
  // Before 7.0 also where only some are there.
  if (present > 0 && server_.likeness().major >= 7) {
    throw Refused("TRYAGAIN Multiple keys request during rehashing of slot");
  }
  refer("ASK", slot, migrating->second);
}

// ---- CLUSTER ----

void ClusterMember::execute(Args command, std::string& out) const {
  if (command[0] == "SLOTS") return put_slots(out);
  if (command[0] == "MYID") return put_text(out, id_);
  if (command[0] == "KEYSLOT" && command.size() == 2) return put_number(out, model_slot_of(command[1]));
  if (command[0] == "INFO") return put_text(out, down_ ? "cluster_state:fail\r\n" : "cluster_state:ok\r\n");
  throw Refused("ERR unknown subcommand '" + std::string(command[0]) + "'. Try CLUSTER HELP.");
}

void ClusterMember::put_node(const ClusterMember& node, std::string& out) const {
  put_head(out, '*', 4);
  put_text(out, node.server().place().host);
  put_number(out, node.server().place().port);
  put_text(out, node.id());
  put_head(out, '*', 0);
}

void ClusterMember::put_slots(std::string& out) const {
  std::string ranges;
  std::size_t count = 0;
  for (std::size_t first = 0; first < kModelSlots;) {
    std::size_t behind = first + 1;
    while (behind < kModelSlots && owners_[behind] == owners_[first]) ++behind;
    if (owners_[first] != kNobody) {
      const std::vector<const ClusterMember*> replicas = cluster_.replicas_of(owners_[first]);
      ++count;
      put_head(ranges, '*', 3 + replicas.size());
      put_number(ranges, static_cast<std::int64_t>(first));
      put_number(ranges, static_cast<std::int64_t>(behind) - 1);
      put_node(cluster_.member(owners_[first]), ranges);
      for (const ClusterMember* const replica : replicas) put_node(*replica, ranges);
    }
    first = behind;
  }
  put_head(out, '*', count);
  out += ranges;
}

void ClusterMember::spread(Channel kind, std::string_view channel, std::string_view text) {
  cluster_.spread(*this, kind, channel, text);
}

}  // namespace holdfast::test
