// SPDX-License-Identifier: Apache-2.0
// Which slots are asked for any one of several locks, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "acquire_story.hpp"
#include "lock/decide/ballot.hpp"

namespace holdfast::engine::candidates_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kNames{"\"a\"", "\"b\"", "\"c\""};

/// Three slots that rest for a second.
class CandidatesTest : public testing::Test {
 protected:
  /// A round of a waiter that hears of releases, in which each that is asked answers this.
  void answered(Duration now, const std::vector<Attempt>& votes) {
    for (const std::size_t slot : all_.round(at(now), true)) all_.on_vote(slot, votes[slot], at(now));
  }
  std::vector<std::size_t> round(Duration now) { return all_.round(at(now), true); }

  Candidates all_{3, 1s, 0};
};

TEST_F(CandidatesTest, TakeTurnsAtBeingFirst) {
  EXPECT_THAT(all_.round(at(0ms), false), ElementsAre(0, 1, 2));
  EXPECT_THAT(all_.round(at(0ms), false), ElementsAre(1, 2, 0));
  EXPECT_THAT(all_.round(at(0ms), false), ElementsAre(2, 0, 1));
  EXPECT_THAT(Candidates(3, 1s, 2).round(at(0ms), false), ElementsAre(2, 0, 1));
}

TEST_F(CandidatesTest, AreAskedAgainWhereAReleaseWasTold) {
  answered(0ms, {busy(30s), busy(30s), busy(30s)});
  all_.on_release(2);
  EXPECT_THAT(round(10ms), ElementsAre(2));
  all_.on_vote(2, busy(30s), at(10ms));
  all_.on_release(1);
  EXPECT_THAT(round(20ms), ElementsAre(1)) << "the other one has just answered";
}

TEST_F(CandidatesTest, AreAskedAgainWhereAReleaseWasToldBeforeTheAnswer) {
  EXPECT_THAT(round(0ms), ElementsAre(0, 1, 2));
  all_.on_release(1);
  for (std::size_t slot = 0; slot < 3; ++slot) all_.on_vote(slot, busy(30s), at(0ms));
  EXPECT_THAT(round(10ms), ElementsAre(1));
}

TEST_F(CandidatesTest, WhereAReleaseWasToldComesFirst) {
  all_.on_release(2);
  EXPECT_THAT(all_.round(at(0ms), false), ElementsAre(2, 0, 1));
}

TEST_F(CandidatesTest, AreAskedAgainWhereALeaseIsOver) {
  answered(0ms, {busy(30s), busy(300ms), busy(-1ms)});
  EXPECT_THAT(round(301ms), ElementsAre(1));
  EXPECT_EQ(all_.result(kNames, at(100ms)).busy_for, 29900ms) << "of those that were not asked this time";
}

TEST_F(CandidatesTest, RestNoLongerThanAMessageMayBeMissed) {
  answered(0ms, {busy(30s), busy(30s), busy(30s)});
  all_.on_release(0);
  answered(900ms, {busy(30s), busy(30s), busy(30s)});
  EXPECT_THAT(round(1s), ElementsAre(2, 1)) << "the first answered a moment ago";
}

TEST_F(CandidatesTest, AreAllAskedByWhoDoesNotListenOrMayHaveMissedAMessage) {
  answered(0ms, {busy(30s), busy(30s), busy(30s)});
  EXPECT_THAT(all_.round(at(1ms), false), ElementsAre(1, 2, 0));
  EXPECT_THAT(round(2ms), ElementsAre(2, 0, 1)) << "none has anything new: whoever asks has a reason";
  answered(3ms, {busy(30s), busy(30s), busy(30s)});
  all_.on_release(1);
  all_.on_doubt();
  EXPECT_THAT(round(4ms), ElementsAre(1, 2, 0));
}

TEST_F(CandidatesTest, WhereTheChannelIsNotYetSubscribedDoNotRest) {
  answered(0ms, {busy_unsubscribed(30s), busy(30s), busy_unsubscribed(30s)});
  EXPECT_THAT(round(1ms), ElementsAre(2, 0));
}

