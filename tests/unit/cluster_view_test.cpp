// SPDX-License-Identifier: Apache-2.0
// What nodes answer to CLUSTER SLOTS, be it true, odd or hostile.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/redirect.hpp"
#include "redis/decide/view.hpp"

namespace holdfast::redis::cluster::cluster_view_test {
namespace {

using base::Reply;
using testing::ElementsAre;
using testing::IsEmpty;

const NodeAddress kAsked{"asked.example", 7000};
const std::string kId(40, 'a');

Reply null() { return {}; }
Reply number(std::int64_t value) { return {.kind = Reply::Kind::integer, .integer = value}; }
Reply text(const std::string& words) { return {.kind = Reply::Kind::text, .text = words}; }
Reply list(std::vector<Reply> elements) { return {.kind = Reply::Kind::array, .elements = std::move(elements)}; }

Reply node(const Reply& endpoint, std::int64_t port, const std::string& id = kId) {
  return list({endpoint, number(port), text(id), list({})});
}
Reply node(const std::string& host, std::int64_t port) { return node(text(host), port); }

Reply range(std::int64_t first, std::int64_t last, std::vector<Reply> nodes) {
  nodes.insert(nodes.begin(), {number(first), number(last)});
  return list(std::move(nodes));
}

View read(const Reply& reply) {
  const auto view = read_view(reply, kAsked);
  EXPECT_TRUE(view);
  return view.value_or(View{});
}

std::vector<std::string> primaries(const View& view) {
  std::vector<std::string> out;
  for (const Primary& each : view.primaries) {
    out.push_back(each.address.host + " " + std::to_string(each.address.port) + " " + std::to_string(each.replicas));
  }
  return out;
}

TEST(ClusterView, SaysWhoServesWhichSlotAndWhoFollows) {
  const View view =
      read(list({range(0, 5460, {node("a", 1), node("a2", 1), node("a3", 1)}),
                 range(5461, 10922, {node("b", 2), node("b2", 2)}), range(10923, 16383, {node("c", 3)})}));
  EXPECT_THAT(primaries(view), ElementsAre("a 1 2", "b 2 1", "c 3 0"));
  EXPECT_THAT(view.replicas, ElementsAre(NodeAddress{"a2", 1}, NodeAddress{"a3", 1}, NodeAddress{"b2", 2}));
  EXPECT_EQ(view.covered, kSlots);
  EXPECT_EQ(view.primary_of(0)->address.host, "a");
  EXPECT_EQ(view.primary_of(5460)->address.host, "a");
  EXPECT_EQ(view.primary_of(5461)->address.host, "b");
  EXPECT_EQ(view.primary_of(16383)->address.host, "c");
  EXPECT_EQ(view.primaries[0].id, kId);
}

TEST(ClusterView, OneNodeWithSeveralRangesIsOnePrimary) {
  const View view = read(list({range(0, 0, {node("a", 1), node("r", 1)}), range(2, 2, {node("b", 2), node("r", 1)}),
                               range(4, 5, {node("a", 1), node("r", 1), node("s", 1)})}));
  EXPECT_THAT(primaries(view), ElementsAre("a 1 2", "b 2 1"));
  EXPECT_THAT(view.replicas, ElementsAre(NodeAddress{"r", 1}, NodeAddress{"s", 1})) << "each once";
  EXPECT_EQ(view.covered, 4U);
  EXPECT_EQ(view.primary_of(1), nullptr);
  EXPECT_EQ(view.primary_of(6), nullptr);
  EXPECT_EQ(view.primary_of(4), view.primary_of(0));
}

TEST(ClusterView, TheHostThatWasAskedCountsWhereNoneIsTold) {
  const View view = read(list({range(0, 1, {node(null(), 1), node(text(""), 2)})}));
  EXPECT_THAT(primaries(view), ElementsAre("asked.example 1 1"));
  EXPECT_THAT(view.replicas, ElementsAre(NodeAddress{"asked.example", 2}));
}

TEST(ClusterView, HostNamesAndIpv6AreTakenAsTheyAre) {
  const View view = read(list({range(0, 1, {node("node-1.example.org", 1), node("2001:db8::1", 2)})}));
  EXPECT_THAT(primaries(view), ElementsAre("node-1.example.org 1 1"));
  EXPECT_THAT(view.replicas, ElementsAre(NodeAddress{"2001:db8::1", 2}));
}

TEST(ClusterView, MetadataMayBeAnArrayAMapOrMissing) {
  // A map arrives as a flat array. Redis 6 tells none; Redis 3 had no ids.
  for (const std::vector<Reply>& rest :
       {std::vector<Reply>{text(kId), list({text("hostname"), text("h.example")})},
        std::vector<Reply>{text(kId), list({})}, std::vector<Reply>{text(kId), list({number(1), list({null()})})},
        std::vector<Reply>{text(kId), null()}, std::vector<Reply>{text(kId)}, std::vector<Reply>{}}) {
    std::vector<Reply> told{text("10.0.0.1"), number(1)};
    told.insert(told.end(), rest.begin(), rest.end());
    const View view = read(list({range(0, 1, {list(told)})}));
    EXPECT_THAT(primaries(view), ElementsAre("10.0.0.1 1 0"));
    EXPECT_EQ(view.primaries[0].id, rest.empty() ? "" : kId);
  }
}

TEST(ClusterView, AnIdThatIsNoneIsNotTold) {
  for (const std::string& id : {std::string(), std::string(39, 'a'), std::string(40, 'g'), std::string(1000, 'a')}) {
    EXPECT_EQ(read(list({range(0, 1, {node(text("a"), 1, id)})})).primaries[0].id, "");
  }
}

TEST(ClusterView, ANodeThatNobodyCouldConnectToIsLeftOutAndItsSlotsWithIt) {
  for (const Reply& odd :
       {node("?", 6379), node("a", 0), node("a", -1), node("a", 65536), node("a", std::int64_t{1} << 40U),
        node("a b", 1), node(std::string(256, 'a'), 1), node(std::string("a\0b", 3), 1), node(number(7), 1),
        node(list({}), 1), list({text("a"), text("1")}), list({text("a")}), list({}), text("a:1"), null()}) {
    const View view = read(list({range(0, 1, {odd, node("r", 9)}), range(2, 3, {node("b", 2), odd})}));
    EXPECT_THAT(primaries(view), ElementsAre("b 2 0"));
    EXPECT_EQ(view.covered, 2U);
    EXPECT_EQ(view.primary_of(0), nullptr);
    EXPECT_THAT(view.replicas, IsEmpty());
  }
  EXPECT_EQ(read(list({range(0, 1, {})})).covered, 0U);
}

TEST(ClusterView, WithoutSlotsItIsOneAllTheSame) {
  const View view = read(list({}));
  EXPECT_EQ(view.covered, 0U);
  EXPECT_THAT(view.primaries, IsEmpty());
  EXPECT_EQ(view.primary_of(0), nullptr);
  EXPECT_EQ(view.primary_of(16383), nullptr);
}

TEST(ClusterView, WhatMakesNoSenseIsNone) {
  const Reply a = node("a", 1);
  for (const Reply& odd :
       {null(), number(1), text("OK"), Reply{.kind = Reply::Kind::error, .text = "ERR no"}, list({null()}),
        list({text("x")}), list({list({})}), list({list({number(1)})}), list({list({number(1), text("2"), a})}),
        list({list({null(), number(1), a})}), list({range(5, 4, {a})}), list({range(-1, 4, {a})}),
        list({range(0, 16384, {a})}), list({range(16384, 16384, {a})}), list({range(0, std::int64_t{1} << 62U, {a})}),
        list({range(0, 5, {a}), range(5, 6, {node("b", 2)})}), list({range(0, 5, {a}), range(0, 5, {a})}),
        list({range(0, 5, {node("?", 1)}), range(5, 6, {a})})}) {
    EXPECT_FALSE(read_view(odd, kAsked));
  }
}

TEST(ClusterView, AMillionRangesAreRefusedAtTheFirstSlotThatComesTwice) {
  std::vector<Reply> ranges;
  for (int i = 0; i < 1'000'000; ++i) ranges.push_back(range(i % 16384, i % 16384, {}));
  EXPECT_FALSE(read_view(list(std::move(ranges)), kAsked));
}

TEST(ClusterView, AsManyNodesAsSlotsAreAllThatThereCanBe) {
  std::vector<Reply> ranges;
  std::vector<Reply> crowd{node("0", 1)};
  for (int i = 0; i < 40'000; ++i) crowd.push_back(node("r" + std::to_string(i), 1));
  ranges.push_back(range(0, 0, crowd));
  for (int i = 1; i < 16384; ++i) ranges.push_back(range(i, i, {node(std::to_string(i), 1), node("s", 1)}));
  const View view = read(list(std::move(ranges)));
  EXPECT_EQ(view.primaries.size(), kSlots);
  EXPECT_EQ(view.covered, kSlots);
  EXPECT_EQ(view.primary_of(16383)->address.host, "16383");
  EXPECT_EQ(view.replicas.size(), View::kMostReplicas);
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_view_test
