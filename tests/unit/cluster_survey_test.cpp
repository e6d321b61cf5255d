// SPDX-License-Identifier: Apache-2.0
// Whom a client asks for the map of its cluster, when, and what it makes of it: transcripts.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redis/decide/survey.hpp"
#include "unit/cluster_story.hpp"

namespace holdfast::redis::cluster::cluster_survey_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr base::TimePoint kNever = base::TimePoint::max();

/// A survey with what it says last. Whoever is asked is not known beforehand: `asked()` says it.
class Story {
 public:
  explicit Story(std::vector<NodeAddress> seeds = {node('x')}, std::uint64_t chance = 1)
      : survey(seeds, chance), seeds_(std::move(seeds)) {
    take(survey.start(now));
  }
  /// With a map, and nothing to do but to refresh it.
  static Story mapped(const std::string& map, std::uint64_t chance = 1) {
    Story story({node('x')}, chance);
    story.answers(map);
    return story;
  }

  Story& doubt(std::optional<char> about = {}) {
    take(survey.on_doubt(now, about ? std::optional(node(*about)) : std::nullopt));
    return *this;
  }
  Story& answers(const std::string& map) {
    const NodeAddress from = node(asked_.value_or('?'));
    asked_.reset();
    take(survey.on_answer(now, from, view(map)));
    return *this;
  }
  Story& fails(const std::string& cause = "gone") {
    const NodeAddress from = node(asked_.value_or('?'));
    asked_.reset();
    take(survey.on_failure(now, from, cause));
    return *this;
  }
  Story& passes(base::Duration time) {
    now += time;
    return *this;
  }
  /// To the moment that was told.
  Story& until_due() {
    EXPECT_NE(step.due, kNever);
    now = std::max(now, step.due);
    return look();
  }
  Story& look() {
    take(survey.on_time(now));
    return *this;
  }

  char asked() const { return asked_.value_or('-'); }
  std::string adopted() const { return letters(step.adopt.get(), 3); }
  base::Duration pause() const { return step.due - now; }

  void take(Survey::Step taken) {
    step = std::move(taken);
    if (!step.ask) return;
    EXPECT_FALSE(asked_) << "one question at a time";
    asked_ = step.ask->host[0];
  }

  Survey survey;
  base::TimePoint now = kStart;
  Survey::Step step;

 private:
  std::vector<NodeAddress> seeds_;
  std::optional<char> asked_;
};

// --- the first map ---

TEST(ClusterSurvey, AsksASeedAtOnceAndTakesItsWord) {
  Story story;
  EXPECT_EQ(story.asked(), 'x');
  EXPECT_EQ(story.step.due, kNever) << "an answer or a failure follows";
  story.passes(1ms).answers("abc");
  EXPECT_EQ(story.adopted(), "abc");
  EXPECT_GE(story.pause(), 15s);
  EXPECT_LE(story.pause(), 45s);
  EXPECT_EQ(story.survey.nodes().size(), 7U);
}

TEST(ClusterSurvey, SeedsThatFailAreAskedOneAfterTheOtherAndThenTheProblemIsTold) {
  Story story({node('x'), node('y'), node('z')});
  std::string asked;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(story.step.problem, "");
    asked += story.asked();
    story.fails(i == 1 ? "NOAUTH Authentication required." : "Connection refused");
    EXPECT_LE(story.pause(), 100ms * (1 << i));
    EXPECT_GE(story.pause(), 50ms * (1 << i));
    if (i < 2) story.until_due();
  }
  EXPECT_THAT(story.step.problem, testing::HasSubstr(asked.substr(1, 1) + ":7000: NOAUTH Authentication required."));
  std::ranges::sort(asked);
  EXPECT_EQ(asked, "xyz");
  EXPECT_NE(story.until_due().asked(), '-') << "it goes on";
  EXPECT_EQ(story.step.problem, "");
  story.answers("abc");
  EXPECT_EQ(story.adopted(), "abc");
}

TEST(ClusterSurvey, ASeedThatKnowsNoSlotsIsNoHelp) {
  Story story;
  story.answers("...");
  EXPECT_EQ(story.adopted(), "none");
  EXPECT_EQ(story.step.problem, "no node of the cluster knows its slots: x:7000: it knows of no slots that are served");
}

TEST(ClusterSurvey, AMapWithHolesIsTakenAndAnotherNodeIsAskedSoonThoughNotForEver) {
  Story story;
  story.answers("ab.");
  EXPECT_EQ(story.adopted(), "ab.");
  int questions = 0;
  while (story.pause() < 10s) {
    story.until_due().answers("ab.");
    ++questions;
  }
  EXPECT_EQ(questions, Survey::kFurther);
  EXPECT_EQ(story.until_due().answers("abc").adopted(), "abc");
}

