// SPDX-License-Identifier: Apache-2.0
// What the tests of deployments with Sentinels share.
#pragma once

#include <memory>
#include <sstream>
#include <string>

#include "faults.hpp"
#include "support/deployment.hpp"

namespace holdfast::test {

/// A deployment, and settings for clients of it.
class SentinelTest : public testing::Test {
 protected:
  explicit SentinelTest(DeploymentOptions options = {}) : deployment(std::move(options)) {}

  Config config() { return config(deployment.url()); }
  Config config(const std::string& url) {
    Config made = quick_config(url);
    made.lease = 30s;  // longer than a failover takes
    made.timing.command_timeout = 20s;
    made.timing.patience = 120s;  // on a busy machine Sentinels find no good replica for a while
    made.observer = log;
    return made;
  }
  static std::string address(const RedisServer& server) { return Deployment::address(server); }
  /// How many of our connections a Sentinel has that hear its announcements.
  static long long watchers(const RedisServer& sentinel) {
    std::istringstream clients(Raw(sentinel).command("CLIENT", "LIST").text);
    long long count = 0;
    for (std::string line; std::getline(clients, line);) {
      if (line.find(" name=holdfast") != line.npos && line.find(" sub=1 ") != line.npos) ++count;
    }
    return count;
  }
  bool watched_by(std::size_t sentinels) {
    return eventually([&] {
      std::size_t count = 0;
      for (std::size_t i = 0; i < deployment.sentinels(); ++i) {
        if (deployment.sentinel(i).up() && watchers(deployment.sentinel(i)) > 0) ++count;
      }
      return count >= sentinels;
    });
  }

  Deployment deployment;
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
};

}  // namespace holdfast::test
