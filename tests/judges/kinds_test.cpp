// SPDX-License-Identifier: Apache-2.0
// Readers, permits and tokens: small histories with a planted violation, as in judge_test.cpp.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judges/judge.hpp"
#include "judges/made_story.hpp"
#include "judges/outcomes.hpp"

namespace holdfast::test::kinds_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

HeldOnce shared(const std::string& owner, Microseconds granted, Microseconds released) {
  HeldOnce hold = held(owner, granted, released);
  hold.shared = true;
  return hold;
}

StruckFault flushed(Microseconds began, Microseconds ended) {
  return {.kind = "FLUSHALL",
          .began = began,
          .ended = ended,
          .exclusion_promised = false,
          .counted_until = ended + 1000,
          .tokens_promised = false};
}

Story story_of(std::vector<HeldOnce> holds) {
  Story story;
  story.history.holds = std::move(holds);
  return story;
}

// Without this: readers that a writer changes things under, which is what this lock is against.
TEST(Readers, MayBeTogetherButNotBesideAWriter) {
  Story story = story_of({shared("a:1", 10'000, 20'000), shared("b:2", 12'000, 30'000), held("c:3", 30'000, 40'000)});
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).shared_holds, 2);
  story.history.holds[2].granted = 29'999;
  EXPECT_THAT(judge(story).violations[0].text,
              AllOf(HasSubstr("x had two holders for 0.0 ms: b b:2, shared"), HasSubstr("c:3")));
}

TEST(Readers, AWriterBehindShorterReadersIsFoundBesideTheLongest) {
  EXPECT_THAT(promises(story_of({shared("a:1", 100, 900), shared("b:2", 200, 300), held("c:3", 500, 600)})),
              ElementsAre("exclusion"));
}

TEST(Readers, EachThatBeginsBesideAWriterIsFound) {
  EXPECT_THAT(promises(story_of({held("a:1", 100, 900), shared("b:2", 200, 300), shared("c:3", 400, 500)})),
              ElementsAre("exclusion", "exclusion"));
}

TEST(Readers, BesideAWriterAreCountedUnderAFaultThatDoesNotPromiseIt) {
  Story story = story_of({held("a:1", 10'000, 20'000), shared("b:2", 15'000, 16'000)});
  story.faults = {flushed(12'000, 14'000)};
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).overlaps_counted, 1);
}

/// Two that have a permit each, of two.
Story two_permits() {
  Story story = story_of({shared("a:1", 10'000, 20'000), shared("b:2", 12'000, 30'000)});
  story.permits["x"] = {.all = 2};
  return story;
}

// Without this: more at work than there should be.
TEST(Permits, OneMoreThanThereAreIsFound) {
  Story story = two_permits();
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.holds.push_back(shared("c:3", 20'000, 25'000));
  EXPECT_THAT(promises(story), IsEmpty()) << "the first has come back";
  story.history.holds[2].granted = 19'999;
  EXPECT_THAT(judge(story).violations[0].text,
              AllOf(HasSubstr("x had 3 holders of 2 permits"), HasSubstr("a:1"), HasSubstr("b:2"), HasSubstr("c:3")));
  story.permits["x"].all = 3;
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(Permits, OneThatIsOverWhenItsHolderGetsItIsNobodys) {
  Story story = two_permits();
  story.history.holds.push_back(shared("c:3", 15'000, 15'000));
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(Permits, OneMoreIsCountedUnderAFaultThatDoesNotPromiseIt) {
  Story story = two_permits();
  story.history.holds.push_back(shared("c:3", 15'000, 16'000));
  story.faults = {flushed(14'000, 14'500)};
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).overlaps_counted, 1);
}

// Without this: a release that counts twice, or a lease that ends and gives nothing back.
TEST(Permits, ThatAreNotAllThereInTheEndAreFound) {
  Story story = two_permits();
  story.permits["x"].left = 2;
  EXPECT_THAT(promises(story), IsEmpty());
  for (const long long left : {1, 3}) {
    story.permits["x"].left = left;
    EXPECT_THAT(promises(story), ElementsAre("permits"));
  }
}

HeldOnce with_token(HeldOnce hold, long long token) {
  hold.token = token;
  return hold;
}

/// The first is still held when the second is granted, as after an end by force.
Story two_tokens(long long first, long long second) {
  return story_of({with_token(held("a:1", 10'000, 15'000), first), with_token(held("b:2", 20'000, 30'000), second)});
}

