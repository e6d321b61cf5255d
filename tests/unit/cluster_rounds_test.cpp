// SPDX-License-Identifier: Apache-2.0
// Which node is asked next.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/survey.hpp"
#include "unit/cluster_story.hpp"

namespace holdfast::redis::cluster::cluster_rounds_test {
namespace {

using testing::AnyOf;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

std::string ask(Rounds& rounds, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += rounds.next().host;
  return out;
}

std::string sorted(std::string text) {
  std::ranges::sort(text);
  return text;
}

TEST(ClusterRounds, WithoutAMapTheSeedsAreAskedEachOnce) {
  Rounds rounds({node('x'), node('y'), node('z')}, 7);
  for (int round = 0; round < 3; ++round) EXPECT_EQ(sorted(ask(rounds, 3)), "xyz");
  EXPECT_TRUE(rounds.over());
}

TEST(ClusterRounds, PrimariesComeFirstAndSeedsLast) {
  Rounds rounds({node('x'), node('a')}, 7);
  rounds.set_map(view("abc"));
  EXPECT_THAT(rounds.nodes(), ElementsAre(node('a'), node('b'), node('c'), node('A'), node('B'), node('C'), node('x')));
  for (int round = 0; round < 10; ++round) {
    const std::string asked = ask(rounds, 7);
    EXPECT_EQ(sorted(asked.substr(0, 3)), "abc");
    EXPECT_EQ(sorted(asked.substr(3, 3)), "ABC");
    EXPECT_EQ(asked.substr(6), "x");
    EXPECT_TRUE(rounds.over());
  }
}

TEST(ClusterRounds, TheOrderIsRandom) {
  std::set<std::string> orders;
  const View map = view("abc");
  for (std::uint64_t chance = 0; chance < 200; ++chance) {
    Rounds rounds({node('a')}, chance);
    rounds.set_map(map);
    orders.insert(ask(rounds, 3));
  }
  EXPECT_EQ(orders.size(), 6U) << "all that there are";
}

TEST(ClusterRounds, WhoeverIsInDoubtIsAskedOnlyWhenAllAre) {
  Rounds rounds({node('x')}, 7);
  rounds.set_map(view("abc"));
  rounds.doubt(node('b'));
  rounds.doubt(node('?'));
  EXPECT_TRUE(rounds.doubted(node('b')));
  EXPECT_FALSE(rounds.doubted(node('a')));
  EXPECT_FALSE(rounds.doubted(node('?')));
  for (int round = 0; round < 3; ++round) EXPECT_EQ(sorted(ask(rounds, 6)), "ABCacx");
  for (const char other : {'a', 'c', 'A', 'B', 'C', 'x'}) rounds.doubt(node(other));
  EXPECT_EQ(ask(rounds, 1), "b") << "the only one that has not been asked in this round";
  EXPECT_TRUE(rounds.over());
  EXPECT_EQ(sorted(ask(rounds, 3)), "abc");
  rounds.begin_anew();
  EXPECT_FALSE(rounds.doubted(node('b')));
}

TEST(ClusterRounds, OneThatHasFailedIsNotAskedAgainWhileOthersAnswer) {
  Rounds rounds({node('x')}, 7);
  rounds.set_map(view("abc"));
  rounds.on_failure(rounds.next(), "silent");
  const std::string rest = ask(rounds, 6);
  EXPECT_EQ(ask(rounds, 6).size(), 6U);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(sorted(ask(rounds, 6)), sorted(rest));
}

TEST(ClusterRounds, AfterThreeFailuresInARowASeedIsAsked) {
  Rounds rounds({node('x')}, 7);
  rounds.set_map(view("abc"));
  std::string asked;
  for (int i = 0; i < 4; ++i) {
    const NodeAddress next = rounds.next();
    asked += next.host;
    rounds.on_failure(next, "gone");
  }
  EXPECT_EQ(sorted(asked.substr(0, 3)), "abc");
  EXPECT_EQ(asked[3], 'x') << asked;
  EXPECT_EQ(sorted(ask(rounds, 3)), "ABC");
}

TEST(ClusterRounds, AnAnswerEndsTheRowOfFailures) {
  Rounds rounds({node('x')}, 7);
  rounds.set_map(view("abc"));
  for (int i = 0; i < 2; ++i) rounds.on_failure(rounds.next(), "gone");
  rounds.on_answer();
  rounds.on_failure(rounds.next(), "gone");
  EXPECT_EQ(sorted(ask(rounds, 3)), "ABC");
}

TEST(ClusterRounds, ANewMapKeepsWhatIsKnownOfItsNodes) {
  Rounds rounds({node('x')}, 7);
  rounds.set_map(view("ab"));
  ask(rounds, 2);
  rounds.doubt(node('b'));
  rounds.set_map(view("bc"));
  EXPECT_TRUE(rounds.doubted(node('b')));
  EXPECT_EQ(ask(rounds, 1), "c") << "b was asked before";
  EXPECT_THAT(rounds.nodes(), UnorderedElementsAre(node('b'), node('c'), node('B'), node('C'), node('x')));
}

TEST(ClusterRounds, TheProblemNamesWhoHasSaidWhatWithinBounds) {
  std::vector<NodeAddress> seeds;
  for (std::uint16_t port = 1; port <= 20; ++port) seeds.push_back({"h", port});
  Rounds few({seeds[0], seeds[1]}, 7);
  few.on_failure(seeds[0], "Connection refused");
  few.on_failure(seeds[1], "NOAUTH Authentication required.");
  EXPECT_EQ(few.problem(),
            "no node of the cluster knows its slots: h:1: Connection refused; h:2: NOAUTH Authentication required.");
  Rounds many(seeds, 7);
  for (const NodeAddress& each : seeds) many.on_failure(each, std::string(10'000, 'x'));
  EXPECT_LT(many.problem().size(), 2000U);
  EXPECT_THAT(many.problem(), testing::EndsWith("; and 12 more"));
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_rounds_test
