// SPDX-License-Identifier: Apache-2.0
// What the lock guards: small histories with a planted violation, as in judge_test.cpp.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judges/judge.hpp"
#include "judges/made_story.hpp"

namespace holdfast::test::updates_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Two holds of one lock, far apart.
Story two_holds() {
  Story story;
  story.history.holds = {held("a:1", 10'000, 20'000), held("b:2", 30'000, 40'000)};
  return story;
}
HeldOnce& first(Story& story) { return story.history.holds[0]; }
HeldOnce& second(Story& story) { return story.history.holds[1]; }

/// Who wrote 1 and 2.
Story two_updates() {
  Story story = two_holds();
  first(story).number = 1;
  second(story).number = 2;
  story.numbers["x"] = 2;
  return story;
}

// Without this: whatever the clocks say, that the guarded data are wrong.
TEST(Updates, AnUpdateThatIsLostIsFound) {
  Story story = two_updates();
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).updates, 2);
  second(story).number = 1;
  story.numbers["x"] = 1;
  EXPECT_THAT(promises(story), ElementsAre("lost update"));
  EXPECT_EQ(judge(story).lost_updates, 1);
}

TEST(Updates, TheLastOneMustBeInTheFile) {
  Story story = two_updates();
  story.numbers["x"] = 1;
  EXPECT_THAT(promises(story), ElementsAre("lost update"));
  EXPECT_EQ(judge(story).lost_updates, 1);
}

// No lock can help who is stopped between the check and the write, or does not check: counted, not judged.
TEST(Updates, ThoseThatWereWrittenTooLateAreCounted) {
  Story story = two_updates();
  second(story).number = 1;
  first(story).deadline = 19'000;
  EXPECT_THAT(promises(story), ElementsAre("lost update"));
  story.numbers.clear();
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).lost_updates, 1);
  EXPECT_THAT(judge(story).lost_updates_by, ElementsAre(Pair("written when the hold was over", 1)));
  first(story).deadline = 0;
  first(story).checked = false;
  EXPECT_THAT(promises(story), IsEmpty());
  EXPECT_EQ(judge(story).lost_updates, 0);
  EXPECT_EQ(judge(story).lost_updates_unchecked, 1);
}

}  // namespace
}  // namespace holdfast::test::updates_test
