// SPDX-License-Identifier: Apache-2.0
// Links on which only one direction is left.
#include <gtest/gtest.h>

#include "sim/guest.hpp"
#include "sim/model/model_server.hpp"

namespace holdfast::test::sim::half_open_test {
namespace {

using namespace std::chrono_literals;

class HalfOpen : public testing::Test {
 protected:
  HalfOpen() { network_.add(server_); }
  Config config() const {
    Config config;
    config.server = NodeAddress{server_.place().host};
    config.lease = 6s;
    return config;
  }
  void take_and_keep() {
    server_.change([](Keyspace& keys) {
      keys.set_field("orders", "99999999-2222-4333-8444-555555555555:7", "1");
      keys.expire("orders", "3600000");
    });
  }
  void give_back() {
    server_.change([](Keyspace& keys) { keys.erase("orders"); });
  }
  /// Others are busy with the same lock.
  void chatter() {
    server_.hear(Channel::plain, "redisson_lock__channel:{orders}", "0");
    world_.after(200ms, [this] { chatter(); });
  }

  World world_{1};
  ModelServer server_{world_};
  Network network_{world_};
};

TEST_F(HalfOpen, AWaiterWhoHearsMessagesAndNoAnswersConnectsAnew) {
  take_and_keep();
  Guest waiter(world_, 1, config(), "orders");
  waiter.acquire();
  world_.run(1s);
  chatter();
  network_.swallow(waiter.process(), Network::Way::to_server);
  give_back();
  world_.run(6s);
  EXPECT_TRUE(waiter.held());
}

TEST_F(HalfOpen, WhoOnlyListensStays) {
  take_and_keep();
  Guest waiter(world_, 1, config(), "orders");
  waiter.acquire();
  world_.run(1s);
  const std::uint64_t before = waiter.client().counters().connections;
  chatter();
  world_.run(1min);
  EXPECT_EQ(waiter.client().counters().connections, before);
}

}  // namespace
}  // namespace holdfast::test::sim::half_open_test
