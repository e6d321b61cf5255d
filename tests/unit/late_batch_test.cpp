// SPDX-License-Identifier: Apache-2.0
// When releases are repeated at a new primary, told without a clock.
#include <string>

#include <gtest/gtest.h>

#include "fsm_text.hpp"
#include "lock/decide/recent_releases.hpp"

namespace holdfast::engine::late_batch_test {
namespace {

using namespace std::chrono_literals;

class LateBatchTest : public testing::Test {
 protected:
  /// `others`: so many clients elsewhere heard it.
  void released(const std::string& owner, const std::string& lock, std::int64_t others) {
    releases_.push_back({{{"1", lock, owner}}, {"channel of " + lock, others}});
  }
  void released_unheard(const std::string& owner) { releases_.push_back({{{"1", "lock", owner}}, {}}); }

  static std::string owners(const std::vector<base::Command>& commands) {
    std::string out;
    for (const base::Command& each : commands) out += (out.empty() ? "" : " ") + each.args.back();
    return out;
  }
  /// What is repeated by itself at that time, and which locks are looked at.
  static std::string at_time(LateBatch& batch, Duration now) {
    const LateBatch::Step step = batch.on_time(at(now));
    std::string out = owners(step.repeat);
    for (const std::size_t number : step.look) out += "?" + std::string(batch.key(number));
    return out;
  }
  std::string found(LateBatch& batch, Duration now, std::optional<std::int64_t> others, std::size_t number = 0) {
    return owners(batch.on_look(at(now), number, others));
  }

  std::vector<ConfirmedRelease> releases_;
};

TEST_F(LateBatchTest, ASecondPassesWhereNobodyIsKnownToHaveHeard) {
  released_unheard("a");
  released("b", "orders", 0);
  LateBatch batch(releases_, at(0s));
  EXPECT_EQ(batch.due(), at(1s));
  EXPECT_EQ(at_time(batch, 999ms), "");
  EXPECT_FALSE(batch.over());
  EXPECT_EQ(at_time(batch, 1s), "a b");
  EXPECT_TRUE(batch.over());
}

TEST_F(LateBatchTest, AsManyAsHeardMustBeThereTwice) {
  released("a", "orders", 1);
  released("b", "orders", 3);
  released("c", "orders", 2);
  LateBatch batch(releases_, at(0s));
  EXPECT_EQ(batch.due(), at(10ms));
  EXPECT_EQ(at_time(batch, 10ms), "?orders");
  EXPECT_EQ(found(batch, 11ms, 2), "") << "one of three is missing";
  EXPECT_EQ(batch.due(), at(20ms));
  EXPECT_EQ(at_time(batch, 20ms), "?orders");
  EXPECT_EQ(found(batch, 21ms, 3), "") << "they may just have come";
  EXPECT_EQ(at_time(batch, 40ms), "?orders");
  EXPECT_EQ(found(batch, 70ms, 3), "") << "not quite";
  EXPECT_EQ(batch.due(), at(71ms));
  EXPECT_EQ(at_time(batch, 71ms), "?orders");
  EXPECT_EQ(found(batch, 72ms, 3), "c b a");
  EXPECT_TRUE(batch.over());
  EXPECT_EQ(found(batch, 73ms, 3), "") << "a late answer";
}

TEST_F(LateBatchTest, WhoHasLeftAgainCountsFromAnew) {
  released("a", "orders", 2);
  LateBatch batch(releases_, at(0s));
  EXPECT_EQ(found(batch, 11ms, 2), "");
  EXPECT_EQ(found(batch, 40ms, 1), "");
  EXPECT_EQ(found(batch, 80ms, 2), "");
  EXPECT_EQ(found(batch, 130ms, 5), "a");
}

TEST_F(LateBatchTest, LooksGrowRarerAndEndWithTheSecond) {
  released("a", "orders", 2);
  LateBatch batch(releases_, at(0s));
  std::string times;
  while (!batch.over()) {
    const TimePoint due = batch.due();
    const LateBatch::Step step = batch.on_time(due);
    times += std::to_string((due - at(0s)) / 1ms) + (step.look.empty() ? "! " : "? ");
    for (const std::size_t number : step.look) batch.on_look(due, number, std::nullopt);
  }
  EXPECT_EQ(times, "10? 20? 40? 80? 160? 320? 640? 1000! ");
}

TEST_F(LateBatchTest, EachLockHasItsOwn) {
  released("a", "orders", 1);
  released("b", "bills", 1);
  LateBatch batch(releases_, at(0s));
  EXPECT_EQ(at_time(batch, 10ms), "?bills?orders");
  EXPECT_EQ(batch.channel(1), "channel of orders");
  EXPECT_EQ(found(batch, 10ms, 1, 1), "");
  EXPECT_EQ(found(batch, 60ms, 1, 1), "a");
  EXPECT_EQ(at_time(batch, 60ms), "?bills");
  EXPECT_EQ(at_time(batch, 1s), "b");
}

TEST_F(LateBatchTest, NoMoreThanTheLatestLocksAreLookedAt) {
  for (std::size_t i = 0; i <= LateBatch::kMostLooked; ++i) released("a", std::to_string(i), 1);
  LateBatch batch(releases_, at(0s));
  const LateBatch::Step step = batch.on_time(at(10ms));
  ASSERT_EQ(step.look.size(), LateBatch::kMostLooked);
  EXPECT_EQ(batch.key(step.look.back()), "1");
  EXPECT_EQ(batch.on_time(at(1s)).repeat.size(), LateBatch::kMostLooked + 1);
}

TEST_F(LateBatchTest, AnAnswerThatSaysNoNumberIsNobody) {
  released("a", "orders", 1);
  LateBatch batch(releases_, at(0s));
  EXPECT_EQ(found(batch, 11ms, std::nullopt), "");
  EXPECT_EQ(found(batch, 80ms, std::nullopt), "");
}

}  // namespace
}  // namespace holdfast::engine::late_batch_test
