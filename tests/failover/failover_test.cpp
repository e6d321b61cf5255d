// SPDX-License-Identifier: Apache-2.0
// Failovers under load: what is granted twice, what is forgotten, who is told when, and how long nobody gets in.
#include "failover/load.hpp"

namespace holdfast::test::failover_test {
namespace {

class UnderLoad : public Load {
 protected:
  UnderLoad() : Load("Holdfast", "") {}

  std::vector<RedisServer*> primaries() override { return {&deployment.primary()}; }
  std::vector<const RedisServer*> all_servers() override {
    std::vector<const RedisServer*> all;
    for (std::size_t i = 0; i < deployment.servers(); ++i) all.push_back(&deployment.server(i));
    for (std::size_t i = 0; i < deployment.sentinels(); ++i) all.push_back(&deployment.sentinel(i));
    return all;
  }
  void wait_until_settled() override { deployment.wait_until_settled(); }

  // Sentinels begin no election within twice this time of the one before.
  Deployment deployment{{.failover_timeout = std::chrono::milliseconds(1000)}};
  const Peer redisson{"redisson-4"};
};
INSTANTIATE_TEST_SUITE_P(With, UnderLoad, ::testing::Values("none", "all"),
                         [](const auto& it) { return "Acks_" + it.param; });

TEST_P(UnderLoad, NoWaiterHangsAndEveryLossIsTold) {
  begin(deployment.url(), failovers() > 1 ? &redisson : nullptr);
  for (int i = 0; i < failovers() && !HasFatalFailure(); ++i) {
    for (const Fault fault : {Fault::forced, Fault::killed, Fault::cut_off}) {
      if (fault == Fault::cut_off && i % kCutOffEvery != 0) continue;
      strike_and_look(
          [&] { return strike(deployment, fault, [this] { keep_what_will_be_forgotten(deployment.primary()); }); });
      if (HasFatalFailure()) return;
    }
  }
  judge();
}

}  // namespace
}  // namespace holdfast::test::failover_test
