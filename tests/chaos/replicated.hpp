// SPDX-License-Identifier: Apache-2.0
// Primaries with replicas: behind Sentinels, or in a cluster.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chaos/ground.hpp"
#include "support/cluster.hpp"
#include "support/deployment.hpp"
#include "support/network_namespace.hpp"

namespace holdfast::test::chaos {

/// What both have in common.
class Replicated : public Ground {
 public:
  explicit Replicated(std::string acks) : acks_(std::move(acks)) {}
  std::vector<std::string> settings() const override { return {"acks=" + acks_}; }
  bool all_acks() const override { return acks_ == "all"; }
  std::vector<std::string> left_out() const final;
  /// Each process is in a network of its own, where there are links at the addresses of the servers.
  Access access() final;
  std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) final;

 protected:
  /// Has a replica take over, or kills and freezes; returns when all is as before. False: it is none of these.
  virtual bool strike_servers(const Planned& planned, const std::string& name) = 0;
  virtual RedisServer& primary_of(const std::string& name) = 0;
  /// To which clients connect.
  virtual std::vector<const RedisServer*> servers() = 0;
  /// What one of its servers can suffer, and processes.
  static std::vector<Fault> of_any_server();
  /// For a server that has come since.
  void link_all_to(const RedisServer& server);

 private:
  const std::string acks_;
  std::vector<std::unique_ptr<NetworkNamespace>> networks_;
  std::vector<std::unique_ptr<Proxy>> later_links_;
};

class BehindSentinels final : public Replicated {
 public:
  explicit BehindSentinels(const std::string& acks);
  std::string url() const override { return deployment_.url(); }
  std::vector<Fault> faults() const override;
  bool taken(const std::string& name) override;
  std::optional<Struck> unasked() override;

 private:
  bool strike_servers(const Planned& planned, const std::string& name) override;
  RedisServer& primary_of(const std::string&) override { return deployment_.primary(); }
  std::vector<const RedisServer*> servers() override;

  Deployment deployment_;
  const RedisServer* known_;
  Microseconds known_at_;
};

class InCluster final : public Replicated {
 public:
  explicit InCluster(const std::string& acks);
  std::string url() const override { return cluster_.url(); }
  std::vector<Fault> faults() const override;
  /// One on each primary.
  std::vector<std::string> names(const std::string& word) override { return cluster_.names_on_each(word); }
  bool taken(const std::string& name) override;
  std::optional<Struck> unasked() override;

 private:
  bool strike_servers(const Planned& planned, const std::string& name) override;
  RedisServer& primary_of(const std::string& name) override { return cluster_.primary_of(std::string_view(name)); }
  std::vector<const RedisServer*> servers() override;
  void add_and_remove_node(const std::string& name);

  Cluster cluster_;
  std::vector<RedisServer*> known_;
  Microseconds known_at_;
};

}  // namespace holdfast::test::chaos