TEST(ClusterSurvey, WhoeverWaitsForAFirstMapCutsAPauseShort) {
  Story story;
  for (int i = 0; i < 8; ++i) story.fails().until_due();
  story.fails();
  EXPECT_GE(story.pause(), 500ms);
  story.take(story.survey.on_wanted(story.now));
  EXPECT_LE(story.pause(), 100ms);
  EXPECT_GE(story.pause(), 50ms) << "but not to nothing";
  EXPECT_EQ(story.until_due().asked(), 'x');
  story.take(story.survey.on_wanted(story.now));
  EXPECT_EQ(story.step.due, kNever) << "it is being asked";
}

TEST(ClusterSurvey, WhoeverWaitsForASlotThatHasNobodyIsADoubt) {
  Story story = Story::mapped("abc");
  story.passes(10s);
  story.take(story.survey.on_wanted(story.now));
  EXPECT_LE(story.pause(), 50ms);
}

// --- doubts ---

TEST(ClusterSurvey, ADoubtIsAskedAboutWithinFiftyMilliseconds) {
  std::vector<base::Duration> pauses;
  for (std::uint64_t chance = 0; chance < 50; ++chance) {
    Story story = Story::mapped("abc", chance);
    story.passes(10s).doubt('a');
    pauses.push_back(story.pause());
    EXPECT_THAT(story.until_due().asked(), testing::AnyOf('b', 'c')) << "not the one in doubt";
  }
  EXPECT_LT(*std::ranges::min_element(pauses), 10ms);
  EXPECT_GT(*std::ranges::max_element(pauses), 40ms);
  EXPECT_LE(*std::ranges::max_element(pauses), 50ms);
}

TEST(ClusterSurvey, ThousandDoubtsAreOneQuestion) {
  Story story = Story::mapped("abc");
  story.passes(10s).doubt('a');
  const base::TimePoint due = story.step.due;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(story.doubt('a').step.due, due);
  EXPECT_EQ(story.passes(-1ms).look().asked(), '-') << "too early";
  story.until_due();
  EXPECT_NE(story.asked(), '-');
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(story.doubt('a').step.due, kNever);
}

TEST(ClusterSurvey, ADoubtThatCameMeanwhileBringsAnotherQuestionToAnotherNode) {
  Story story = Story::mapped("abc");
  story.passes(10s).doubt('a').until_due();
  const char first = story.asked();
  story.doubt('a').answers("abc");
  EXPECT_LE(story.pause(), 100ms);
  EXPECT_GE(story.pause(), 50ms);
  story.until_due();
  EXPECT_NE(story.asked(), first);
  EXPECT_NE(story.asked(), 'a');
}

TEST(ClusterSurvey, PausesGrowToASecondAndToFiveIfItLasts) {
  Story story = Story::mapped("abc");
  story.passes(10s).doubt('a').until_due();
  base::Duration longest_at_first{}, longest{};
  const base::TimePoint began = story.now;
  std::string steps;
  while (story.now - began < 5min) {
    story.doubt('a').answers("abc");
    (story.now - began < 30s ? longest_at_first : longest) =
        std::max(story.now - began < 30s ? longest_at_first : longest, story.pause());
    if (steps.size() < 5)
      steps += story.pause() <= 100ms   ? 'A'
               : story.pause() <= 200ms ? 'B'
               : story.pause() <= 400ms ? 'C'
               : story.pause() <= 800ms ? 'D'
                                        : 'E';
    story.until_due();
  }
  EXPECT_EQ(steps.substr(0, 4), "ABCD");
  EXPECT_GT(longest_at_first, 900ms);
  EXPECT_LE(longest_at_first, 1s);
  EXPECT_GT(longest, 4s);
  EXPECT_LE(longest, 5s);
}

TEST(ClusterSurvey, ADoubtAfterAQuietTimeIsAFirstOneAgain) {
  Story story = Story::mapped("abc");
  story.passes(10s);
  for (int i = 0; i < 10; ++i) story.doubt('a').until_due().answers("abc");
  story.doubt('a');
  EXPECT_GT(story.pause(), 400ms) << "a doubt behind an answer waits for the pause behind it";
  story.until_due().answers("abc").passes(21s).doubt('b');
  EXPECT_LE(story.pause(), 50ms);
  EXPECT_NE(story.until_due().asked(), 'b');
  story.doubt('b').answers("abc");
  EXPECT_LE(story.pause(), 100ms) << "and the pauses begin anew";
}

