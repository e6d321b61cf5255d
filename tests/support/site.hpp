// SPDX-License-Identifier: Apache-2.0
// Where the locks of a test live: on one server, or in a cluster.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/cluster.hpp"
#include "support/raw.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {

/// HOLDFAST_TEST_SERVERS: `one` (also if it is not set), or `cluster`; see tests/README.md. Throws
/// std::invalid_argument on anything else.
bool in_cluster();

/// A server, or with HOLDFAST_TEST_SERVERS=cluster a cluster. Nothing moves in it, so who serves a name is asked once.
/// Not thread-safe.
class Site {
 public:
  explicit Site(std::size_t primaries = 3, std::size_t replicas = 1);

  const std::string& url() const { return url_; }
  /// Who serves this name, for what a test does to a server and for Monitor.
  RedisServer& server(std::string_view name);
  /// Restarts it, and returns when it serves the name again; in a cluster that takes some two seconds.
  void restart(std::string_view name, Data data);
  /// A connection to it.
  Raw& raw(std::string_view name);

  bool exists(std::string_view name) { return raw(name).exists(name); }
  /// How many connections listen on the channel of the lock, wherever they do.
  long long listeners(std::string_view name);
  /// How many channels of locks somebody listens to.
  std::size_t channels();
  /// Tells those who listen that the lock was released, as a release does.
  void wake(std::string_view name);

 private:
  Raw& raw(const RedisServer& server);

  std::unique_ptr<RedisServer> one_;
  std::unique_ptr<Cluster> cluster_;
  std::vector<RedisServer*> primaries_;
  std::map<std::string, RedisServer*, std::less<>> by_name_;
  std::map<const RedisServer*, Raw> raws_;
  std::string url_;
};

}  // namespace holdfast::test
