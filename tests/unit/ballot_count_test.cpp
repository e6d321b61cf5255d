// SPDX-License-Identifier: Apache-2.0
// How a group's votes are counted, and what a round without enough of them amounts to.
#include <algorithm>
#include <numeric>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "acquire_story.hpp"
#include "lock/decide/ballot.hpp"

namespace holdfast::engine::ballot_count_test {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kNodes{"a:1", "b:2", "c:3", "d:4", "e:5"};

Ballot counted(Quorum quorum, const std::vector<Attempt>& votes) {
  Ballot ballot(quorum);
  for (std::size_t i = 0; i < votes.size(); ++i) ballot.record(i, votes[i]);
  return ballot;
}

TEST(BallotTest, IsWonByAMajority) {
  EXPECT_EQ(Quorum::majority(1).needed, 1U);
  EXPECT_EQ(Quorum::majority(2).needed, 2U);
  EXPECT_EQ(Quorum::majority(4).needed, 3U);
  EXPECT_EQ(Quorum::majority(5).needed, 3U);
  Ballot ballot(Quorum::majority(5));
  for (const std::size_t member : {4U, 0U}) ballot.record(member, granted());
  EXPECT_FALSE(ballot.won());
  ballot.record(0, granted());
  EXPECT_FALSE(ballot.won()) << "nobody votes twice";
  ballot.record(2, granted());
  EXPECT_TRUE(ballot.won());
  EXPECT_FALSE(ballot.failed());
}

TEST(BallotTest, FailsAsSoonAsTheRestCannotMakeIt) {
  Ballot ballot(Quorum::majority(5));
  ballot.record(0, busy(1s));
  ballot.record(1, not_sent("down"));
  EXPECT_FALSE(ballot.failed());
  ballot.record(2, unknown("silence"));
  EXPECT_TRUE(ballot.failed());
  Ballot all(Quorum::all(3));
  all.record(1, busy(1s));
  EXPECT_TRUE(all.failed());
}

TEST(BallotTest, IsBusyForAsLongAsItTakesUntilEnoughMayBeFree) {
  const Ballot ballot = counted(Quorum::majority(5), {busy(5s), busy(1s), busy(3s), granted(), busy(2s)});
  const Attempt result = ballot.result(kNodes, 7ms);
  EXPECT_EQ(result.kind, Attempt::Kind::busy);
  EXPECT_EQ(result.busy_for, 2s) << "one is free, two more are needed";
  EXPECT_TRUE(result.subscribed);
  EXPECT_FALSE(result.retry_after) << "somebody has four of five";
}

TEST(BallotTest, IsSplitWhenNobodyWasSeenToHaveIt) {
  const Ballot ballot = counted(Quorum::majority(5), {busy(5s), busy(5s), granted(), granted(), unknown("silence")});
  EXPECT_TRUE(ballot.failed());
  EXPECT_EQ(ballot.result(kNodes, 7ms).retry_after, 7ms);
  const Ballot all = counted(Quorum::all(2), {granted(), busy(5s)});
  EXPECT_FALSE(all.result(kNodes, 7ms).retry_after) << "where all are needed, one is enough to have it";
}

TEST(BallotTest, IsHeardOnlyIfEveryBusyServerWillTell) {
  EXPECT_TRUE(counted(Quorum::majority(3), {busy(1s), busy(1s)}).result(kNodes, 1ms).subscribed);
  EXPECT_FALSE(counted(Quorum::majority(3), {busy(1s), busy_unsubscribed(1s)}).result(kNodes, 1ms).subscribed);
}

TEST(BallotTest, NeverEndsForALockWithoutExpiry) {
  const Attempt result = counted(Quorum::majority(3), {busy(-1ms), busy(-1ms)}).result(kNodes, 1ms);
  EXPECT_EQ(result.busy_for, kLongestLease);
}

TEST(BallotTest, IsTroubleWhenTooFewServersAnswer) {
  const Ballot ballot =
      counted(Quorum::majority(5), {granted(), not_sent("down"), busy(12s), unknown("silence"), not_sent("down")});
  const Attempt result = ballot.result(kNodes, 7ms);
  EXPECT_EQ(result.kind, Attempt::Kind::not_sent);
  EXPECT_EQ(result.error, Errc::no_quorum);
  EXPECT_FALSE(result.pointless);
  EXPECT_THAT(result.cause, HasSubstr("1 of 5 servers granted it, 3 are needed"));
  EXPECT_THAT(result.cause, HasSubstr("a:1: granted"));
  EXPECT_THAT(result.cause, HasSubstr("b:2: cannot reach the server: down"));
  EXPECT_THAT(result.cause, HasSubstr("c:3: held by somebody else, for another 12000 ms"));
  EXPECT_THAT(result.cause, HasSubstr("d:4: no reply in time, the outcome is unknown: silence"));
}

TEST(BallotTest, IsHopelessWhenTooManyWillNeverAnswer) {
  const Attempt down = pointless(Errc::unreachable, "refused");
  EXPECT_TRUE(counted(Quorum::majority(3), {down, down, granted()}).result(kNodes, 1ms).pointless);
  EXPECT_FALSE(counted(Quorum::majority(3), {down, not_sent("down"), granted()}).result(kNodes, 1ms).pointless);
}

TEST(BallotTest, SaysOfALeaseThatIsJustEndingThatItEnds) {
  const Attempt result = counted(Quorum::majority(3), {busy(0ms), busy(-1ms)}).result(kNodes, 1ms);
  EXPECT_THAT(result.cause,
              HasSubstr("a:1: held by somebody else, for another 0 ms unless renewed; b:2: held by somebody else;"));
}

TEST(BallotTest, IsBusyNoLongerWhereALeaseIsJustEnding) {
  EXPECT_EQ(counted(Quorum::majority(3), {busy(0ms), busy(5s), granted()}).result(kNodes, 1ms).busy_for, 0ms);
}

TEST(BallotTest, SubscribesIfOneOfThemDoesAndCannotIfOneCannot) {
  Attempt subscribing = busy_unsubscribed(1s);
  subscribing.subscribing = true;
  Attempt cannot = busy_unsubscribed(1s);
  cannot.cannot_subscribe = true;
  const Attempt one = counted(Quorum::majority(3), {subscribing, busy(1s)}).result(kNodes, 1ms);
  EXPECT_TRUE(one.subscribing);
  EXPECT_FALSE(one.cannot_subscribe);
  const Attempt other = counted(Quorum::majority(3), {cannot, busy(1s)}).result(kNodes, 1ms);
  EXPECT_FALSE(other.subscribing);
  EXPECT_TRUE(other.cannot_subscribe);
}

TEST(BallotTest, LacksAcksIfNothingElseIsLacking) {
  const Attempt lacking = not_durable("no replica");
  EXPECT_EQ(counted(Quorum::all(2), {granted(), lacking}).result(kNodes, 1ms).error, Errc::durability_not_met);
  EXPECT_EQ(counted(Quorum::all(2), {not_sent("down"), lacking}).result(kNodes, 1ms).error, Errc::no_quorum);
  EXPECT_EQ(counted(Quorum::all(2), {}).result(kNodes, 1ms).error, Errc::no_quorum);
}

TEST(BallotTest, IsAboutAnyOneOnlyWhereThereAreSeveral) {
  EXPECT_FALSE(Quorum::one_of(1).any());
  EXPECT_TRUE(Quorum::one_of(2).any());
  EXPECT_FALSE(Quorum::all(2).any());
}

TEST(BallotTest, MayPassAsLongAsEnoughTroublesMay) {
  Attempt stays = not_sent("wrong password");
  stays.may_pass = false;
  const Attempt down = not_sent("down");
  EXPECT_EQ(counted(Quorum::majority(3), {stays, down, down}).result(kNodes, 1ms).may_pass, true);
  EXPECT_EQ(counted(Quorum::majority(3), {stays, stays, down}).result(kNodes, 1ms).may_pass, false);
}

TEST(BallotTest, ComesToTheSameInWhateverOrderTheVotesCome) {
  std::mt19937 random(7);
  const std::vector<Attempt> kinds{granted(), granted(), busy(1s), busy(9s), not_sent("down"), unknown("silence")};
  for (int round = 0; round < 500; ++round) {
    std::vector<Attempt> votes;
    for (int i = 0; i < 5; ++i) votes.push_back(kinds[random() % kinds.size()]);
    std::vector<std::size_t> order(5);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    Ballot ballot(Quorum::majority(5));
    bool won = false;
    bool failed = false;
    for (const std::size_t i : order) {
      ballot.record(i, votes[i]);
      EXPECT_FALSE(ballot.won() && ballot.failed());
      EXPECT_FALSE(won && !ballot.won()) << "what is decided stays";
      EXPECT_FALSE(failed && !ballot.failed());
      won = ballot.won();
      failed = ballot.failed();
    }
    EXPECT_NE(won, failed) << "when all have voted it is decided";
    EXPECT_EQ(ballot.text(kNodes), counted(Quorum::majority(5), votes).text(kNodes));
  }
}

}  // namespace
}  // namespace holdfast::engine::ballot_count_test
