// SPDX-License-Identifier: Apache-2.0
// A node of a cluster: what it believes of the slots, and what it answers because of that.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/model/cluster_slot.hpp"
#include "sim/model/model_server.hpp"

namespace holdfast::test {

class ModelCluster;

/// Nodes are known by their numbers in the cluster.
class ClusterMember final : public ClusterGate {
 public:
  static constexpr std::uint16_t kNobody = 0xffff;

  ClusterMember(ModelCluster& cluster, ModelServer& server, std::uint16_t number);

  ModelServer& server() const { return server_; }
  std::uint16_t number() const { return number_; }
  const std::string& id() const { return id_; }
  /// The primary that it follows; itself, if it is one.
  std::uint16_t leader() const { return leader_; }
  void set_leader(std::uint16_t leader) { leader_ = leader; }

  std::uint16_t owner(std::uint16_t slot) const { return owners_[slot]; }
  /// True: it was news. What is older than what it believes is none.
  bool learn(std::uint16_t slot, std::uint16_t owner, std::uint64_t epoch);
  /// Whoever listens to channels of slots that it has just lost is told.
  void give_away_what_left(const std::vector<bool>& slots);
  void set_migrating(std::uint16_t slot, std::uint16_t to) { migrating_[slot] = to; }
  bool migrates(std::uint16_t slot) const { return migrating_.contains(slot); }
  void set_importing(std::uint16_t slot) { importing_.insert(slot); }
  void settle(std::uint16_t slot);
  /// It answers CLUSTERDOWN, since it cannot reach most others.
  void set_down(bool down) { down_ = down; }
  /// It sends whoever asks for this slot there, whatever is true.
  void lie(std::uint16_t slot, std::uint16_t to) { owners_[slot] = to; }

  void check(Args keys, bool asking, const std::function<bool(std::string_view)>& there) const override;
  void execute(Args command, std::string& out) const override;
  void spread(Channel kind, std::string_view channel, std::string_view text) override;

 private:
  void check_served_here(std::uint16_t slot, Args keys, const std::function<bool(std::string_view)>& there) const;
  [[noreturn]] void refer(std::string_view how, std::uint16_t slot, std::uint16_t to) const;
  void put_slots(std::string& out) const;
  void put_node(const ClusterMember& node, std::string& out) const;

  ModelCluster& cluster_;
  ModelServer& server_;
  const std::uint16_t number_;
  std::uint16_t leader_;
  std::string id_;
  std::vector<std::uint16_t> owners_;
  std::vector<std::uint64_t> epochs_;
  std::map<std::uint16_t, std::uint16_t> migrating_;
  std::set<std::uint16_t> importing_;
  bool down_ = false;
};

}  // namespace holdfast::test
