// SPDX-License-Identifier: Apache-2.0
// That each judge finds what it is for, and nothing else: small histories with a planted violation, beside the same
// without it. What is said of each is what would be missed without that judge.
#include "judges/judge.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judges/made_story.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::judge_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Two holds of one lock, far apart.
Story two_holds() {
  Story story;
  story.settings.allowance = 1000;
  story.history.holds = {held("a:1", 10'000, 20'000), held("b:2", 30'000, 40'000)};
  return story;
}
HeldOnce& first(Story& story) { return story.history.holds[0]; }
HeldOnce& second(Story& story) { return story.history.holds[1]; }

/// The first holder's lock was lost at the server, and he was told at this time.
Story lost_at(Microseconds told) {
  Story story = two_holds();
  first(story).reason = "taken";
  first(story).told = told;
  first(story).outcome = "was_lost";
  return story;
}
StruckFault flushed(Microseconds began, Microseconds ended) {
  return {.kind = "FLUSHALL",
          .began = began,
          .ended = ended,
          .exclusion_promised = false,
          .counted_until = ended + 1000,
          .told_within = 500};
}

TEST(Judge, FindsNothingInACorrectStory) {
  EXPECT_THAT(promises(two_holds()), IsEmpty());
  EXPECT_THAT(promises(Story()), IsEmpty());
}

// Without the sweep: two inside at once, which is what a lock is against.
TEST(Exclusion, TwoHoldersAtOnceAreFound) {
  Story story = two_holds();
  second(story).granted = 19'999;
  second(story).called = 15'000;
  const Verdict verdict = judge(story);
  ASSERT_EQ(verdict.violations.size(), 1U);
  EXPECT_EQ(verdict.violations[0].promise, "exclusion");
  EXPECT_THAT(verdict.violations[0].text, AllOf(HasSubstr("x had two holders"), HasSubstr("a:1"), HasSubstr("b:2"),
                                                HasSubstr("[19999]"), HasSubstr("no fault near")));
  second(story).granted = 20'000;
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(Exclusion, AHoldThatIsOverWhenItsHolderGetsItIsNobodys) {
  Story story;
  story.history.holds = {held("a:1", 100, 900), held("b:2", 200, 200)};
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.holds[1] = held("b:2", 200, 201);
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
}

TEST(Exclusion, AllThatBeginInsideALongHoldAreFound) {
  Story story;
  story.history.holds = {held("a:1", 100, 900), held("b:2", 200, 300), held("c:3", 400, 500), held("d:4", 900, 999)};
  EXPECT_THAT(promises(story), ElementsAre("exclusion", "exclusion"));
}

TEST(Exclusion, UnderAFaultThatDoesNotPromiseItIsCounted) {
  Story story = two_holds();
  second(story).granted = 19'000;
  story.faults = {flushed(15'000, 18'500)};
  const Verdict verdict = judge(story);
  EXPECT_THAT(verdict.violations, IsEmpty());
  EXPECT_EQ(verdict.overlaps_counted, 1);
  EXPECT_THAT(verdict.overlaps_counted_by, ElementsAre(testing::Pair(testing::_, 1)));
  EXPECT_EQ(verdict.overlapped.worst, 1000);
}

// What is only counted must be bounded in time and name, or one FLUSHALL would excuse the whole run.
TEST(Exclusion, AFaultExcusesOnlyItsTimeAndItsNames) {
  Story story = two_holds();
  second(story).granted = 19'000;
  story.faults = {flushed(11'000, 17'000)};
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.faults = {flushed(15'000, 18'500)};
  story.faults[0].names = {"y"};
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.faults[0].names = {"x"};
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults[0].exclusion_promised = true;
  EXPECT_THAT(judge(story).violations[0].text, HasSubstr("near: FLUSHALL"));
}

// A process that was killed writes no more: what it held until then would be missed.
TEST(Exclusion, WhatAKilledProcessHeldIsJudgedUntilItsEnd) {
  Story story = two_holds();
  first(story).open = true;
  first(story).released = first(story).ended = 0;
  first(story).deadline = 50'000;
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.faults = {{.kind = "killed", .began = 29'000, .ended = 29'000, .clients = {"a"}, .kills = true}};
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults[0].clients = {"b"};
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
}

TEST(Exclusion, WhatOthersBelieveIsTheirAffairUnlessTheyHadIt) {
  Story story = two_holds();
  story.settings.others = {"a"};
  second(story).granted = 19'000;
  first(story).outcome = "was_lost";
  first(story).reason = "expired";
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).overlaps_of_others, 1);
  first(story).outcome = "released";
  first(story).reason = "-";
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.settings.others = {"b"};
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
}

