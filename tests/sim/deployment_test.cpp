// Whole clients against the model of a primary with replicas and Sentinels.
#include <gtest/gtest.h>

#include "sim/guest.hpp"
#include "sim/model/model_deployment.hpp"

namespace holdfast::test::sim::deployment_test {
namespace {

using namespace std::chrono_literals;

class Deployment : public testing::Test {
 protected:
  Deployment() {
    for (ModelNode* const node : deployment_.nodes()) network_.add(*node);
    world_.run(100ms);
  }
  Config config(Acks acks = {}) {
    Config config;
    for (std::size_t i = 0; i < 3; ++i) {
      const Place& place = deployment_.sentinel(i).place();
      config.sentinel.addresses.push_back({place.host, place.port});
    }
    config.sentinel.primary = deployment_.name();
    config.acks = acks;
    return config;
  }
  std::vector<std::string> owners() { return deployment_.server(deployment_.primary()).owners("orders"); }

  World world_{1};
  ModelDeployment deployment_{world_};
  Network network_{world_};
};

TEST_F(Deployment, AClientTakesRenewsAndGivesBackAndTheReplicasHearOfIt) {
  Guest guest(world_, 1, config(), "orders");
  guest.acquire();
  world_.run(1s);
  ASSERT_TRUE(guest.held());
  for (std::size_t i = 0; i < deployment_.size(); ++i)
    EXPECT_EQ(deployment_.server(i).owners("orders").size(), 1U) << i;
  world_.run(5min);
  EXPECT_TRUE(guest.held()) << "renewed";
  guest.release();
  world_.run(1s);
  EXPECT_EQ(guest.released(), ReleaseOutcome::released);
  for (std::size_t i = 0; i < deployment_.size(); ++i) EXPECT_TRUE(deployment_.server(i).owners("orders").empty()) << i;
}

TEST_F(Deployment, AWaiterIsWoken) {
  Guest holder(world_, 1, config(), "orders");
  Guest waiter(world_, 2, config(), "orders");
  holder.acquire();
  world_.run(1s);
  waiter.acquire();
  world_.run(1s);
  EXPECT_FALSE(waiter.held());
  holder.release();
  world_.run(50ms);
  EXPECT_TRUE(waiter.held()) << "long before any poll";
}

TEST_F(Deployment, AFailoverIsFollowed) {
  Guest guest(world_, 1, config(), "orders");
  guest.acquire();
  world_.run(1s);
  deployment_.kill(0);
  world_.run(15s);
  EXPECT_NE(deployment_.primary(), 0U);
  EXPECT_TRUE(guest.held()) << "the replicas had it";
  EXPECT_EQ(owners().size(), 1U);
  deployment_.restart(0, ModelServer::Restored::kept);
  world_.run(10s);
  EXPECT_FALSE(deployment_.server(0).is_primary());
  guest.release();
  world_.run(1s);
  EXPECT_EQ(guest.released(), ReleaseOutcome::released);
  EXPECT_TRUE(owners().empty());
}

TEST_F(Deployment, WhatNoReplicaHasIsForgottenAndItsHolderIsTold) {
  deployment_.cut(1, true);
  deployment_.cut(2, true);
  Guest guest(world_, 1, config(), "orders");
  guest.acquire();
  world_.run(1s);
  ASSERT_TRUE(guest.held());
  deployment_.kill(0);
  world_.run(15s);
  EXPECT_TRUE(owners().empty());
  EXPECT_TRUE(guest.lost());
}

TEST_F(Deployment, AcksOfAllAreWaitedFor) {
  deployment_.cut(2, true);
  Guest guest(world_, 1, config(Acks::all()), "orders");
  guest.acquire();
  world_.run(2s);
  EXPECT_FALSE(guest.held()) << "one replica has not got it";
  deployment_.cut(2, false);
  world_.run(20s);
  EXPECT_TRUE(guest.held());
  deployment_.fail_over();
  world_.run(20s);
  EXPECT_NE(deployment_.primary(), 0U);
  EXPECT_TRUE(guest.held());
  EXPECT_FALSE(deployment_.server(0).is_primary()) << "it was told";
  EXPECT_EQ(owners().size(), 1U);
}

}  // namespace
}  // namespace holdfast::test::sim::deployment_test
