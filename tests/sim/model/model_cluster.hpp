// SPDX-License-Identifier: Apache-2.0
// A cluster: primaries with replicas, slots that move, and failovers that the nodes agree on by themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/model/cluster_member.hpp"
#include "sim/model/replication.hpp"

namespace holdfast::test {

struct ClusterSettings {
  std::size_t primaries = 3;
  std::size_t replicas = 1;  ///< Of each.
  int first_host = 1;        ///< 10.0.0.n, the primaries first, then the replicas of each in turn.
  Way replication{};
  base::Duration node_timeout = std::chrono::seconds(2);
  base::Duration election_least = std::chrono::milliseconds(500), election_most = std::chrono::milliseconds(1500);
  /// What one node knows another one knows so much later.
  base::Duration gossip_least = std::chrono::milliseconds(1), gossip_most = std::chrono::milliseconds(500);
  ServerSettings server{};  ///< Of all servers, but for their places.
};

class ModelCluster {
 public:
  ModelCluster(Time& time, ClusterSettings settings = {});
  ~ModelCluster();
  ModelCluster(const ModelCluster&) = delete;
  ModelCluster& operator=(const ModelCluster&) = delete;

  std::size_t size() const { return members_.size(); }
  ClusterMember& member(std::size_t number) const { return *members_[number]; }
  ModelServer& server(std::size_t number) const { return *servers_[number]; }
  std::vector<ModelNode*> nodes();
  /// Who serves it, by the latest word.
  std::uint16_t owner(std::uint16_t slot) const { return owners_[slot]; }
  /// Where its keys go; kNobody: it does not move.
  std::uint16_t target(std::uint16_t slot) const { return targets_[slot]; }
  std::vector<const ClusterMember*> replicas_of(std::uint16_t primary) const;
  void spread(const ClusterMember& from, Channel kind, std::string_view channel, std::string_view text);

  // ---- what can happen ----
  void kill(std::uint16_t node);
  void restart(std::uint16_t node, ModelServer::Restored data);
  void freeze(std::uint16_t node);
  void thaw(std::uint16_t node);
  /// Nothing gets from its primary to this replica, or again.
  void cut(std::uint16_t replica, bool on);
  /// It reaches no other node, and none reaches it; clients do.
  void isolate(std::uint16_t node, bool on);
  /// CLUSTER FAILOVER TAKEOVER at this replica.
  void take_over(std::uint16_t replica);

  /// A slot moves key by key: it begins, so many of its keys go, it ends.
  void begin_move(std::uint16_t slot, std::uint16_t to);
  std::size_t move_keys(std::uint16_t slot, std::size_t most);
  void end_move(std::uint16_t slot);
  /// The rest of its keys go, and it ends, once both nodes are there.
  void finish_move(std::uint16_t slot);
  /// All that it has, and the slot, in one moment.
  void move_at_once(std::uint16_t slot, std::uint16_t to);
  /// DELSLOTS everywhere: nobody serves it.
  void abandon(std::uint16_t slot);
  /// ADDSLOTS: of a slot that nobody serves.
  void adopt(std::uint16_t slot, std::uint16_t by);

 private:
  bool runs(std::uint16_t node) const { return server(node).up() && !server(node).frozen(); }
  bool is_heard(std::uint16_t node) const { return runs(node) && !isolated_[node]; }
  void cut_links(std::uint16_t replica);
  void later(base::Duration least, base::Duration most, std::function<void()> event);
  void suspect(std::uint16_t primary);
  void elect(std::uint16_t primary);
  void announce(std::uint16_t by, const std::vector<bool>& slots);
  void inform(std::uint16_t node, const std::vector<bool>& slots, std::uint16_t owner, std::uint64_t epoch);
  void take_place(std::uint16_t node);
  void attach(std::uint16_t replica);

  Time& time_;
  const ClusterSettings settings_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  std::vector<std::unique_ptr<ModelServer>> servers_;
  std::vector<std::unique_ptr<ClusterMember>> members_;
  std::vector<std::unique_ptr<Replication>> replications_;
  std::vector<bool> cut_, isolated_;
  std::vector<std::uint16_t> owners_;   // by the latest word
  std::vector<std::uint16_t> targets_;  // of slots that are moving; kNobody: it is not
  std::uint64_t epoch_ = 0;
};

}  // namespace holdfast::test
