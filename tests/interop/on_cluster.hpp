// SPDX-License-Identifier: Apache-2.0
// A cluster for both sides: three primaries with a replica each, and names whose slots they serve.
#pragma once

#include <numeric>
#include <string>
#include <vector>

#include "counting.hpp"
#include "support/cluster.hpp"

namespace holdfast::test {

class OnCluster : public Counting {
 protected:
  OnCluster() {
    set_url(cluster.url());
    set("lease_ms", 30s);
  }

  /// Waits until somebody listens on the channel of this lock, at any node and in either way.
  bool somebody_listens(const std::string& name) {
    const std::string channel = "redisson_lock__channel:{" + name + "}";
    return eventually([&] {
      long long listeners = 0;
      for (std::size_t i = 0; i < cluster.nodes(); ++i) {
        Raw node(cluster.node(i));
        for (const char* const way : {"NUMSUB", "SHARDNUMSUB"}) {
          const auto reply = node.command("PUBSUB", way, channel);
          if (reply.elements.size() == 2) listeners += reply.elements[1].integer;
        }
      }
      return listeners > 0;
    });
  }

  /// Redis 7 and later, and any Valkey.
  bool server_has_spublish() { return !raw.command("PUBSUB", "SHARDNUMSUB").is_error(); }
  /// How often a release was announced by SPUBLISH.
  long long sharded_messages() {
    long long count = 0;
    for (std::size_t i = 0; i < cluster.nodes(); ++i) count += Raw(cluster.node(i)).calls("spublish");
    return count;
  }
  /// What lets Holdfast and this peer hear each other. Before Redisson could be told, it knew PUBLISH only, or asked
  /// one primary by a SPUBLISH that only another one takes: then it is chance which of the two a process uses. Also for
  /// constructors: a peer that is not here has nothing to be asked.
  void agree_on_publishing() {
    if (peer.why_not().empty() && !peer.can("sharded_subscription")) set("publish", "both");
  }

  Cluster cluster{{.node_timeout = 15s}};
};

}  // namespace holdfast::test
