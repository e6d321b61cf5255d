// SPDX-License-Identifier: Apache-2.0
// A primary with replicas.
#pragma once

#include <deque>
#include <functional>

#include "faults.hpp"

namespace holdfast::test {

/// The fixture's server, and replicas that are added to it.
class Replicated : public Faults {
 protected:
  Replicated()
      : Faults({.listen = ServerOptions::Listen::tcp, .config = {"repl-diskless-sync-delay 0", "repl-timeout 600"}}) {}

  /// Returns when they have all that the primary has.
  void add_replicas(int count) {
    for (int i = 0; i < count; ++i) {
      replicas.emplace_back(ServerOptions{.listen = ServerOptions::Listen::tcp, .replica_of = &server});
    }
    ASSERT_TRUE(eventually([&] {
      ++waits_of_fixture;
      return raw.replicated(replicas.size());
    }));
    raw.command("DEL", "replicated");
  }

  /// Its lane for acks is there, and knows how many replicas there are.
  static void warm(Client& client) { Hold hold = client.lock("warm").acquire({.acks = Acks::all()}); }

  using Faults::config;
  Config config(const std::function<void(Config&)>& set) const {
    Config config = Faults::config();
    set(config);
    return config;
  }

  /// The one that is blocked in a WAIT; if there is none: all but the client's first.
  void kill_waiting_lane(Client& client) {
    const std::string list = raw.command("CLIENT", "LIST").text;
    std::string id;
    for (std::size_t at = 0; at < list.size(); at = list.find('\n', at) + 1) {
      const std::string line = list.substr(at, list.find('\n', at) - at);
      const bool of_lane = line.find(" cmd=wait ") != std::string::npos || line.find(" cmd=wait|") != std::string::npos;
      const bool is_own = line.find(" name=holdfast") != std::string::npos;
      if (of_lane && is_own) id = line.substr(3, line.find(' ') - 3);
    }
    ASSERT_FALSE(id.empty()) << client.node() << " shows no lane for acks:\n" << list;
    raw.command("CLIENT", "KILL", "ID", id);
  }

  std::deque<RedisServer> replicas;
  long long waits_of_fixture = 0;
};

}  // namespace holdfast::test
