// SPDX-License-Identifier: Apache-2.0
// What the order of calls shows and no clock does: outcomes that no lock could have given. Small histories with a
// planted violation, beside the same without it.
#include "judges/outcomes.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judges/judge.hpp"
#include "judges/made_story.hpp"

namespace holdfast::test::outcomes_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Outcomes : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = why_no_porcupine();
    const char* const peers = std::getenv("HOLDFAST_PEERS");
    if (reason.empty()) return;
    if (peers != nullptr && std::string(peers) == "required") FAIL() << "the judge of outcomes: " << reason;
    GTEST_SKIP() << "the judge of outcomes: " << reason;
  }

  static std::vector<std::string> violations(const Story& story) {
    Verdict verdict;
    judge_outcomes(story, verdict);
    std::vector<std::string> texts;
    for (const Violation& each : verdict.violations) texts.push_back(each.text);
    return texts;
  }

  /// Two holds of one lock, the times far apart.
  static Story two_holds() {
    Story story;
    story.settings.allowance = story.settings.command_timeout = 1000;
    story.history.holds = {held("a:1", 10'000, 20'000), held("b:2", 30'000, 40'000)};
    return story;
  }
  static FailedCall refused(Microseconds called, Microseconds ended) {
    return {"c", "x", called, ended, "busy", "busy", 0};
  }
};

TEST_F(Outcomes, WhatALockCanDoIsAccepted) {
  EXPECT_THAT(violations(two_holds()), IsEmpty());
  EXPECT_THAT(violations(Story()), IsEmpty());
}

TEST_F(Outcomes, TheOrderOfReturnsIsNotTheOrderOfTheLock) {
  Story story = two_holds();
  story.history.holds[0].ended = 35'000;  // its release has long been carried out
  EXPECT_THAT(violations(story), IsEmpty());
}

// The sweep finds this too, if the holders believed in it.
TEST_F(Outcomes, AGrantWithinAHoldIsFound) {
  Story story = two_holds();
  story.history.holds[1].called = 11'000;
  story.history.holds[1].granted = 12'000;
  story.history.holds[1].released = 13'000;
  story.history.holds[1].ended = 14'000;
  EXPECT_THAT(violations(story), ElementsAre(HasSubstr("x")));
}

// The sweep says nothing of a hold beyond its deadline. But the server cannot take back from its owner what it has
// given to another one.
TEST_F(Outcomes, AReleaseOfWhatAnotherOneHadIsFound) {
  Story story = two_holds();
  HeldOnce& first = story.history.holds[0];
  first.deadline = 15'000;
  first.released = 50'000;
  first.ended = 60'000;
  EXPECT_THAT(violations(story), SizeIs(1));
  EXPECT_EQ(judge(story).overlaps_counted, 0);
  first.outcome = "was_lost";
  first.reason = "expired";
  EXPECT_THAT(violations(story), IsEmpty());
}

// A process that stands still hears of its grant when it is over, and others have had the lock since.
TEST_F(Outcomes, AGrantMayBeOverBeforeItIsHeardOf) {
  Story story = two_holds();
  HeldOnce& first = story.history.holds[0];
  first.granted = first.deadline = first.told = 60'000;
  first.released = 61'000;
  first.ended = 62'000;
  first.outcome = "was_lost";
  first.reason = "expired";
  EXPECT_THAT(violations(story), IsEmpty());
  first.deadline = 70'000;
  EXPECT_THAT(violations(story), SizeIs(1));
}

// Without this: a call that says "busy" and has not asked, or reads another lock's key.
TEST_F(Outcomes, ARefusalWhileNobodyHadItIsFound) {
  Story story = two_holds();
  story.history.failures = {refused(25'000, 26'000)};
  EXPECT_THAT(violations(story), ElementsAre(HasSubstr("c called")));
  story.history.failures = {refused(15'000, 16'000)};
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.failures = {refused(25'000, 31'000)};
  EXPECT_THAT(violations(story), IsEmpty()) << "it may have come behind the grant";
}

// Inside a client callers stand in line.
TEST_F(Outcomes, ARefusalBehindOthersOfOneClientProvesNothing) {
  Story story = two_holds();
  story.history.failures = {refused(25'000, 26'000)};
  story.history.holds[1].called = 24'000;
  story.history.holds.push_back(held("d:3", 27'000, 28'000));
  EXPECT_THAT(violations(story), SizeIs(1));
  story.history.holds[1].client = "c";
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.holds[1].called = 26'001;
  EXPECT_THAT(violations(story), SizeIs(1));
}

TEST_F(Outcomes, AnUnknownAcquireMayHaveHappened) {
  Story story = two_holds();
  story.history.failures = {refused(25'000, 26'000), {"d", "x", 21'000, 24'000, "no answer", "unknown_outcome"}};
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.failures[1].called = 26'500;
  story.history.failures[1].ended = 27'000;
  EXPECT_THAT(violations(story), SizeIs(1)) << "but not before it was called";
}