// Without this: a hold that vanishes while all is well, as by a renewal that is never sent.
TEST(Honesty, ALossWithoutAFaultIsFound) {
  Story story = lost_at(15'000);
  EXPECT_THAT(promises(story), ElementsAre("told"));
  story.faults = {flushed(14'000, 14'100)};
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults = {flushed(15'001, 15'100)};
  EXPECT_THAT(promises(story), ElementsAre("told")) << "that came later";
  story.faults = {flushed(1'000, 1'100)};
  EXPECT_THAT(promises(story), ElementsAre("told")) << "and that was over";
}

// A library that gives up its holds and says that their leases are over would tell everybody in time.
TEST(Honesty, AnEndOfTheLeaseThatComesTooEarlyIsFound) {
  Story story = lost_at(15'000);
  first(story).reason = "expired";
  first(story).deadline = 17'001;
  EXPECT_THAT(promises(story), ElementsAre("told"));
  first(story).deadline = 17'000;
  EXPECT_THAT(promises(story), IsEmpty()) << "valid times are whole milliseconds";
  first(story).deadline = 19'000;
  first(story).reason = "max_hold";
  EXPECT_THAT(promises(story), IsEmpty());
}

// Without this: a holder who works on long after the servers are back and could have told him.
TEST(Honesty, ALossThatIsToldTooLateIsFound) {
  Story story = lost_at(15'600);
  story.settings.allowance = 0;
  story.faults = {flushed(14'000, 15'000)};
  EXPECT_THAT(promises(story), ElementsAre("told"));
  first(story).told = 15'500;
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).told.worst, 1500);
}

TEST(Honesty, ALossThatOnlyTheReleaseFindsIsFoundToo) {
  Story story = lost_at(0);
  first(story).reason = "-";
  story.faults = {flushed(11'000, 12'000)};
  EXPECT_THAT(promises(story), ElementsAre("told"));
  story.faults[0].told_within = 8'000;
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(Honesty, WhoStandsStillIsToldWhenHeGoesOn) {
  Story story = lost_at(18'000);
  story.faults = {flushed(14'000, 15'000)};
  EXPECT_THAT(promises(story), ElementsAre("told"));
  story.faults.push_back({.kind = "stopped", .began = 14'500, .ended = 17'000, .clients = {"a"}});
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults[1].stands_still = false;
  EXPECT_THAT(promises(story), ElementsAre("told"));
}

TEST(Story, IsWrittenAndReadAsItWas) {
  const TempDir folder;
  Story story;
  story.settings.lease = 7;
  story.settings.others = {"redisson"};
  story.settings.split_votes = true;
  story.numbers = {{"x", 8}};
  story.permits["y"] = {.all = 3, .left = 2};
  story.safety_poll_wakes = 9;
  story.standstills = {{3, 4}};
  story.faults = {flushed(10, 11)};
  story.faults[0].names = {"x"};
  story.faults[0].clients = {"a"};
  story.faults[0].stands_still = false;
  story.faults[0].tokens_promised = false;
  write_story(story, folder.path().string());
  const Story read = read_story(folder.path().string());
  EXPECT_EQ(read.settings.lease, 7);
  EXPECT_EQ(read.settings.allowance, story.settings.allowance);
  EXPECT_TRUE(read.is_other("redisson1"));
  EXPECT_TRUE(read.settings.split_votes);
  EXPECT_EQ(read.numbers, story.numbers);
  EXPECT_EQ(read.permits.at("y").all, 3);
  EXPECT_EQ(read.permits.at("y").left, 2);
  EXPECT_EQ(read.safety_poll_wakes, 9);
  EXPECT_EQ(read.standstills, story.standstills);
  ASSERT_EQ(read.faults.size(), 1U);
  const StruckFault& fault = read.faults[0];
  EXPECT_EQ(fault.kind, "FLUSHALL");
  EXPECT_EQ(fault.began, 10);
  EXPECT_EQ(fault.ended, 11);
  EXPECT_EQ(fault.counted_until, 1011);
  EXPECT_EQ(fault.told_within, 500);
  EXPECT_FALSE(fault.exclusion_promised || fault.tokens_promised || fault.stands_still || fault.kills);
  EXPECT_EQ(fault.names, std::vector<Text>{"x"});
  EXPECT_EQ(fault.clients, std::vector<Text>{"a"});
}

TEST(Verdict, SaysTheSameInWordsAndInFigures) {
  Story story = lost_at(15'000);
  story.faults = {flushed(14'000, 14'100)};
  second(story).granted = 12'000;
  second(story).called = 11'000;
  const Verdict verdict = judge(story);
  EXPECT_THAT(verdict.json(),
              AllOf(HasSubstr(R"("holds":2)"), HasSubstr(R"("faults":{"FLUSHALL":1})"), HasSubstr(R"("violations":1)"),
                    HasSubstr(R"({"exclusion":1})"), HasSubstr(R"("forgotten_holds":1)"),
                    HasSubstr(R"("forgotten_by":{"FLUSHALL":1})")));
  EXPECT_THAT(verdict.text(), AllOf(HasSubstr("2 holds of 1 locks"), HasSubstr("1 violations"),
                                    HasSubstr("exclusion: x had two holders")));
}

// Without this: a signal that does not come at the deadline. The sweep ends a hold there, signal or not.
TEST(Honesty, ASignalLongAfterTheDeadlineIsFound) {
  Story story = two_holds();
  first(story).deadline = 15'000;
  first(story).reason = "expired";
  first(story).outcome = "was_lost";
  first(story).told = 16'001;
  EXPECT_THAT(promises(story), ElementsAre("told"));
  first(story).told = 16'000;
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).told_at_deadline.worst, 1000);
}

// Without this: a call that hangs, or comes back long after its limit.
TEST(Waits, AWaitBeyondItsLimitIsFound) {
  Story story = two_holds();
  second(story).wait = 10'000;
  second(story).called = 40'000 - 10'000 - 50'000 - 11'000 - 1;
  EXPECT_THAT(promises(story), ElementsAre("wait"));
  ++second(story).called;
  EXPECT_THAT(promises(story), IsEmpty());
  second(story).wait = HeldOnce::kNoWait;
  second(story).called = -900'000;
  EXPECT_THAT(promises(story), IsEmpty()) << "without a limit it may wait for ever";
}

TEST(Waits, WhatTheMachineStoodStillCountsForNobody) {
  Story story = two_holds();
  story.history.failures = {{"b", "x", 0, 62'001, "timed out", "timed_out", 10'000}};
  story.settings.allowance = 2'000;
  story.standstills = {{0, 1}};
  EXPECT_THAT(promises(story), IsEmpty());
  story.standstills = {{62'001, 70'000}};
  EXPECT_THAT(promises(story), ElementsAre("wait")) << "later";
}

TEST(Waits, ACallThatFailsHasTheSameLimit) {
  Story story = two_holds();
  story.history.failures = {{"b", "x", 0, 62'001, "timed out", "timed_out", 10'000}};
  story.settings.allowance = 2'000;
  EXPECT_THAT(promises(story), ElementsAre("wait"));
  story.history.failures[0].ended = 62'000;
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(Waits, AReleaseThatDoesNotWaitHasNoLimit) {
  Story story = two_holds();
  story.settings.release_timeout = 5'000;
  second(story).ended = 46'001;
  second(story).waits = false;
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(Waits, AReleaseBeyondItsLimitIsFound) {
  Story story = two_holds();
  story.settings.release_timeout = 5'000;
  second(story).ended = 46'001;
  EXPECT_THAT(promises(story), ElementsAre("wait"));
  second(story).ended = 46'000;
  EXPECT_THAT(promises(story), IsEmpty());
}

/// Free from 20'010 on; b asks at 21'000 and gets it a safety poll later, or longer.
Story free_for(Microseconds longer) {
  Story story = two_holds();
  story.settings.safety_poll = 10'000;
  story.settings.lease = 50'000;
  second(story).called = 21'000;
  second(story).granted = 21'000 + 10'000 + longer;
  second(story).released = 50'000;
  second(story).ended = 50'010;
  return story;
}

// Without this: wakes that are lost and polls that find nothing; everybody gets in, but late.
TEST(FreeLocks, ALockThatIsFreeWhileSomebodyWaitsIsFound) {
  EXPECT_THAT(promises(free_for(1001)), ElementsAre("free lock"));
  const Story story = free_for(1000);
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).longest_free, 11'000);
  EXPECT_EQ(judge(story).longest_free_undisturbed, 11'000);
  EXPECT_EQ(judge(story).long_free, 1);
}

TEST(FreeLocks, WhoeverAsksFirstHasWaited) {
  Story story = free_for(-10'000);
  HeldOnce third = held("c:3", 60'000, 61'000);
  third.called = 50'000;
  story.history.holds.push_back(third);
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.holds[2].called = 20'000;
  story.history.holds[2].granted = 62'011;
  EXPECT_THAT(promises(story), ElementsAre("free lock"));
}

TEST(FreeLocks, WhoeverIsGrantedItLaterHasWaitedToo) {
  Story story = free_for(1001);
  second(story).called = second(story).granted;
  EXPECT_THAT(promises(story), IsEmpty());
  HeldOnce third = held("c:3", 50'020, 51'000);
  third.called = 21'000;
  story.history.holds.push_back(third);
  EXPECT_THAT(promises(story), ElementsAre("free lock"));
}

TEST(FreeLocks, WhoeverGivesUpBesideAFreeLockIsFound) {
  Story story = two_holds();
  story.settings.safety_poll = 10'000;
  story.history.failures = {{"c", "x", 50'000, 61'001, "timed out", "timed_out", 10'000}};
  EXPECT_THAT(promises(story), ElementsAre("free lock"));
  story.history.failures[0].word = "denied";
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(FreeLocks, OtherLibrariesMayBeSlow) {
  Story story = free_for(1001);
  story.settings.others = {"b"};
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.failures = {{"b", "x", 21'000, 32'001, "timed out", "timed_out", 11'000}};
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.failures[0].client = "c";
  EXPECT_THAT(promises(story), ElementsAre("free lock"));
}

TEST(FreeLocks, BehindAFaultItMayBeTakenByNobodyForALease) {
  Story story = free_for(1001);
  story.faults = {{.kind = "cut", .began = 15'000, .ended = 19'000}};
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).longest_free, 11'001);
  EXPECT_EQ(judge(story).longest_free_undisturbed, 0);
  story = free_for(20'000);
  story.history.failures = {{"c", "x", 5'000, 9'000, "no answer", "unknown_outcome"}};
  EXPECT_THAT(promises(story), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test::judge_test
