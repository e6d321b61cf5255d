// SPDX-License-Identifier: Apache-2.0
// Locks of several servers in simulated time: what waiting for them costs.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/async.hpp>

#include "sim/model/model_server.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::test::sim::group_test {
namespace {

using namespace std::chrono_literals;

/// A process with a client of each server, and a lock on all of them.
class GroupMember {
 public:
  GroupMember(World& world, int number, const std::vector<std::unique_ptr<ModelServer>>& servers, bool majority)
      : process_(world, number) {
    process_.inside([&] {
      std::vector<Lock> locks;
      for (const auto& server : servers) {
        Config config;
        config.server = NodeAddress{server->place().host};
        config.label = "member";
        config.timing.command_timeout = 300ms;
        clients_.push_back(client_on(process_.context(), config));
        locks.push_back(clients_.back().lock("orders"));
      }
      lock_ =
          majority ? std::unique_ptr<BasicLock>(new RedLock(locks)) : std::unique_ptr<BasicLock>(new MultiLock(locks));
    });
  }
  ~GroupMember() {
    process_.inside([this] {
      hold_ = {};
      lock_.reset();
      clients_.clear();
    });
  }
  GroupMember(const GroupMember&) = delete;
  GroupMember& operator=(const GroupMember&) = delete;

  void acquire(const AcquireOptions& options = {}) {
    answered_ = false;
    process_.inside([&] {
      lock_->async_acquire(options, [this](const Failure& failure, Hold hold) {
        answered_ = true;
        granted_ = !failure;
        hold_ = std::move(hold);
      });
    });
  }
  void release() {
    process_.inside([this] { hold_.async_release([](ReleaseOutcome) {}); });
  }
  bool answered() const { return answered_; }
  bool granted() const { return granted_; }

 private:
  Process process_;
  std::vector<Client> clients_;
  std::unique_ptr<BasicLock> lock_;
  Hold hold_;
  bool answered_ = false, granted_ = false;
};

class Groups : public testing::Test {
 protected:
  void add_servers(int count) {
    for (int i = 0; i < count; ++i) {
      ServerSettings settings;
      settings.place.host = Network::host(static_cast<std::size_t>(i));
      servers_.push_back(std::make_unique<ModelServer>(world_, settings));
      network_.add(*servers_.back());
    }
  }
  GroupMember& join(bool majority) {
    return *members_.emplace_back(std::make_unique<GroupMember>(world_, ++last_, servers_, majority));
  }
  /// Somebody's who has it for so long.
  void take(std::size_t server, base::Duration lease) {
    servers_[server]->change([&](Keyspace& keys) {
      keys.set_field("orders", "99999999-2222-4333-8444-555555555555:7", "1");
      keys.expire("orders", std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(lease).count()));
    });
  }
  /// How many all servers carry out in this time.
  std::uint64_t commands_within(base::Duration time) {
    const std::uint64_t before = commands();
    world_.run(time);
    return commands() - before;
  }
  std::uint64_t commands() const {
    std::uint64_t sum = 0;
    for (const auto& server : servers_) sum += server->commands();
    return sum;
  }

  World world_{1};
  Network network_{world_};
  std::vector<std::unique_ptr<ModelServer>> servers_;
  std::vector<std::unique_ptr<GroupMember>> members_;
  int last_ = 0;
};

/// Each round that fails gives back what it was granted, and that is told: to those who wait for the same.
TEST_F(Groups, WaitersOfAMajorityDoNotKeepEachOtherAwake) {
  add_servers(5);
  for (const std::size_t server : {0U, 1U, 2U}) take(server, 1min);
  for (int i = 0; i < 3; ++i) join(true).acquire();
  EXPECT_LT(commands_within(10s), 3 * 5 * 2 * 20U) << "a safety poll lasts a second at least";
}

TEST_F(Groups, AWaiterForAllDoesNotKeepItselfAwake) {
  add_servers(2);
  take(1, 1min);
  join(false).acquire();
  EXPECT_LT(commands_within(10s), 2 * 2 * 20U);
}

TEST_F(Groups, WaitersForAllDoNotKeepEachOtherAwake) {
  add_servers(2);
  take(1, 1min);
  for (int i = 0; i < 3; ++i) join(false).acquire();
  EXPECT_LT(commands_within(10s), 3 * 2 * 2 * 20U);
}

TEST_F(Groups, AllThatAreAskedOneAfterAnotherShareTheTimeOfOneAttempt) {
  add_servers(3);
  GroupMember& member = join(false);
  member.acquire();
  world_.run(1s);
  ASSERT_TRUE(member.granted());
  member.release();
  world_.run(1s);
  for (const auto& server : servers_) server->set_latency(200ms);
  member.acquire({.wait = 0ms});
  world_.run(350ms);
  EXPECT_TRUE(member.answered());
  EXPECT_FALSE(member.granted());
}

TEST_F(Groups, WaitersOfAMajorityAreWokenByARelease) {
  add_servers(5);
  GroupMember& holder = join(true);
  holder.acquire();
  world_.run(1s);
  ASSERT_TRUE(holder.granted());
  GroupMember& waiter = join(true);
  waiter.acquire();
  world_.run(1s);
  ASSERT_FALSE(waiter.granted());
  holder.release();
  world_.run(100ms);
  EXPECT_TRUE(waiter.granted());
}

}  // namespace
}  // namespace holdfast::test::sim::group_test