// A client whose links are cut undoes what it has given up when they are back.
TEST_F(Outcomes, WhatIsNotUndoneYetMayBeSeen) {
  Story story = two_holds();
  story.history.failures = {refused(25'000, 26'000), {"d", "x", 12'000, 13'000, "timed out", "timed_out"}};
  EXPECT_THAT(violations(story), SizeIs(1));
  story.settings.lease = 5'000;
  story.faults = {{.kind = "links cut", .began = 12'500, .ended = 24'500, .clients = {"d"}, .stands_still = false}};
  EXPECT_THAT(violations(story), IsEmpty());
  story.faults[0].clients = {"c"};
  EXPECT_THAT(violations(story), SizeIs(1));
}

TEST_F(Outcomes, AnUnknownReleaseMayHaveHappenedOrNot) {
  Story story = two_holds();
  story.history.holds[0].outcome = "unknown";
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.failures = {refused(25'000, 26'000)};
  EXPECT_THAT(violations(story), IsEmpty());
}

// Without this: a release that says "lost" of a lock that stands, so that nobody believes it any more.
TEST_F(Outcomes, ALossWithoutAReasonIsFound) {
  Story story = two_holds();
  story.history.holds[0].outcome = "was_lost";
  EXPECT_THAT(violations(story), ElementsAre(HasSubstr("a:1")));
  story.history.forced = {{"c", "x", 12'000, 13'000, "yes"}};
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.forced[0].answer = "no";
  EXPECT_THAT(violations(story), Not(IsEmpty()));
  story.history.forced.clear();
  story.faults = {{.kind = "FLUSHALL", .began = 12'000, .ended = 13'000, .exclusion_promised = false}};
  EXPECT_THAT(violations(story), IsEmpty());
}

// Its key stands until the lease is over at the server, a little later.
TEST_F(Outcomes, WhoseClockHasEndedItDoesNotSpeakForTheServer) {
  Story story = two_holds();
  HeldOnce& first = story.history.holds[0];
  first.outcome = "was_lost";
  first.reason = "expired";
  first.deadline = first.told = 15'000;
  story.history.failures = {refused(25'000, 26'000)};
  EXPECT_THAT(violations(story), IsEmpty());
  first.deadline = 25'000;
  first.reason = "taken";
  story.faults = {
      {.kind = "taken by force", .began = 14'000, .ended = 14'500, .names = {"y"}, .exclusion_promised = false}};
  EXPECT_THAT(violations(story), SizeIs(1)) << "this is what the server has said";
}

TEST_F(Outcomes, ForceOfWhatIsFreeIsFound) {
  Story story = two_holds();
  story.history.forced = {{"c", "x", 25'000, 26'000, "yes"}};
  EXPECT_THAT(violations(story), SizeIs(1));
  story.history.forced[0].answer = "no";
  EXPECT_THAT(violations(story), IsEmpty());
}

Story entered_twice() {
  Story story;
  const auto op = [&](long long thread, bool acquire, Microseconds at, const std::string& outcome) {
    story.history.operations.push_back({"a", "x", thread, acquire, at, at + 5, outcome});
  };
  op(1, true, 10, "granted");
  op(1, true, 20, "granted");
  op(1, false, 30, "still_held");
  op(2, true, 40, "busy");
  op(1, false, 50, "released");
  op(2, true, 60, "granted");
  op(2, false, 70, "released");
  return story;
}

TEST_F(Outcomes, WhoHasEnteredTwiceStillHasItAfterOneRelease) {
  Story story = entered_twice();
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.operations[5].called = 42;
  story.history.operations[5].ended = 47;
  EXPECT_THAT(violations(story), Not(IsEmpty()));
}

// Without this: a thread that has entered twice and given back once is out.
TEST(Counts, AReleaseTooEarlyOrTooLateIsFound) {
  Story story = entered_twice();
  EXPECT_THAT(judge(story).violations, IsEmpty());
  story.history.operations[2].outcome = "released";
  ASSERT_THAT(judge(story).violations, Not(IsEmpty()));
  EXPECT_EQ(judge(story).violations[0].promise, "count");
  story = entered_twice();
  story.history.operations[4].outcome = "still_held";
  EXPECT_THAT(judge(story).violations, SizeIs(1));
}

TEST_F(Outcomes, TokensGrow) {
  Story story = two_holds();
  story.history.holds[0].token = 5;
  story.history.holds[1].token = 5;
  EXPECT_THAT(violations(story), SizeIs(1));
  story.history.holds[1].token = 6;
  EXPECT_THAT(violations(story), IsEmpty());
}

// A client that was stopped during a failover may still reach the primary that was replaced.
TEST_F(Outcomes, TokensMayComeAgainAsLongAsAFaultWorksOn) {
  Story story = two_holds();
  story.history.holds[0].token = story.history.holds[1].token = 5;
  StruckFault failover;
  failover.kind = "failover";
  failover.began = 1'000;
  failover.ended = 2'000;
  failover.exclusion_promised = failover.tokens_promised = false;
  story.faults = {failover};
  EXPECT_THAT(violations(story), SizeIs(1));
  story.faults[0].counted_until = 35'000;
  EXPECT_THAT(violations(story), IsEmpty());
}

