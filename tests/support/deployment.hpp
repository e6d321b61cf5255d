// SPDX-License-Identifier: Apache-2.0
// What production looks like: a primary, its replicas, and the Sentinels that watch over them. All of them real.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "support/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

struct DeploymentOptions {
  std::size_t replicas = 2;
  std::size_t sentinels = 3;
  std::string name = "main";                  ///< By which the Sentinels know the primary.
  bool tls = false;                           ///< Everywhere: to servers and Sentinels, and among them.
  std::string password{};                     ///< Of the servers' default user. Neither needs escaping in a URL.
  std::string sentinel_password{};            ///< Of the Sentinels' default user.
  std::vector<std::string> sentinel_users{};  ///< As ServerOptions::users.
  bool persistent = false;                    ///< As ServerOptions::persistent, for each server.
  /// `replica-priority` of the first primary, the first replica, ...; 100 where there is none.
  std::vector<int> priorities{};
  int min_replicas_to_write = 0;               ///< With a `min-replicas-max-lag` of one second.
  std::vector<std::string> config{};           ///< Further lines for each server.
  std::vector<std::string> sentinel_config{};  ///< Further lines for each Sentinel.
  std::chrono::milliseconds down_after{1000};  ///< A server that is silent for so long counts as down.
  std::chrono::milliseconds failover_timeout{3000};
};

/// Starts at construction. When the constructor returns, the replicas are linked and all Sentinels know each other and
/// them. Fast: failovers can follow each other at once, and where the server permits it (Redis 7.0 or later) Sentinels
/// look at everything ten times as often as usual. Not thread-safe, but for url().
class Deployment {
 public:
  explicit Deployment(DeploymentOptions options = {});
  Deployment(const Deployment&) = delete;
  Deployment& operator=(const Deployment&) = delete;

  /// `redis+sentinel://127.0.0.1:port,.../name`, with the passwords if there are any, and what else is needed.
  std::string url() const { return url_of(sentinels_); }
  /// The same with these Sentinels, in this order: `"127.0.0.1:1,127.0.0.1:26379"`.
  std::string url_at(const std::string& addresses) const;
  /// `host:port` of a Sentinel or a server, as in the URL.
  static std::string address(const RedisServer& server) { return "127.0.0.1:" + std::to_string(server.port()); }
  const std::string& name() const { return options_.name; }
  const Certificates& certificates() const { return certificates_; }

  /// As the first Sentinel that is up says; as it was when none is. Each can be killed, frozen and restarted. A killed
  /// primary that is restarted begins as a primary, and the Sentinels make it a replica.
  RedisServer& primary();
  /// All others, whatever they are at the moment.
  std::vector<RedisServer*> replicas();
  RedisServer& server(std::size_t index) { return *servers_.at(index); }  ///< 0: the first primary.
  RedisServer& sentinel(std::size_t index) { return *sentinels_.at(index); }
  /// Makes it as fast as all are in the beginning; for one that was restarted.
  static void hurry(const RedisServer& sentinel);
  std::size_t servers() const { return servers_.size(); }
  std::size_t sentinels() const { return sentinels_.size(); }

  /// SENTINEL FAILOVER. Returns when the new primary serves and all Sentinels that are up name it. On a machine under
  /// load that may be the old one again, since another failover has followed.
  void failover();
  /// After a primary was killed or frozen: as failover(), but the Sentinels find it out by themselves.
  void wait_for_failover_from(const RedisServer& old_primary);
  /// What comes back takes writes as a primary until a Sentinel makes it a replica.
  void wait_for_one_primary();
  /// All servers that are up are linked to the primary, and all Sentinels that are up see it so.
  void wait_until_settled();

 private:
  using Servers = std::vector<std::unique_ptr<RedisServer>>;

  std::string url_of(const Servers& sentinels) const;
  ServerOptions server_options(std::size_t index) const;
  ServerOptions sentinel_options(std::size_t index) const;
  bool left(const RedisServer& old_primary);
  RedisServer* announced_by(const RedisServer& sentinel);
  bool all_name(const RedisServer& server);
  bool settled();

  const DeploymentOptions options_;
  TempDir folder_;
  Certificates certificates_;
  Servers servers_, sentinels_;
  RedisServer* latest_ = nullptr;  // primary that was announced
};

}  // namespace holdfast::test
