// SPDX-License-Identifier: Apache-2.0
// The nodes of a cluster that are remembered, and which of them are forgotten.
#include "redis/topology/cluster_map.hpp"

#include <cstddef>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace holdfast::redis::cluster_map_test {
namespace {

/// On a loop that does not run: whoever is asked stays so.
class ClusterMapTest : public testing::Test {
 protected:
  static NodeAddress other(std::size_t number) {
    return {"10.0." + std::to_string(number / 250) + "." + std::to_string(number % 250), 7000};
  }
  /// As many as there may be.
  void fill() {
    for (std::size_t i = 0; filled_ < ClusterMap::kMostNodes; ++i) {
      map_.node(other(i));
      std::size_t all = 0;
      if (i + 8 >= ClusterMap::kMostNodes) map_.for_each_node([&](const ClusterNode&) { ++all; });
      filled_ = all;
    }
  }

  boost::asio::io_context context_;
  timing::Schedule schedule_{context_.get_executor()};
  const std::shared_ptr<int> owner_ = std::make_shared<int>();
  ServerEvents events_;
  ClusterMap map_{schedule_, Config{}, std::make_shared<Listeners>(), events_};
  std::size_t filled_ = 0;
};

TEST_F(ClusterMapTest, ForgetsWhomNobodyNeedsForTheNextThatIsHeardOf) {
  map_.start(owner_);
  const NodeAddress serves{"127.0.0.1", 1}, asked{"127.0.0.1", 2}, mentioned{"127.0.0.1", 3};
  map_.correct(7, serves);
  ClusterNode* const serving = map_.node(serves);
  ClusterNode* const being_asked = map_.node(asked);
  being_asked->shard.send(Request::of({{"PING"}}, std::chrono::hours(1)), [](const Result&) {});
  ClusterNode* const kept = map_.node(mentioned);
  fill();
  ASSERT_EQ(map_.node(mentioned), kept);  // now not the oldest
  for (std::size_t i = 0; i < 500; ++i) {
    const NodeAddress next{"192.168.0.1", static_cast<std::uint16_t>(i + 1)};
    ClusterNode* const node = map_.node(next);
    ASSERT_NE(node, nullptr) << i;
    EXPECT_EQ(node->address, next);
    EXPECT_EQ(map_.node_of(node->shard), node);
  }
  std::size_t all = 0;
  map_.for_each_node([&](const ClusterNode&) { ++all; });
  EXPECT_EQ(all, ClusterMap::kMostNodes);
  for (const auto& [address, node] : {std::pair(serves, serving), {asked, being_asked}, {mentioned, kept}}) {
    EXPECT_EQ(map_.node(address), node) << address.port;
    EXPECT_EQ(node->address, address);
  }
  EXPECT_EQ(&map_.shard_of(7), &serving->shard);
}

/// Those of one view do not take each other's places, or two of its primaries were one.
TEST_F(ClusterMapTest, DoesNotForgetWhomTheSameViewNames) {
  map_.start(owner_);
  fill();
  cluster::View view;
  view.served_by.fill(cluster::View::kNobody);
  for (std::uint16_t i = 0; i < 100; ++i) {
    view.primaries.push_back({{"192.168.0.1", static_cast<std::uint16_t>(i + 1)}, "", 0});
    view.served_by[i] = i;
  }
  map_.adopt(view);
  for (std::uint16_t i = 0; i < 100; ++i) {
    EXPECT_EQ(&map_.shard_of(i), &map_.node(view.primaries[i].address)->shard);
    EXPECT_NE(&map_.shard_of(i), &map_.shard_of(static_cast<std::uint16_t>((i + 1) % 100)));
  }
}

}  // namespace
}  // namespace holdfast::redis::cluster_map_test
