// SPDX-License-Identifier: Apache-2.0
// Whole clients against the model of a cluster.
#include <gtest/gtest.h>

#include "redis/decide/slot.hpp"
#include "sim/guest.hpp"
#include "sim/model/model_cluster.hpp"

namespace holdfast::test::sim::cluster_test {
namespace {

using namespace std::chrono_literals;

class Cluster : public testing::Test {
 protected:
  Cluster() {
    for (ModelNode* const node : cluster_.nodes()) network_.add(*node);
    world_.run(100ms);
  }
  Config config(Acks acks = {}) const {
    ClusterConfig cluster;
    for (std::size_t i = 0; i < 3; ++i) {
      const Place& place = cluster_.server(i).place();
      cluster.addresses.push_back({place.host, place.port});
    }
    Config config;
    config.server = cluster;
    config.acks = acks;
    return config;
  }
  std::uint16_t primary() const { return cluster_.owner(slot_); }
  std::uint16_t another() const { return static_cast<std::uint16_t>((primary() + 1) % 3); }
  std::size_t owners_at(std::uint16_t node) { return cluster_.server(node).owners("orders").size(); }

  const std::uint16_t slot_ = model_slot_of("orders");
  World world_{1};
  ModelCluster cluster_{world_};
  Network network_{world_};
};

TEST_F(Cluster, SlotsAreCountedAsTheLibraryCountsThem) {
  for (const char* const key :
       {"orders", "{orders}:2", "", "{}", "a{b}c{d}", "{unclosed", "redisson_lock__channel:{x}"}) {
    EXPECT_EQ(model_slot_of(key), redis::cluster::slot_of(key)) << key;
  }
}

TEST_F(Cluster, AClientTakesRenewsAndGivesBackAndTheReplicaHearsOfIt) {
  Guest guest(world_, 1, config(), "orders");
  guest.acquire();
  world_.run(1s);
  ASSERT_TRUE(guest.held());
  for (std::uint16_t i = 0; i < cluster_.size(); ++i) EXPECT_EQ(owners_at(i), i % 3 == primary() ? 1U : 0U) << i;
  world_.run(5min);
  EXPECT_TRUE(guest.held()) << "renewed";
  guest.release();
  world_.run(1s);
  EXPECT_EQ(guest.released(), ReleaseOutcome::released);
  for (std::uint16_t i = 0; i < cluster_.size(); ++i) EXPECT_EQ(owners_at(i), 0U) << i;
}

TEST_F(Cluster, AWaiterIsWoken) {
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

TEST_F(Cluster, AFailoverIsFollowed) {
  const std::uint16_t before = primary();
  Guest guest(world_, 1, config(Acks::all()), "orders");
  guest.acquire();
  world_.run(1s);
  ASSERT_TRUE(guest.held());
  cluster_.kill(before);
  world_.run(6s);
  EXPECT_NE(primary(), before);
  EXPECT_FALSE(guest.lost());
  cluster_.restart(before, ModelServer::Restored::kept);
  world_.run(20s);
  EXPECT_TRUE(guest.held()) << "the one replica that there is has it";
  EXPECT_FALSE(cluster_.server(before).is_primary());
  guest.release();
  world_.run(2s);
  EXPECT_EQ(guest.released(), ReleaseOutcome::released);
  EXPECT_EQ(owners_at(primary()), 0U);
}

TEST_F(Cluster, WhatNoReplicaHasIsForgottenAndItsHolderIsTold) {
  const std::uint16_t before = primary();
  cluster_.cut(static_cast<std::uint16_t>(before + 3), true);
  Guest guest(world_, 1, config(), "orders");
  guest.acquire();
  world_.run(1s);
  ASSERT_TRUE(guest.held());
  cluster_.kill(before);
  world_.run(15s);
  EXPECT_NE(primary(), before);
  EXPECT_TRUE(guest.lost());
}

TEST_F(Cluster, AMovingSlotIsFollowedThroughAskAndMoved) {
  Guest holder(world_, 1, config(), "orders");
  Guest waiter(world_, 2, config(), "orders");
  holder.acquire();
  world_.run(1s);
  waiter.acquire();
  world_.run(1s);
  const std::uint16_t from = primary();
  const std::uint16_t to = another();
  cluster_.begin_move(slot_, to);
  ASSERT_EQ(cluster_.move_keys(slot_, 10), 1U);
  world_.run(20s);
  EXPECT_TRUE(holder.held()) << "renewed behind ASK";
  EXPECT_EQ(owners_at(from), 0U);
  EXPECT_EQ(owners_at(to), 1U);
  cluster_.end_move(slot_);
  world_.run(20s);
  EXPECT_TRUE(holder.held()) << "renewed behind MOVED";
  holder.release();
  world_.run(50ms);
  EXPECT_EQ(holder.released(), ReleaseOutcome::released);
  EXPECT_TRUE(waiter.held()) << "subscribed where the slot is now";
  EXPECT_EQ(owners_at(to), 1U);
}

TEST_F(Cluster, ASlotThatNobodyServesKeepsAWaiterUntilSomebodyDoes) {
  const std::uint16_t to = another();
  cluster_.abandon(slot_);
  world_.run(1s);
  Guest guest(world_, 1, config(), "orders");
  guest.acquire();
  world_.run(2s);
  EXPECT_EQ(guest.answers(), 0);
  cluster_.adopt(slot_, to);
  world_.run(20s);
  EXPECT_TRUE(guest.held());
}

}  // namespace
}  // namespace holdfast::test::sim::cluster_test