// Without this: a store that refuses old tokens would accept the old owner's write.
TEST(Tokens, OneThatDoesNotGrowIsFound) {
  EXPECT_THAT(promises(two_tokens(7, 7)), ElementsAre("token"));
  EXPECT_THAT(promises(two_tokens(8, 7)), ElementsAre("token"));
  const Story story = two_tokens(7, 8);
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).tokens, 2);
}

// Whom a lock was taken from by force, or whose process was killed: the next token must be larger all the same.
TEST(Tokens, GrowAlsoWhileTheOneBeforeHasNotGivenTheLockBack) {
  Story story = two_tokens(7, 7);
  story.history.holds[0].open = true;
  story.history.holds[0].released = story.history.holds[0].ended = 0;
  story.history.holds[0].deadline = 20'000;
  EXPECT_THAT(promises(story), ElementsAre("token"));
}

TEST(Tokens, OfGrantsThatMayHaveComeInEitherOrderSayNothing) {
  Story story = two_tokens(8, 7);
  story.history.holds[1].called = 9'999;
  EXPECT_THAT(promises(story), IsEmpty());
  story.history.holds[1].called = 10'000;
  EXPECT_THAT(promises(story), ElementsAre("token"));
}

TEST(Tokens, AreComparedWithTheLargestOfAllThatSurelyCameBefore) {
  Story story = two_tokens(9, 7);
  story.history.holds.push_back(with_token(held("c:3", 40'000, 50'000), 8));
  story.history.holds[1].called = 9'000;
  EXPECT_THAT(promises(story), ElementsAre("token"));
}

// What is lifted must end with the servers' loss, or one FLUSHALL would excuse the whole run.
TEST(Tokens, MayBeginAnewOnlyWhereTheServersHaveForgotten) {
  Story story = two_tokens(7, 1);
  story.faults = {flushed(16'000, 17'000)};
  EXPECT_THAT(promises(story), IsEmpty());
  story.faults[0].tokens_promised = true;
  EXPECT_THAT(promises(story), ElementsAre("token")) << "as an end by force";
  story.faults = {flushed(8'000, 9'000)};
  EXPECT_THAT(promises(story), ElementsAre("token"));
  story.faults = {flushed(31'000, 32'000)};
  EXPECT_THAT(promises(story), ElementsAre("token"));
  story.faults = {flushed(16'000, 17'000)};
  story.faults[0].names = {"y"};
  EXPECT_THAT(promises(story), ElementsAre("token"));
  story.faults[0].names.clear();
  story.history.holds.push_back(with_token(held("c:3", 40'000, 50'000), 1));
  EXPECT_THAT(promises(story), ElementsAre("token")) << "behind the second";
}

/// Two locks of which the first is never free, and the second only until it is granted again, while c waits for either.
Story two_of_a_set(Microseconds asked, Microseconds granted) {
  Story story = story_of({held("a:1", 1'000'000, 20'000'000), held("b:2", 1'000'000, 5'000'000, "y"),
                          held("c:3", granted, granted + 1'000'000)});
  story.history.holds[2].called = asked;
  story.history.holds[2].set = "x,y";
  return story;
}

// Without this: one that waits for the first of its names only, while another is free.
TEST(AnyOf, NobodyWaitsWhileOneOfThemIsFree) {
  EXPECT_THAT(promises(two_of_a_set(2'000'000, 20'000'100)), ElementsAre("free lock"));
  EXPECT_THAT(judge(two_of_a_set(2'000'000, 20'000'100)).violations[0].text,
              AllOf(HasSubstr("y was free for 15000"), HasSubstr("which c did for it or another of x,y")));
  EXPECT_THAT(promises(two_of_a_set(16'500'000, 20'000'100)), IsEmpty()) << "it waited for 3.5 s, and 4 s may pass";
  Story taken = two_of_a_set(2'000'000, 20'000'100);
  taken.history.holds.push_back(held("d:4", 5'000'100, 20'000'000, "y"));
  EXPECT_THAT(promises(taken), IsEmpty());
  Story of_one = two_of_a_set(2'000'000, 20'000'100);
  of_one.history.holds[2].set = "x";
  EXPECT_THAT(promises(of_one), IsEmpty());
}

// Without this: one that asks for the first of its names only, so that nobody ever has another.
TEST(AnyOf, NobodyWaitsWhileOneOfThemIsFreeThatNobodyEverHad) {
  Story story = two_of_a_set(2'000'000, 20'000'100);
  story.history.holds.erase(story.history.holds.begin() + 1);
  EXPECT_THAT(promises(story), ElementsAre("free lock"));
  story.history.holds[1].set = "x";
  EXPECT_THAT(promises(story), IsEmpty());
}

