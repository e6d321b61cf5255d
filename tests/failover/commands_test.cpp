// SPDX-License-Identifier: Apache-2.0
// Threads that enter, enter again, ask once, give up and leave as chance has it, while somebody breaks the lock at
// times: what they were told is what a lock can do.
#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "judges/judge.hpp"
#include "support/redis_server.hpp"
#include "support/taker.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::commands_test {
namespace {

using namespace std::chrono_literals;

/// A thread of a taker, for so many commands. It leaves as often as it has entered.
void at_random(Party party, unsigned seed, int commands, bool breaks) {
  std::mt19937 random(seed);
  int entered = 0;
  for (int i = 0; i < commands; ++i) {
    const unsigned what = random() % 8;
    if (breaks && random() % 20 == 0) {
      party.force_release("x");
    } else if (entered > 0 && what < 4) {
      entered = party.unlock("x") == "still_held" ? entered - 1 : 0;
    } else if (entered < 3) {
      // Entering again after a loss says so.
      // A limit of a few milliseconds may be over before the call has come to ask, which proves nothing.
      const Answer answer = party.start_try("x", what == 7 ? 2000ms : 0ms, 10s).get();
      if (answer.ok && answer.value == "yes") ++entered;
      if (!answer.ok) entered = 0;
      if (!answer.ok) party.unlock("x");
    }
  }
  for (; entered > 0; --entered) party.unlock("x");
}

TEST(Commands, AnswersAreThoseOfALock) {
  if (!why_no_porcupine().empty()) GTEST_SKIP() << "the judge of outcomes: " << why_no_porcupine();
  const RedisServer server;
  const TempDir folder;
  {
    Taker a(Taker::Place::own_process), b(Taker::Place::own_process);
    a.connect(server.url(), {"record=" + folder.file("a.record")});
    b.connect(server.url(), {"record=" + folder.file("b.record")});
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] { at_random({i < 2 ? a : b, 1 + i % 2}, static_cast<unsigned>(i), 300, i == 0); });
    }
  }
  Story story;
  story.history = History::read(folder.path().string());
  std::vector<Operation>& operations = story.history.operations;
  EXPECT_GT(operations.size(), 500U);
  EXPECT_GT(std::ranges::count(operations, Text("still_held"), &Operation::outcome), 0);
  EXPECT_GT(std::ranges::count(operations, Text("was_lost"), &Operation::outcome), 0);
  EXPECT_GT(std::ranges::count(story.history.forced, Text("yes"), &Forced::answer), 0);
  Verdict verdict;
  judge_outcomes(story, verdict);
  EXPECT_TRUE(verdict.good()) << verdict.text();

  for (Operation& each : operations) {
    if (each.outcome == "busy") each.outcome = "granted";
  }
  judge_outcomes(story, verdict);
  EXPECT_FALSE(verdict.good()) << "refusals that are turned into grants";
}

}  // namespace
}  // namespace holdfast::test::commands_test
