// SPDX-License-Identifier: Apache-2.0
// Slots that move with many locks held in them.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "faults.hpp"
#include "redis/decide/slot.hpp"
#include "support/cluster.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::cluster_moves_test {
namespace {

class ClusterMoves : public testing::Test {
 protected:
  static constexpr int kHolds = 1000, kFirst = 100, kLast = 299;  // five in a slot

  ClusterMoves() : names_(names_in_range()) {
    settings_ = quick_config(cluster.url());
    settings_.lease = 12s;
    settings_.timing.command_timeout = 10s;
    settings_.timing.patience = 120s;
    settings_.observer = log;
  }

  static bool all_renewed(Client& client) {
    const std::uint64_t before = client.counters().renewals;
    return eventually([&] { return client.counters().renewals >= before + kHolds; });
  }

  /// Renewed holds; `move` is to move the slots of all of them to the second primary.
  void hold_while(const std::function<void(Client& client, RedisServer& to)>& move) {
    Client client(settings_);
    std::vector<Hold> holds;
    for (const std::string& name : names_) holds.push_back(client.lock(name).acquire());
    Raw before(cluster.node(0)), after(cluster.node(1));
    ASSERT_EQ(before.command("DBSIZE").integer, kHolds);

    move(client, cluster.node(1));
    EXPECT_EQ(before.command("DBSIZE").integer, 0);
    EXPECT_EQ(after.command("DBSIZE").integer, kHolds);
    // Each is renewed where it is now, and no longer suspect then.
    EXPECT_TRUE(all_renewed(client));
    const auto is_held = [](const Hold& hold) { return hold.state() == HoldState::held && hold.valid_for() > 0ms; };
    EXPECT_TRUE(eventually([&] { return std::ranges::all_of(holds, is_held); }));
    EXPECT_EQ(log->count("lost"), 0U);
    for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_EQ(after.command("DBSIZE").integer, 0);
  }

  Cluster cluster;
  const std::shared_ptr<EventLog> log = std::make_shared<EventLog>();

 private:
  /// So many in each slot.
  static std::vector<std::string> names_in_range() {
    std::vector<int> left(kLast - kFirst + 1, kHolds / (kLast - kFirst + 1));
    std::vector<std::string> names;
    for (int i = 0; names.size() < kHolds; ++i) {
      std::string name = "lock" + std::to_string(i);
      const int slot = redis::cluster::slot_of(name);
      if (slot < kFirst || slot > kLast || left.at(static_cast<std::size_t>(slot - kFirst))-- <= 0) continue;
      names.push_back(std::move(name));
    }
    return names;
  }

  const std::vector<std::string> names_;
  Config settings_;
};

TEST_F(ClusterMoves, KeyByKeyLoseNoneOfAThousandHolds) {
  hold_while([this](Client&, RedisServer& to) { cluster.move_slots(kFirst, kLast, to); });
}

TEST_F(ClusterMoves, ThatStopHalfwayLoseNoneOfAThousandHolds) {
  hold_while([this](Client& client, RedisServer& to) {
    for (int slot = kFirst; slot <= kLast; ++slot) {
      cluster.begin_move(slot, to);
      cluster.move_keys(slot, to, 2);
    }
    EXPECT_TRUE(all_renewed(client));  // of each slot, some keys are here and some there
    cluster.move_slots(kFirst, kLast, to);
  });
}

TEST_F(ClusterMoves, AtOnceLoseNoneOfAThousandHolds) {
  if (!Cluster::moves_atomically()) GTEST_SKIP() << server_version() << " does not move slots atomically";
  hold_while([this](Client&, RedisServer& to) { cluster.move_slots_atomically(kFirst, kLast, to); });
}

}  // namespace
}  // namespace holdfast::test::cluster_moves_test