TEST(ClusterSurvey, TheMoreNodesTheLongerThePauses) {
  std::string map;
  for (char primary = 'a'; primary <= 'z'; ++primary) map += primary;  // 26: the square root of 26/3 is 2.94
  base::Duration longest{};
  for (std::uint64_t chance = 0; chance < 50; ++chance) {
    longest = std::max(longest, Story::mapped(map, chance).passes(10s).doubt().pause());
  }
  EXPECT_GT(longest, 130ms);
  EXPECT_LE(longest, 148ms);
  Story story = Story::mapped(map);
  story.passes(10s).doubt().until_due().doubt().answers(map);
  EXPECT_GE(story.pause(), 147ms);
  EXPECT_LE(story.pause(), 295ms);
}

// --- refreshing, and nodes that fail ---

TEST(ClusterSurvey, TheMapIsRefreshedFromAPrimary) {
  Story story = Story::mapped("abc");
  for (int i = 0; i < 20; ++i) {
    story.until_due();
    EXPECT_THAT(story.asked(), testing::AnyOf('a', 'b', 'c'));
    story.answers("abc");
    EXPECT_GE(story.pause(), 15s);
    EXPECT_LE(story.pause(), 45s);
  }
}

TEST(ClusterSurvey, NodesThatFailAreLeftAndTheNextIsAskedUntilOneAnswers) {
  Story story = Story::mapped("abc");
  story.until_due();
  std::string asked;
  for (int i = 0; i < 6; ++i) {
    asked += story.asked();
    story.fails();
    EXPECT_EQ(story.step.problem, "") << "there is a map";
    EXPECT_LE(story.pause(), 1s);
    story.until_due();
  }
  EXPECT_EQ(asked[3], 'x') << "a seed after three failures: " << asked;
  EXPECT_EQ(std::set<char>(asked.begin(), asked.end()).size(), 6U) << asked;
  story.answers("abc");
  EXPECT_GE(story.pause(), 15s);
}

TEST(ClusterSurvey, AnswersToOtherQuestionsAreNotHeard) {
  Story story = Story::mapped("abc");
  const base::TimePoint due = story.step.due;
  story.take(story.survey.on_answer(story.now, node('a'), view("ddd")));
  EXPECT_FALSE(story.step.adopt) << "nobody was asked";
  EXPECT_EQ(story.step.due, due);
  story.until_due();
  story.take(story.survey.on_failure(story.now, node('x'), "late"));
  story.take(story.survey.on_answer(story.now, node('x'), view("ddd")));
  EXPECT_FALSE(story.step.adopt);
  EXPECT_EQ(story.step.due, kNever);
  const char asked = story.asked();
  story.answers("abc");
  story.take(story.survey.on_answer(story.now, node(asked), view("ddd")));
  EXPECT_FALSE(story.step.adopt) << "it has answered";
}

// --- whose word counts (more in cluster_known_map_test.cpp) ---

TEST(ClusterSurvey, AfterAFailoverTheFirstWordCounts) {
  Story story = Story::mapped("abc");
  story.passes(10s).doubt('a').until_due().answers("Abc");
  EXPECT_EQ(story.adopted(), "Abc");
  EXPECT_GE(story.pause(), 15s);
}

TEST(ClusterSurvey, WhoeverHasFailedToAnswerIsInDoubt) {
  Story story = Story::mapped("abc");
  while (story.until_due().asked() != 'a') story.answers("abc");
  story.fails().until_due().answers("Abc");
  EXPECT_EQ(story.adopted(), "Abc");
}

TEST(ClusterSurvey, AViewThatTakesSlotsAwayMakesASecondNodeBeAskedSoon) {
  Story story = Story::mapped("abc");
  story.until_due();
  const char first = story.asked();
  story.answers(std::string(1, first) + "..");
  EXPECT_EQ(story.adopted(), "abc");
  EXPECT_LE(story.pause(), 100ms);
  story.until_due();
  EXPECT_NE(story.asked(), first);
  story.answers("abc");
  EXPECT_EQ(story.adopted(), "abc");
  EXPECT_GE(story.pause(), 15s);
}

TEST(ClusterSurvey, AMovedMeanwhileIsNotUndoneAndIsAskedAbout) {
  Story story = Story::mapped("abc");
  story.passes(10s).doubt('a').until_due();
  story.survey.on_corrected(story.now + 1ms, node('a'), 0, node('d'));
  story.passes(2ms).doubt().answers("abc");
  EXPECT_EQ(story.step.adopt->primary_of(0)->address, node('d'));
  EXPECT_EQ(story.step.adopt->primary_of(1)->address, node('a'));
  EXPECT_LE(story.pause(), 100ms);
}

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_survey_test
