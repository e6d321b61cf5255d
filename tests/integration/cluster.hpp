// SPDX-License-Identifier: Apache-2.0
// What the tests of clusters share.
#pragma once

#include <memory>
#include <string>

#include "faults.hpp"
#include "support/cluster.hpp"

namespace holdfast::test {

/// A cluster, and settings for clients of it.
class ClusterTest : public testing::Test {
 protected:
  explicit ClusterTest(ClusterOptions options = {}) : cluster(std::move(options)) {}

  Config config() { return config(cluster.url()); }
  Config config(const std::string& url) {
    Config made = quick_config(url);
    made.lease = 30s;  // longer than a failover takes
    made.timing.command_timeout = 20s;
    made.timing.patience = 120s;
    made.observer = log;
    return made;
  }
  /// A name whose slot this node serves; another one for each number.
  std::string name_on(const RedisServer& node, int number = 0) { return cluster.name_on(node, number); }

  Cluster cluster;
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();
};

}  // namespace holdfast::test
