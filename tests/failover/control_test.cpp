// SPDX-License-Identifier: Apache-2.0
// That the cases of this suite can fail: the same load with nothing that keeps it apart.
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "failover/stage.hpp"
#include "judges/judge.hpp"
#include "judges/measures.hpp"
#include "support/deployment.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test::control_test {
namespace {

TEST(Control, WithoutACommonLockHoldsOverlapAndUpdatesAreLost) {
  const RedisServer server({.listen = ServerOptions::Listen::tcp});
  Stage stage(server.url());
  for (const std::string client : {"a", "b"}) {
    stage.add(client, std::make_unique<Taker>(Taker::Place::own_process), {});
    for (int thread = 1; thread <= 2; ++thread) {
      stage.begin(client, thread, client + std::to_string(thread), "number", Stage::Milliseconds(1));
    }
  }
  ASSERT_TRUE(stage.grows("number", 50));
  History history = stage.finish();
  EXPECT_THAT(overlaps(history.holds), ::testing::IsEmpty());  // as long as the names are apart
  for (HeldOnce& hold : history.holds) hold.name = "one for all";
  EXPECT_THAT(overlaps(history.holds), ::testing::Not(::testing::IsEmpty()));
  EXPECT_GT(lost_updates(history.holds, stage.number("number")), 0);

  Story story;
  story.history = std::move(history);
  story.numbers["one for all"] = stage.number("number");
  std::set<std::string> promises;
  for (const Violation& each : judge(story).violations) promises.insert(each.promise);
  EXPECT_THAT(promises, ::testing::IsSupersetOf({"exclusion", "lost update"}));
}

TEST(Control, UnderACommonLockNothingOverlapsAndNothingIsLost) {
  const RedisServer server({.listen = ServerOptions::Listen::tcp});
  Stage stage(server.url());
  for (const std::string client : {"a", "b"}) {
    stage.add(client, std::make_unique<Taker>(Taker::Place::own_process), {});
    for (int thread = 1; thread <= 2; ++thread) stage.begin(client, thread, "x", "number", Stage::Milliseconds(1));
  }
  ASSERT_TRUE(stage.grows("number", 50));
  const History history = stage.finish();
  EXPECT_THAT(overlaps(history.holds), ::testing::IsEmpty());
  EXPECT_THAT(forgotten(history.holds), ::testing::IsEmpty());
  EXPECT_EQ(lost_updates(history.holds, stage.number("number")), 0);

  Story story;
  story.history = history;
  story.numbers["x"] = stage.number("number");
  Verdict verdict = judge(story);
  if (why_no_porcupine().empty()) judge_outcomes(story, verdict);
  EXPECT_TRUE(verdict.good()) << verdict.text();
}

/// As on a machine that is very busy; longer than any of the stage's questions may wait by mistake.
TEST(Control, TheStageWaitsForASentinelThatAnswersLate) {
  Deployment deployment;
  const pid_t sentinel = deployment.sentinel(0).pid();
  ASSERT_EQ(kill(sentinel, SIGSTOP), 0);  // nobody is told, unlike with freeze()
  const std::jthread goes_on([sentinel] {
    std::this_thread::sleep_for(std::chrono::seconds(12));
    kill(sentinel, SIGCONT);
  });
  EXPECT_EQ(&deployment.primary(), &deployment.server(0));
  EXPECT_EQ(deployment.replicas().size(), 2U);
}

}  // namespace
}  // namespace holdfast::test::control_test
