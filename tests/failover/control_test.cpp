// That the cases of this suite can fail: the same load with nothing that keeps it apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "failover/stage.hpp"
#include "support/judge.hpp"
#include "support/redis_server.hpp"

namespace holdfast::test {
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
}

}  // namespace
}  // namespace holdfast::test