// Answers are read in another order than the server gave them, and it has lost what it granted in between.
TEST_F(Outcomes, AFaultMayTakeAHoldAwayBeforeItIsHeardOf) {
  const auto fenced = [](const std::string& owner, long long token, Microseconds called, Microseconds granted) {
    HeldOnce hold = held(owner, granted, granted + 500);
    hold.token = token;
    hold.called = called;
    return hold;
  };
  Story story;
  story.history.holds = {fenced("a:1", 8, 9'000, 10'000), fenced("b:2", 9, 11'000, 21'200),
                         fenced("c:3", 1, 20'500, 21'000), fenced("d:4", 2, 20'600, 22'000)};
  HeldOnce& late = story.history.holds[1];
  late.outcome = "was_lost";
  late.reason = "taken";
  EXPECT_THAT(violations(story), SizeIs(1));
  story.faults = {{.kind = "all keys flushed",
                   .began = 20'000,
                   .ended = 20'400,
                   .exclusion_promised = false,
                   .counted_until = 30'000,
                   .tokens_promised = false}};
  EXPECT_THAT(violations(story), IsEmpty());
  // Its clock is moved: it loses no tokens.
  story.history.holds[2].token = 10;
  story.history.holds[3].token = 11;
  story.faults[0].tokens_promised = true;
  EXPECT_THAT(violations(story), IsEmpty());
  late.called = 21'100;
  EXPECT_THAT(violations(story), SizeIs(1));
}

// Both primaries of a failover count on, and their holders take turns.
TEST_F(Outcomes, TwoPrimariesMayGiveTheSameTokensByTurns) {
  Story story;
  for (const Microseconds at : {10'000, 20'000, 30'000, 40'000}) {
    story.history.holds.push_back(held(at % 20'000 == 0 ? "a:1" : "b:2", at, at + 5'000));
    story.history.holds.back().token = at <= 20'000 ? 5 : 6;
  }
  EXPECT_THAT(violations(story), SizeIs(1));
  story.faults = {{.kind = "failover",
                   .began = 5'000,
                   .ended = 6'000,
                   .exclusion_promised = false,
                   .counted_until = 50'000,
                   .tokens_promised = false}};
  EXPECT_THAT(violations(story), IsEmpty());
  story.history.holds[3].token = 5;
  EXPECT_THAT(violations(story), IsEmpty());
  story.faults[0].counted_until = 25'000;
  EXPECT_THAT(violations(story), SizeIs(1)) << "not when it is over";
}

TEST_F(Outcomes, RefusalsByAMajorityProveNothing) {
  Story story = two_holds();
  story.history.failures = {refused(25'000, 26'000)};
  story.settings.split_votes = true;
  EXPECT_THAT(violations(story), IsEmpty());
}

// What is cut apart must be judged as the whole would be.
TEST(Pieces, AreCutWhereSomebodyHasIt) {
  Story story;
  for (int i = 0; i < 10; ++i) {
    story.history.holds.push_back(held("a:" + std::to_string(i), 1000 * i + 100, 1000 * i + 900));
    story.history.holds.back().called = 1;  // all wait from the beginning
  }
  story.history.holds[3].outcome = "unknown";
  std::vector<Piece> pieces;
  each_piece(View(story), 4, [&](const Piece& piece) { pieces.push_back(piece); });
  ASSERT_THAT(pieces, SizeIs(5));
  EXPECT_EQ(pieces[0].holder, 0);
  std::size_t steps = 0;
  for (const Piece& each : pieces) {
    const Microseconds from =
        each.holder == 0 ? 0 : story.history.holds[static_cast<std::size_t>(each.holder) - 1].granted;
    for (const Step& step : each.steps) EXPECT_GT(step.ended, from);
    steps += each.steps.size();
  }
  EXPECT_EQ(steps, 20U);
}

// Who does not look at his deadline may be granted a lock whose lease is over, and release it all the same.
TEST(Pieces, EndNothingBeforeItIsGranted) {
  Story story;
  for (int i = 0; i < 10; ++i) {
    story.history.holds.push_back(held("a:" + std::to_string(i), 1000 * i + 100, 1000 * i + 900));
    story.history.holds.back().called = 1;
  }
  story.history.holds[5].deadline = 2;
  story.history.holds[5].outcome = "unknown";
  std::vector<Step> steps;
  each_piece(View(story), 4, [&](const Piece& piece) { std::ranges::copy(piece.steps, std::back_inserter(steps)); });
  const auto of_the_sixth = [&](const std::string& kind) {
    return std::ranges::find_if(steps, [&](const Step& each) { return each.owner == 6 && each.kind == kind; });
  };
  ASSERT_NE(of_the_sixth("end"), steps.end());
  EXPECT_LT(of_the_sixth("granted"), of_the_sixth("end"));
  EXPECT_GT(of_the_sixth("end")->ended, 5100);
}

}  // namespace
}  // namespace holdfast::test::outcomes_test
