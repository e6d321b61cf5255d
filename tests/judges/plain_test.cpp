// SPDX-License-Identifier: Apache-2.0
// What nobody holds, plain semaphores and latches: small histories with a planted violation, as in judge_test.cpp.
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judges/judge.hpp"
#include "judges/made_story.hpp"

namespace holdfast::test::plain_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

StruckFault losing(Microseconds began, Microseconds ended) {
  return {.kind = "failover", .began = began, .ended = ended, .counts_promised = false};
}

/// A hold without a lease.
HeldOnce permit(const std::string& client, Microseconds granted, Microseconds released) {
  HeldOnce hold = held(client + ":1", granted, released);
  hold.shared = true;
  return hold;
}

/// Two that have a permit each, of two.
Story two_permits(long long left) {
  Story story;
  story.history.holds = {permit("a", 10'000'000, 20'000'000), permit("b", 12'000'000, 30'000'000)};
  story.permits["x"] = {.all = 2, .plain = true};
  story.history.looks = {{"c", "x", 60'000'000, 60'100'000, left}};
  return story;
}

// Without this: a primary that was frozen serves on until somebody tells it that it is none any more.
TEST(PlainPermits, AreNotCountedAsLongAsAFaultWorksOn) {
  Story story = two_permits(2);
  story.history.holds.push_back(permit("d", 13'000'000, 14'000'000));
  story.faults = {losing(7'000'000, 8'000'000)};
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.faults[0].counts_until = 11'000'000;
  EXPECT_THAT(promises(story), IsEmpty());
}

// Without this: a call that counts twice when its reply was lost.
TEST(PlainPermits, ThatWereMadeOrLostAreFound) {
  EXPECT_THAT(promises(two_permits(2)), IsEmpty());
  for (const long long left : {1, 3}) EXPECT_THAT(promises(two_permits(left)), ElementsAre("permits"));
}

TEST(PlainPermits, MayBeGoneForEachCallThatNobodyKnowsOf) {
  Story story = two_permits(1);
  story.history.holds[0].outcome = "unknown_outcome";
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.looks[0].left = 0;
  EXPECT_THAT(promises(story), ElementsAre("permits"));
  story.history.looks[0].left = 3;
  EXPECT_THAT(promises(story), ElementsAre("permits"));
}

TEST(PlainPermits, OfACallThatFailedComeBackUnlessItsLinkIsStruck) {
  Story story = two_permits(1);
  story.history.failures = {{"c", "x", 40'000'000, 41'000'000, "later", "timed_out", 1'000'000}};
  EXPECT_THAT(promises(story), ElementsAre("permits"));
  story.faults = {{.kind = "links cut", .began = 42'000'000, .ended = 42'100'000, .clients = {"c"}}};
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults[0].began = 70'000'000;
  story.faults[0].ended = 71'000'000;
  EXPECT_THAT(promises(story), ElementsAre("permits"));
}

TEST(PlainPermits, GoWithAProcessThatIsKilled) {
  Story story = two_permits(0);
  story.faults = {
      {.kind = "process killed", .began = 25'000'000, .ended = 25'000'000, .clients = {"b"}, .kills = true}};
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.looks[0].left = 3;
  EXPECT_THAT(promises(story), ElementsAre("permits"));
  story.history.looks[0].left = 0;
  story.faults[0].clients = {"c"};
  EXPECT_THAT(promises(story), ElementsAre("permits")) << "who never had one";
}

// It may have a call under way that is in no record.
TEST(PlainPermits, GoWithAProcessThatIsKilledSoonAfter) {
  Story story = two_permits(1);
  const StorySettings& settings = story.settings;
  const Microseconds latest = story.history.looks[0].ended + settings.patience + settings.allowance;
  story.faults = {{.kind = "process killed", .began = latest, .ended = latest, .clients = {"b"}, .kills = true}};
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults[0].began = latest + 1;
  EXPECT_THAT(promises(story), ElementsAre("permits"));
}

TEST(PlainPermits, AreNotThereBeforeTheyAreSet) {
  Story story = two_permits(0);
  story.history.looks[0].called = 9'999'999;
  story.history.looks[0].ended = 10'000'001;
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.looks[0].called = 10'000'000;
  EXPECT_THAT(promises(story), IsEmpty()) << "a has one, and b has asked";
  story.history.looks[0].called = 40'000'000;
  story.history.looks[0].ended = 40'100'000;
  EXPECT_THAT(promises(story), ElementsAre("permits"));
}