TEST_F(CandidatesTest, InTroubleAreAskedLastAndNotAtOnce) {
  answered(0ms, {unknown("silence"), busy(30s), busy(30s)});
  EXPECT_EQ(all_.result(kNames, at(0ms)).kind, Attempt::Kind::busy) << "others have the rest";
  all_.on_release(2);
  EXPECT_THAT(round(10ms), ElementsAre(2)) << "nobody waits for the silent one";
  EXPECT_THAT(all_.round(at(20ms), false), ElementsAre(2, 1, 0));
  all_.on_vote(0, busy(30s), at(30ms));
  EXPECT_THAT(all_.round(at(40ms), false), ElementsAre(2, 0, 1)) << "it has answered";
  all_.on_vote(2, busy(30s), at(40ms));
  all_.on_passed_over(2, at(50ms));
  EXPECT_THAT(all_.round(at(60ms), false).back(), 2U) << "its server is silent";
}

TEST_F(CandidatesTest, DoNotRestWhereALeaseIsJustEnding) {
  answered(0ms, {busy(0ms), busy(30s), busy(30s)});
  EXPECT_THAT(round(1ms), ElementsAre(0));
}

TEST_F(CandidatesTest, AreNotBusyAnyMoreOnceALeaseIsOver) {
  answered(0ms, {busy(100ms), busy(30s), busy(30s)});
  EXPECT_EQ(all_.result(kNames, at(200ms)).busy_for, 0ms);
}

TEST_F(CandidatesTest, ThatWerePassedOverRestAsLong) {
  answered(0ms, {busy(30s), busy(30s), busy(30s)});
  all_.on_passed_over(2, at(900ms));
  EXPECT_THAT(round(1100ms), ElementsAre(1, 0));
  EXPECT_THAT(round(1900ms).size(), 3U);
}

TEST_F(CandidatesTest, AreBusyUntilTheFirstOfThemMayBeFree) {
  answered(0ms, {busy(5s), not_sent("down"), busy(3s)});
  const Attempt result = all_.result(kNames, at(200ms));
  EXPECT_EQ(result.kind, Attempt::Kind::busy);
  EXPECT_EQ(result.busy_for, 2800ms);
  EXPECT_TRUE(result.subscribed);
  EXPECT_THAT(result.cause, HasSubstr("none of 3 slots had a free one (\"a\": held by somebody else"));
  EXPECT_THAT(result.cause, HasSubstr("\"b\": cannot reach the server: down"));
}

TEST_F(CandidatesTest, AreWaitedForByAsManyAsListenWhereMostDo) {
  std::vector<Attempt> votes{busy(30s), busy(30s), busy(30s)};
  votes[0].listeners = 5;
  votes[2].listeners = 9;
  answered(0ms, votes);
  EXPECT_EQ(all_.result(kNames, at(1ms)).listeners, 9);
  votes[0].listeners = votes[2].listeners = -1;
  answered(1s, votes);
  EXPECT_EQ(all_.result(kNames, at(1s)).listeners, -1) << "it may not be counted";
}

TEST_F(CandidatesTest, OfWhichNoneAnswersAreTrouble) {
  answered(0ms, {not_sent("down"), unknown("silence"), not_sent("down")});
  const Attempt result = all_.result(kNames, at(0ms));
  EXPECT_EQ(result.kind, Attempt::Kind::not_sent) << "what may stand is given back by whoever asked";
  EXPECT_EQ(result.error, Errc::unreachable);
  answered(0ms, {not_durable("no replica"), not_durable("no replica"), not_durable("no replica")});
  EXPECT_EQ(all_.result(kNames, at(0ms)).error, Errc::durability_not_met);
}

TEST_F(CandidatesTest, OfWhichOneIsRefusedAreRefused) {
  answered(0ms, {busy(5s), refused(Errc::wrong_type, "WRONGTYPE"), unknown("silence")});
  const Attempt result = all_.result(kNames, at(0ms));
  EXPECT_EQ(result.kind, Attempt::Kind::refused);
  EXPECT_EQ(result.error, Errc::wrong_type);
  EXPECT_EQ(result.cause, "\"b\": WRONGTYPE");
  answered(2s, {busy(5s), failed(Errc::denied, "NOPERM"), busy(5s)});
  EXPECT_EQ(all_.result(kNames, at(2s)).kind, Attempt::Kind::refused);
}

}  // namespace
}  // namespace holdfast::engine::candidates_test
