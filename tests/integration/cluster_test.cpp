// SPDX-License-Identifier: Apache-2.0
// A single server, by its URL, that is a node of a cluster.
#include "support/cluster.hpp"

#include "faults.hpp"

namespace holdfast::test::cluster_test {
namespace {

class ClusterNode : public Faults {
 protected:
  ClusterNode() : Faults({.listen = ServerOptions::Listen::tcp, .cluster = true}) {}

  /// How long after a release, behind which somebody of the same client waits, the lock is taken again. Nobody else
  /// listens at this node.
  static steady_clock::duration gap(const Config& settings) {
    Client client(settings);
    Lock lock = client.lock("orders");
    std::vector<steady_clock::duration> gaps;
    for (int i = 0; i < 7; ++i) {
      Hold hold = lock.acquire();
      auto next = in_thread([lock]() mutable {
        Hold taken = lock.acquire();
        return steady_clock::now();
      });
      std::this_thread::sleep_for(20ms);  // there is nothing to be seen of a local queue
      const auto began = steady_clock::now();
      hold.release();
      gaps.push_back(next.get() - began);
    }
    return std::ranges::max(gaps);
  }
};

TEST_F(ClusterNode, CountsAsIfOthersListened) {
  // The pause in which others may come is left out once nobody has used it, and then again and again: the longest
  // counts.
  EXPECT_GE(gap(config()), 2500us);
}

TEST(SingleServer, ThatIsANodeOfAClusterIsTheWrongKindOfUrl) {
  Cluster cluster({.primaries = 2, .replicas = 0});
  RedisServer& other = &cluster.primary_of("orders") == &cluster.node(0) ? cluster.node(1) : cluster.node(0);
  Client client(Config::from_url("redis://" + Cluster::address(other)));
  try {
    const Hold hold = client.lock("orders").acquire();
    ADD_FAILURE() << "granted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported_by_server);
    EXPECT_NE(std::string(error.what()).find("redis+cluster://"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace holdfast::test::cluster_test
