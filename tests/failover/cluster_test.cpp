// SPDX-License-Identifier: Apache-2.0
// The same under load on a cluster, whose slots also move, and whose nodes come and go.
#include "support/cluster.hpp"

#include "failover/load.hpp"
#include "support/server_program.hpp"
#include "support/taker_rounds.hpp"

namespace holdfast::test::cluster_test {
namespace {

using namespace std::chrono_literals;

class ClusterUnderLoad : public Load {
 protected:
  ClusterUnderLoad(const std::string& name, bool tls)
      : Load("Holdfast on a cluster" + std::string(tls ? " with TLS" : ""), name),
        cluster({.tls = tls, .node_timeout = 1000ms}) {}
  ClusterUnderLoad() : ClusterUnderLoad("cluster-", false) {}

  std::vector<RedisServer*> primaries() override { return cluster.primaries(); }
  std::vector<const RedisServer*> all_servers() override {
    std::vector<const RedisServer*> all;
    for (std::size_t i = 0; i < cluster.nodes(); ++i) all.push_back(&cluster.node(i));
    return all;
  }
  void wait_until_settled() override { cluster.wait_until_settled(); }

  /// Each fault strikes, and everybody goes on.
  void strike_with(const std::vector<Fault>& faults, int round) {
    for (const Fault fault : faults) {
      if (fault == Fault::moved_at_once && !Cluster::moves_atomically()) continue;
      // There the node follows a primary before it is removed, and acks of all would wait for it from then on.
      if (fault == Fault::grown && durable() && !server_like_redis(6, 2)) continue;
      if (fault == Fault::cut_off && round % kCutOffEvery != 0) continue;
      strike_and_look([&] {
        return strike(cluster, fault, kCounter, [this] { keep_what_will_be_forgotten(cluster.primary_of(kCounter)); });
      });
      if (HasFatalFailure()) return;
    }
  }

  /// A slot that moves takes its locks along.
  void expect_that_moves_forget_nothing() {
    for (std::size_t i = 0; i < struck().size(); ++i) {
      const Fault fault = struck()[i].fault;
      if (fault != Fault::resharded && fault != Fault::moved_at_once && fault != Fault::grown) continue;
      const Microseconds from = struck()[i].at;
      const Microseconds until = i + 1 < struck().size() ? struck()[i + 1].at : shared_clock();
      const auto in_its_time = [&](const HeldOnce& hold) { return hold.granted >= from && hold.learned() < until; };
      EXPECT_EQ(std::ranges::count_if(forgotten(holdfasts().history.holds), in_its_time), 0) << to_string(fault);
    }
  }

  Cluster cluster;
};
INSTANTIATE_TEST_SUITE_P(With, ClusterUnderLoad, ::testing::Values("none", "all"),
                         [](const auto& it) { return "Acks_" + it.param; });

TEST_P(ClusterUnderLoad, NoWaiterHangsAndEveryLossIsTold) {
  begin(cluster.url());
  for (int i = 0; i < failovers() && !HasFatalFailure(); ++i) {
    strike_with({Fault::forced, Fault::resharded, Fault::takeover, Fault::moved_at_once, Fault::killed, Fault::grown,
                 Fault::frozen, Fault::cut_off},
                i);
  }
  if (HasFatalFailure()) return;
  judge();
  expect_that_moves_forget_nothing();
}

class ClusterUnderLoadWithTls : public ClusterUnderLoad {
 protected:
  ClusterUnderLoadWithTls() : ClusterUnderLoad("cluster-tls-", true) {}
};
INSTANTIATE_TEST_SUITE_P(With, ClusterUnderLoadWithTls, ::testing::Values("all"),
                         [](const auto& it) { return "Acks_" + it.param; });

TEST_P(ClusterUnderLoadWithTls, NoWaiterHangsAndEveryLossIsTold) {
  begin(cluster.url());
  strike_with({Fault::forced, Fault::resharded, Fault::moved_at_once, Fault::killed}, 0);
  if (HasFatalFailure()) return;
  judge();
  expect_that_moves_forget_nothing();
}

}  // namespace
}  // namespace holdfast::test::cluster_test
