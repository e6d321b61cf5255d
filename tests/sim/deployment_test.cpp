// SPDX-License-Identifier: Apache-2.0
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
    SentinelConfig sentinels;
    for (std::size_t i = 0; i < 3; ++i) {
      const Place& place = deployment_.sentinel(i).place();
      sentinels.addresses.push_back({place.host, place.port});
    }
    sentinels.primary = deployment_.name();
    Config config;
    config.server = sentinels;
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

// --- releases that only the old primary has seen ---

class LateReleases : public Deployment {
 protected:
  /// How long after its client has come to the new primary the lock is free there that `holder_` gave back to the old
  /// one, which granted it once more. Two clients have heard that; the one that is `away` says nothing from then on.
  base::Duration until_free(const Guest* away) {
    holder_.acquire();
    world_.run(2s);
    waiter_.acquire();
    world_.run(1s);
    another_.acquire();
    world_.run(1s);
    deployment_.fail_over();
    EXPECT_TRUE(world_.run_until(2s, [this] { return deployment_.primary() != 0; }));
    if (away != nullptr) network_.hold_back(away->process(), true);
    holder_.release();
    EXPECT_TRUE(world_.run_until(100ms, [this] { return waiter_.held(); }));
    holder_.acquire();  // whose client listens as well, and is no other
    const std::vector<std::string> nobody = owners();
    EXPECT_EQ(nobody.size(), 1U) << "who has given it back";
    const auto connections = [this] { return holder_.client().counters().connections; };
    EXPECT_TRUE(world_.run_until(5s, [&, before = connections()] { return connections() > before; }));
    const base::TimePoint came = world_.now();
    EXPECT_TRUE(world_.run_until(5s, [this] { return waiter_.lost(); }));
    waiter_.acquire();
    EXPECT_TRUE(world_.run_until(5s, [&] { return owners() != nobody; }));
    return world_.now() - came;
  }

  Guest holder_{world_, 1, config(), "orders"};
  Guest waiter_{world_, 2, config(), "orders"};
  Guest another_{world_, 3, config(), "orders"};
};

TEST_F(LateReleases, AreRepeatedOnceAllWhoHeardThemHaveCome) {
  EXPECT_LT(until_free(nullptr), 200ms);
  world_.run(100ms);
  EXPECT_EQ(holder_.held() + waiter_.held() + another_.held(), 1);
}

TEST_F(LateReleases, AreRepeatedAfterASecondWhereOneIsMissing) {
  const base::Duration time = until_free(&another_);
  EXPECT_GE(time, 1s) << "it may have the lock at the old one";
  EXPECT_LT(time, 1100ms);
  network_.hold_back(another_.process(), false);
}

}  // namespace
}  // namespace holdfast::test::sim::deployment_test
