// SPDX-License-Identifier: Apache-2.0
// Many clients of a cluster that loses a primary: they find its successor without a storm of questions.
#include <deque>
#include <vector>

#include "cluster.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::cluster_asking_test {
namespace {

class ClusterAsking : public ClusterTest {
 protected:
  static constexpr long long kClients = 16;

  /// CLUSTER SLOTS, at all nodes that are up. The tests' own looks ask for CLUSTER NODES.
  long long asked() {
    long long count = 0;
    for (std::size_t i = 0; i < cluster.nodes(); ++i) {
      try {
        count += Raw(cluster.node(i)).calls("cluster|slots");
      } catch (const std::runtime_error&) {  // it was killed
      }
    }
    return count;
  }
};

TEST_F(ClusterAsking, ForTheMapStaysRareWhileAPrimaryFails) {
  if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 Redis does not count subcommands";
  std::vector<std::string> names;
  for (RedisServer* primary : cluster.primaries()) names.push_back(name_on(*primary));
  std::deque<Client> clients;
  std::vector<Hold> holds;
  for (long long i = 0; i < kClients; ++i) {
    Config settings = config();
    settings.lease = 9s;  // renewals run into the failure, too
    Client& client = clients.emplace_back(settings);
    for (const std::string& name : names) {
      holds.push_back(client.lock("{" + name + "}:" + std::to_string(i)).acquire());
    }
  }
  const long long at_first = asked();
  EXPECT_GE(at_first, kClients) << "the count";
  EXPECT_LE(at_first, 4 * kClients);

  RedisServer& primary = *cluster.primaries().front();
  const std::string& name = names.front();
  const long long of_victim = Raw(primary).calls("cluster|slots");
  const auto killed = steady_clock::now();
  primary.kill();
  std::vector<std::thread> callers;
  std::atomic<int> through{0};
  for (Client& client : clients) {
    callers.emplace_back([&client, &through, &name] {
      EXPECT_NO_THROW(client.lock(name).acquire().release());
      ++through;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(through, kClients);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(steady_clock::now() - killed).count();
  const long long asked_since = asked() - (at_first - of_victim);
  EXPECT_GE(asked_since, kClients) << "all of them have found the successor";
  EXPECT_LE(asked_since, kClients * (10 + 2 * seconds));
  RecordProperty("questions", static_cast<int>(asked_since));
}

}  // namespace
}  // namespace holdfast::test::cluster_asking_test
