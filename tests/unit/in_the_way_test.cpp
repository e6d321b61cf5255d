// SPDX-License-Identifier: Apache-2.0
// Which messages are worth another round of a group.
#include <gtest/gtest.h>

#include "acquire_story.hpp"
#include "lock/decide/ballot.hpp"

namespace holdfast::engine::in_the_way_test {
namespace {

InTheWay after(Quorum quorum, const std::vector<Attempt>& votes) {
  InTheWay waiter(quorum);
  waiter.on_round();
  for (std::size_t i = 0; i < votes.size(); ++i) waiter.on_vote(i, votes[i]);
  return waiter;
}

TEST(InTheWay, WhatWasGrantedAndGivenBackIsNoNews) {
  InTheWay waiter = after(Quorum::majority(5), {busy(5s), busy(5s), busy(5s), granted(), granted()});
  EXPECT_FALSE(waiter.on_release(3));
  EXPECT_FALSE(waiter.on_release(4));
  EXPECT_TRUE(waiter.on_release(0)) << "the third";
}

TEST(InTheWay, ThatIsNoNewsWhereOthersAreInTroubleEither) {
  InTheWay waiter = after(Quorum::majority(3), {busy(5s), granted(), unknown("silence")});
  EXPECT_FALSE(waiter.on_release(1));
  EXPECT_TRUE(waiter.on_release(0));
}

TEST(InTheWay, AsManyMustBeFreeAsAreNeeded) {
  InTheWay waiter = after(Quorum::majority(5), {busy(5s), busy(5s), busy(5s), busy(5s), busy(5s)});
  EXPECT_FALSE(waiter.on_release(0));
  EXPECT_FALSE(waiter.on_release(0)) << "once more";
  EXPECT_FALSE(waiter.on_release(1));
  EXPECT_TRUE(waiter.on_release(4));
  EXPECT_TRUE(waiter.on_release(2)) << "the round for that may have been too early";
}

TEST(InTheWay, WhoHasNotAnsweredMayBeFree) {
  InTheWay waiter = after(Quorum::majority(3), {busy(5s), unknown("silence")});
  EXPECT_TRUE(waiter.on_release(0));
}

TEST(InTheWay, WhoHasNotAnsweredIsHeard) {
  InTheWay waiter = after(Quorum::majority(3), {busy(5s), unknown("silence"), granted()});
  EXPECT_TRUE(waiter.on_release(1)) << "it is back";
  InTheWay hopeless = after(Quorum::majority(3), {busy(5s), unknown("silence"), busy(5s)});
  EXPECT_FALSE(hopeless.on_release(1));
}

TEST(InTheWay, OfAllEachIsNeeded) {
  InTheWay waiter = after(Quorum::all(2), {granted(), busy(5s)});
  EXPECT_FALSE(waiter.on_release(0));
  EXPECT_TRUE(waiter.on_release(1));
}

TEST(InTheWay, AReleaseHeardBeforeTheVoteIsNotForgotten) {
  InTheWay waiter(Quorum::majority(3));
  waiter.on_round();
  EXPECT_FALSE(waiter.on_vote(0, busy(5s)));
  EXPECT_FALSE(waiter.on_release(1)) << "its vote may be a grant";
  EXPECT_TRUE(waiter.on_vote(1, busy(5s))) << "it was free afterwards, and the third may be";
  EXPECT_FALSE(waiter.on_release(1)) << "once";
}

TEST(InTheWay, AReleaseHeardBeforeAGrantIsNoNews) {
  InTheWay waiter(Quorum::majority(3));
  waiter.on_round();
  EXPECT_FALSE(waiter.on_release(1));
  EXPECT_FALSE(waiter.on_vote(1, granted()));
  EXPECT_FALSE(waiter.on_release(1)) << "given back";
  waiter.on_round();
  EXPECT_FALSE(waiter.on_vote(1, busy(5s))) << "of the round before";
}

TEST(InTheWay, AReleaseHeardBeforeTheVoteCountsWithThoseThatFollow) {
  InTheWay waiter(Quorum::majority(3));
  waiter.on_round();
  EXPECT_FALSE(waiter.on_vote(0, busy(5s)));
  EXPECT_FALSE(waiter.on_vote(1, busy(5s)));
  EXPECT_FALSE(waiter.on_release(2));
  EXPECT_FALSE(waiter.on_vote(2, busy(5s))) << "the two others are still taken";
  EXPECT_TRUE(waiter.on_release(0));
}

TEST(InTheWay, ARoundBeginsAnew) {
  InTheWay waiter = after(Quorum::all(2), {granted(), busy(5s)});
  waiter.on_round();
  waiter.on_vote(0, busy(5s));
  EXPECT_FALSE(waiter.on_release(1)) << "not asked this time";
  EXPECT_TRUE(waiter.on_release(0));
}

}  // namespace
}  // namespace holdfast::engine::in_the_way_test
