// SPDX-License-Identifier: Apache-2.0
// A cluster of three primaries with a replica each, as the servers of a run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/model/model_cluster.hpp"
#include "sim/servers.hpp"

namespace holdfast::test::sim {

class ClusterServers final : public Servers {
 public:
  ClusterServers(World& world, Network& network, const Plan& plan);

  std::vector<Config> reached_by(const Config& settings) const override;
  /// Of a slot that moves, at both of its nodes, as long as the one that serves it knows of the other one: its
  /// replica, promoted, does not.
  std::vector<std::string> owners(const std::string& key) override;
  std::vector<std::string> waiting(const std::string& queue) override;
  Keyspace& keyspace_of(const std::string& key) override;
  void put(const std::string& key, const std::string& text) override;
  Heal strike(const Fault& fault) override;
  Heal hide_from(Network& network, const Process& process, const Fault& fault) override;
  void lose_all() override;
  void freeze() override;
  void spoil(Sabotage sabotage) override;

 private:
  std::uint16_t slot_of(const Fault& fault) const;
  /// Whoever has its keys.
  std::uint16_t keeper(std::uint16_t slot) const;
  Heal take_over(std::uint16_t primary);
  Heal cut_replica(std::uint16_t primary);
  Heal move(std::uint16_t slot, base::Duration lasts);
  Heal abandon(std::uint16_t slot);

  World& world_;
  const Plan& plan_;
  ModelCluster cluster_;
  std::map<std::uint16_t, std::uint16_t> abandoned_;  // slots, with another one of the same shard
};

}  // namespace holdfast::test::sim
