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
  /// Before 3.22, Redisson knows PUBLISH only.
  bool peer_has_spublish() const { return !peer.id().starts_with("redisson-3.1"); }
  /// What lets Holdfast and this peer hear each other.
  void agree_on_publishing() {
    if (!peer_has_spublish()) set("publish", "both");
  }

  Cluster cluster{{.node_timeout = 15s}};
};

}  // namespace holdfast::test
