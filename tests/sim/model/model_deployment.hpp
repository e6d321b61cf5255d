// SPDX-License-Identifier: Apache-2.0
// A primary, its replicas, and the Sentinels that agree on another primary when this one is gone.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/model/model_server.hpp"
#include "sim/model/replication.hpp"
#include "sim/model/sentinel.hpp"

namespace holdfast::test {

struct DeploymentSettings {
  std::string name = "orders";
  std::size_t replicas = 2;
  std::size_t sentinels = 3;
  int first_host = 1;  ///< 10.0.0.n, the servers first, then the Sentinels.
  Way replication{};
  base::Duration down_after = std::chrono::seconds(1);
  /// From the agreement that it is gone to its replacement.
  base::Duration election_least = std::chrono::milliseconds(50), election_most = std::chrono::seconds(1);
  /// From there until the old primary, if it is there, is told: so long it goes on.
  base::Duration demotion_least = std::chrono::milliseconds(10), demotion_most = std::chrono::seconds(2);
  ServerSettings server{};  ///< Of all servers, but for their places.
};

class ModelDeployment {
 public:
  ModelDeployment(Time& time, DeploymentSettings settings = {});
  ~ModelDeployment();
  ModelDeployment(const ModelDeployment&) = delete;
  ModelDeployment& operator=(const ModelDeployment&) = delete;

  std::size_t size() const { return servers_.size(); }
  ModelServer& server(std::size_t number) { return *servers_[number]; }
  ModelSentinel& sentinel(std::size_t number) { return *sentinels_[number]; }
  const std::string& name() const { return settings_.name; }
  /// The number of that which the Sentinels agree on.
  std::size_t primary() const { return primary_; }
  /// All nodes, in the order of their hosts.
  std::vector<ModelNode*> nodes();

  // ---- what can happen ----
  void kill(std::size_t server);
  void restart(std::size_t server, ModelServer::Restored data);
  void freeze(std::size_t server);
  void thaw(std::size_t server);
  /// Nothing gets from the primary to this replica, or again.
  void cut(std::size_t replica, bool on);
  /// SENTINEL FAILOVER: the primary is well, and is replaced.
  void fail_over();

 private:
  bool runs(std::size_t server) const;
  void suspect();
  void elect();
  /// What others have not got is gone.
  void promote(std::size_t server);
  void attach(std::size_t replica);
  void demote(std::size_t server);
  void later(base::Duration least, base::Duration most, std::function<void()> event);

  Time& time_;
  const DeploymentSettings settings_;
  const std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);
  std::vector<std::unique_ptr<ModelServer>> servers_;
  std::vector<std::unique_ptr<Replication>> replications_;  // of each server, null: it leads, or is left alone
  std::vector<bool> cut_;
  std::vector<std::unique_ptr<ModelSentinel>> sentinels_;
  std::size_t primary_ = 0;
  bool electing_ = false;
};

}  // namespace holdfast::test
