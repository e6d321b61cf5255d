// SPDX-License-Identifier: Apache-2.0
// Large stories from a seed: nothing is found in a correct one, and one violation among its thousands of holds is.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "judges/judge.hpp"
#include "judges/made_story.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::large_test {
namespace {

class FromSeed : public ::testing::TestWithParam<int> {
 protected:
  std::uint64_t seed() const { return static_cast<std::uint64_t>(GetParam()); }
  Story correct(bool troubles) const { return make_story({.seed = seed(), .holds = 6000, .troubles = troubles}); }

  static std::size_t count(const Verdict& verdict, const std::string& promise) {
    return static_cast<std::size_t>(std::ranges::count(verdict.violations, promise, &Violation::promise));
  }
  /// A hold, and the one before it on the same lock, both without troubles.
  std::size_t clean_place(const Story& story) {
    while (true) {
      const std::size_t i = std::uniform_int_distribution<std::size_t>(1, story.history.holds.size() - 1)(random_);
      const HeldOnce& before = story.history.holds[i - 1];
      const HeldOnce& hold = story.history.holds[i];
      if (before.name == hold.name && before.outcome == "released" && hold.outcome == "released") return i;
    }
  }

  std::mt19937_64 random_{seed()};
};
INSTANTIATE_TEST_SUITE_P(Seeds, FromSeed, ::testing::Range(1, 21));

TEST_P(FromSeed, ACorrectStoryIsAccepted) {
  const Verdict verdict = judge(correct(true));
  EXPECT_TRUE(verdict.good()) << verdict.text();
  EXPECT_GT(verdict.lost, 0);
  EXPECT_GT(verdict.open_holds, 0);
  EXPECT_GT(verdict.failed_calls, 0);
}

TEST_P(FromSeed, OneOverlapOfAMicrosecondIsFound) {
  Story story = correct(true);
  const std::size_t i = clean_place(story);
  story.history.holds[i].granted = story.history.holds[i - 1].believed_until() - 1;
  EXPECT_EQ(count(judge(story), "exclusion"), 1U);
}

TEST_P(FromSeed, OneLossWithoutACauseIsFound) {
  Story story = correct(true);
  HeldOnce& hold = story.history.holds[clean_place(story)];
  hold.reason = "taken";
  hold.told = hold.released;
  hold.outcome = "was_lost";
  EXPECT_EQ(count(judge(story), "told"), 1U);
}

TEST_P(FromSeed, OneSignalThatIsLateIsFound) {
  Story story = correct(true);
  story.settings.allowance = 1000;
  EXPECT_EQ(count(judge(story), "told"), 0U);
  for (HeldOnce& hold : story.history.holds) {
    if (hold.reason != "expired") continue;
    hold.told += 2000;
    break;
  }
  EXPECT_EQ(count(judge(story), "told"), 1U);
}

TEST_P(FromSeed, OneWaitThatIsTooLongIsFound) {
  Story story = correct(false);
  HeldOnce& hold = story.history.holds[clean_place(story)];
  hold.called = hold.granted - hold.wait - 60'000 - story.settings.allowance;
  EXPECT_EQ(count(judge(story), "wait"), 1U);
}

TEST_P(FromSeed, OneLockThatIsFreeTooLongIsFound) {
  Story story = correct(false);
  const std::size_t i = clean_place(story);
  const Microseconds by = story.settings.safety_poll + story.settings.allowance + 1000;
  const Text name = story.history.holds[i].name;
  // All that follows is later, but the first who waits has waited all the time.
  for (std::size_t k = i; k < story.history.holds.size() && story.history.holds[k].name == name; ++k) {
    HeldOnce& hold = story.history.holds[k];
    if (k != i) hold.called += by;
    hold.granted += by;
    hold.deadline += by;
    hold.released += by;
    hold.ended += by;
  }
  EXPECT_EQ(count(judge(story), "free lock"), 1U);
}

TEST_P(FromSeed, OneUpdateThatIsLostIsFound) {
  Story story = correct(false);
  const std::size_t i = clean_place(story);
  story.history.holds[i].number = story.history.holds[i - 1].number;
  const Verdict verdict = judge(story);
  EXPECT_EQ(count(verdict, "lost update"), 1U);
  EXPECT_EQ(verdict.lost_updates, 1);
}

class OutcomesFromSeed : public FromSeed {
 protected:
  void SetUp() override {
    if (!why_no_porcupine().empty()) GTEST_SKIP() << "the judge of outcomes: " << why_no_porcupine();
  }
  static Verdict outcomes(const Story& story) {
    Verdict verdict;
    judge_outcomes(story, verdict);
    return verdict;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, OutcomesFromSeed, ::testing::Range(1, 11));

TEST_P(OutcomesFromSeed, ACorrectStoryIsAccepted) {
  const Verdict verdict = outcomes(correct(true));
  EXPECT_TRUE(verdict.good()) << verdict.text();
  EXPECT_GT(verdict.outcomes_judged, 11'900);
  EXPECT_EQ(verdict.outcome_pieces_undecided, 0);
}

TEST_P(OutcomesFromSeed, OneReleaseThatSaysLostIsFound) {
  Story story = correct(true);
  HeldOnce& hold = story.history.holds[clean_place(story)];
  hold.outcome = "was_lost";
  EXPECT_EQ(outcomes(story).violations.size(), 1U);
}

TEST_P(OutcomesFromSeed, OneRefusalByNobodyIsFound) {
  Story story = correct(false);
  const std::size_t i = clean_place(story);
  const HeldOnce& before = story.history.holds[i - 1];
  HeldOnce& hold = story.history.holds[i];
  // The one behind asks a little later.
  hold.called = std::max(hold.called, before.ended + 2);
  hold.granted = std::max(hold.granted, hold.called);
  story.history.failures.push_back({"other", hold.name, before.ended + 1, before.ended + 1, "busy", "busy", 0});
  EXPECT_EQ(outcomes(story).violations.size(), 1U);
}

TEST_P(OutcomesFromSeed, OneGrantInsideAnotherIsFound) {
  Story story = correct(true);
  const std::size_t i = clean_place(story);
  const HeldOnce& before = story.history.holds[i - 1];
  HeldOnce& hold = story.history.holds[i];
  hold.called = before.granted + 1;
  hold.granted = hold.called;
  hold.released = hold.ended = hold.granted;
  story.history.holds[i - 1].released = std::max(before.released, hold.ended + 1);
  EXPECT_GE(outcomes(story).violations.size(), 1U);
}

/// As takers write it.
void write_records(const Story& story, const std::string& folder) {
  std::map<Text, std::ofstream> files;
  for (const HeldOnce& hold : story.history.holds) {
    std::ofstream& out = files[hold.client];
    if (!out.is_open()) out.open(folder + "/" + hold.client.str() + ".1.record");
    out << "hold " << hold.name << ' ' << hold.owner << ' ' << hold.called << ' ' << hold.granted << ' '
        << hold.deadline << ' ' << hold.told << ' ' << hold.released << ' ' << hold.ended << ' ' << hold.outcome << ' '
        << hold.reason << ' ' << hold.number << " wait=" << hold.wait / 1000 << " checked=yes token=" << hold.token
        << '\n';
  }
}

// 10^7 holds take seconds: HOLDFAST_JUDGED_HOLDS=10000000.
TEST(Large, ManyHoldsAreReadAndJudgedInSeconds) {
  const char* const wanted = std::getenv("HOLDFAST_JUDGED_HOLDS");
  const int holds = wanted == nullptr ? 200'000 : std::atoi(wanted);
  const TempDir folder;
  {
    const Story made = make_story({.seed = 1, .holds = holds, .names = 20, .clients = 20, .troubles = false});
    write_records(made, folder.path().string());
    write_story(made, folder.path().string());
  }
  const auto seconds_since = [](auto time) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - time).count();
  };
  const auto began = std::chrono::steady_clock::now();
  const Story story = read_story(folder.path().string());
  const double read = seconds_since(began);
  const Verdict verdict = judge(story);
  const double judged = seconds_since(began) - read;
  EXPECT_TRUE(verdict.good()) << verdict.text();
  EXPECT_EQ(verdict.holds, holds);
  EXPECT_EQ(verdict.updates, holds);
  RecordProperty("read_seconds", std::to_string(read));
  std::cout << holds << " holds: read in " << read << " s, judged in " << judged << " s\n";
}

}  // namespace
}  // namespace holdfast::test::large_test