TEST(AnyOf, NorGivesUpWhileOneOfThemIsFree) {
  Story story = two_of_a_set(20'000'000, 20'000'100);
  story.history.failures = {{"d", "x,y", 6'000'000, 15'000'000, "timed_out", "timed_out", 9'000'000}};
  story.history.failures[0].set = "x,y";
  EXPECT_THAT(promises(story), ElementsAre("free lock"));
  EXPECT_THAT(judge(story).violations[0].text, HasSubstr("y was free for"));
}

TEST(AnyOf, EachIsALockLikeAnyOther) {
  Story story = two_of_a_set(2'000'000, 2'000'100);
  EXPECT_THAT(promises(story), ElementsAre("exclusion"));
}

std::vector<Step> steps_of(const Story& story) {
  std::vector<Step> steps;
  each_piece(View(story), 1000, [&](const Piece& piece) {
    for (const Step& each : piece.steps) steps.push_back(each);
  });
  return steps;
}

// What was asked for any of several may be taken of each of them, and a refusal is nothing about one.
TEST(Pieces, OfOneOfSeveralKnowWhatMayBeTakenOfIt) {
  Story story = story_of({held("a:1", 10'000, 20'000)});
  story.history.failures = {{"c", "x", 15'000, 16'000, "busy", "busy", 0}};
  EXPECT_EQ(steps_of(story).size(), 3U);
  story.history.failures.push_back({"d", "w,x", 14'000, 14'500, "later", "unknown_outcome", 0});
  story.history.failures.back().set = "w,x";
  EXPECT_EQ(steps_of(story).size(), 2U) << "c may have been refused for what d has";
  story.history.failures = {{"d", "w,x", 15'000, 16'000, "busy", "busy", 0}};
  story.history.failures.back().set = "w,x";
  EXPECT_EQ(steps_of(story).size(), 2U);
}

// The model of the outcomes knows one owner.
TEST(Pieces, HaveTheWritersOnlyAndNoPermits) {
  Story story = story_of({shared("a:1", 10'000, 20'000), held("b:2", 30'000, 40'000)});
  story.history.failures = {{"c", "x", 15'000, 16'000, "busy", "busy", 0}};
  std::vector<std::string> kinds;
  for (const Step& each : steps_of(story)) kinds.emplace_back(each.kind);
  EXPECT_THAT(kinds, ElementsAre("granted", "released")) << "a reader may have been in its way";
  EXPECT_THAT(steps_of(two_permits()), IsEmpty());
}

class TokensLost : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_porcupine().empty()) GTEST_SKIP() << "the judge of outcomes: " << why_no_porcupine();
  }
};

TEST_F(TokensLost, ByAFaultMayBeginAnewInTheOrderOfOutcomesToo) {
  const auto violations = [](const Story& story) {
    Verdict verdict;
    judge_outcomes(story, verdict);
    return verdict.violations.size();
  };
  Story story = two_tokens(7, 1);
  EXPECT_EQ(violations(story), 1U);
  story.faults = {flushed(16'000, 17'000)};
  EXPECT_EQ(violations(story), 0U);
}

TEST(Records, SayWhoSharesAndWhichTokenAGrantHad) {
  History history;
  history.add("a", "hold x o 1 2 9 0 5 6 released - 0 wait=3000 checked=yes shared=yes token=0 waits=yes");
  history.add("a", "grant y o 1 2 9 4 wait=3000 checked=yes shared=no token=12");
  history.add("a", "fail x 1 2 later wait=3000 word=timed_out shared=yes");
  ASSERT_EQ(history.holds.size(), 2U);
  EXPECT_TRUE(history.holds[0].shared);
  EXPECT_FALSE(history.holds[1].shared);
  EXPECT_EQ(history.holds[1].token, 12);
  ASSERT_EQ(history.failures.size(), 1U);
  EXPECT_TRUE(history.failures[0].shared);
  history.add("a", "hold y o 1 2 9 0 5 6 released - 0 wait=3000 token=0 waits=yes set=x,y");
  history.add("a", "fail x,y 1 2 later wait=3000 word=timed_out set=x,y");
  EXPECT_THAT(names_of(history.holds[2]), ElementsAre(Text("x"), Text("y")));
  EXPECT_THAT(names_of(history.failures[1]), ElementsAre(Text("x"), Text("y")));
  EXPECT_THAT(names_of(history.holds[0]), ElementsAre(Text("x")));
}

}  // namespace
}  // namespace holdfast::test::kinds_test