TEST(PlainPermits, OneMoreThanThereAreIsFoundUntilTheServersHaveLostData) {
  Story story = two_permits(2);
  story.history.holds.push_back(permit("c", 19'000'000, 25'000'000));
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.faults = {losing(19'100'000, 19'200'000)};
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
  story.faults = {losing(11'000'000, 11'100'000)};
  story.history.looks[0].left = 7;
  EXPECT_THAT(promises(story), IsEmpty()) << "and for good";
  EXPECT_EQ(judge(story).overlaps_counted, 1);
  story.faults = {losing(1'000'000, 2'000'000)};
  EXPECT_THAT(promises(story), ElementsAre("exclusion", "permits")) << "before the first";
}

TEST(PlainPermits, AreGivenBackWithinTheTimeOfAnyChange) {
  Story story = two_permits(2);
  story.history.holds[1].ended = 44'000'000;
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.holds[1].ended = 48'000'000;
  EXPECT_THAT(promises(story), ElementsAre("wait"));
}

/// Of two steps, by a and b, who wait.
Story latch() {
  Story story;
  const auto call = [&](const char* client, const char* what, Microseconds called, Microseconds ended,
                        const char* outcome) {
    story.history.latches.push_back({client, "x", what, called, ended, outcome, 2, 9'000'000});
  };
  call("a", "set", 1'000'000, 1'100'000, "set");
  call("a", "steps", 2'000'000, 0, "unknown");
  call("a", "step", 2'000'000, 2'100'000, "counted");
  call("a", "wait", 2'200'000, 4'000'000, "open");
  call("b", "steps", 3'000'000, 0, "unknown");
  call("b", "step", 3'000'000, 3'100'000, "counted");
  call("b", "wait", 3'200'000, 3'300'000, "open");
  story.history.looks = {{"a", "x", 8'000'000, 8'100'000, 0}};
  return story;
}

// Without this: who waits for others does not wait.
TEST(Latches, WhoContinuesBeforeTheLastStepIsFound) {
  Story story = latch();
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).latches, 1);
  story.history.latches[3].ended = 2'999'000;
  EXPECT_THAT(judge(story).violations[0].text, AllOf(HasSubstr("a, which waited for x"), HasSubstr("1 of 2 steps")));
  story.faults = {losing(2'000'000, 2'500'000)};
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).latches, 0);
  story.faults = {losing(100'000, 200'000)};
  EXPECT_THAT(promises(story), ElementsAre("latch"));
}

TEST(Latches, WhoWaitsOnBehindTheLastStepIsFound) {
  for (const char* const outcome : {"open", "closed"}) {
    Story story = latch();
    story.history.latches[3].outcome = outcome;
    story.history.latches[3].ended = 7'000'000;
    EXPECT_THAT(promises(story), IsEmpty());
    story.history.latches[3].ended = 7'200'000;
    EXPECT_THAT(promises(story), ElementsAre("latch"));
    story.faults = {{.kind = "links slow", .began = 3'000'000, .ended = 4'000'000}};
    EXPECT_THAT(promises(story), IsEmpty());
  }
}

TEST(Latches, AWaitEndsWithItsLimit) {
  Story story = latch();
  story.history.latches.resize(4);
  story.history.latches[3].outcome = "closed";
  story.history.looks[0].left = 1;
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.latches[3].ended = 14'000'000;
  EXPECT_THAT(promises(story), ElementsAre("wait"));
}

// Without this: a step that counts twice, or not at all.
TEST(Latches, StepsThatWereMadeOrLostAreFound) {
  Story story = latch();
  story.history.looks[0].left = 1;
  EXPECT_THAT(promises(story), ElementsAre("latch"));
  story.history.latches[5].outcome = "unknown_outcome";
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.latches.resize(3);
  EXPECT_THAT(promises(story), IsEmpty());
  for (const long long left : {0, 2}) {
    story.history.looks[0].left = left;
    EXPECT_THAT(promises(story), ElementsAre("latch"));
  }
}

TEST(Latches, AreReadFromTheirRecord) {
  History history;
  history.add("a", "latch x.7 wait 1 2 open 3 wait=3000");
  ASSERT_EQ(history.latches.size(), 1U);
  EXPECT_EQ(history.latches[0].name, Text("x.7"));
  EXPECT_EQ(history.latches[0].outcome, Text("open"));
  EXPECT_EQ(history.latches[0].steps, 3);
  EXPECT_EQ(history.latches[0].wait, 3'000'000);
}

}  // namespace
}  // namespace holdfast::test::plain_test
