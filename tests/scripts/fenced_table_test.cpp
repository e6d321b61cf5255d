// SPDX-License-Identifier: Apache-2.0
// The acquire of a fenced lock: what it does to the lock and to the counter of its tokens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kinds/fenced_lock.hpp"
#include "scripts/script_call.hpp"
#include "scripts/user_without.hpp"

namespace holdfast::test::fenced_table_test {
namespace {

using std::chrono::milliseconds;
using testing::IsEmpty;
using Fields = std::map<std::string, std::string>;

const wire::LockNames kL = wire::lock::names("L");
const std::string kCounter = "redisson_lock_token:{L}";

class FencedTable : public ::testing::TestWithParam<SendBy> {
 protected:
  FencedTable() {
    for (const base::Script* script : all_scripts()) raw.command("SCRIPT", "LOAD", std::string(script->text));
  }

  Reply acquire(const wire::Owner& owner, bool count_listeners = false) {
    return run(raw, wire::fenced::acquire({{&kL, 1}, owner, milliseconds(60'000), count_listeners}), GetParam());
  }
  void expect_granted(const Reply& reply, long long token) {
    ASSERT_EQ(reply.elements.size(), 2U) << reply.text;
    EXPECT_EQ(reply.elements[0].integer, -1);
    EXPECT_EQ(reply.elements[1].integer, token);
  }

  RedisServer server;
  Raw raw{server};
};
INSTANTIATE_TEST_SUITE_P(By, FencedTable, ::testing::Values(SendBy::text, SendBy::hash));

TEST_P(FencedTable, each_grant_takes_the_next_token_and_one_hold) {
  expect_granted(acquire(kA), 1);
  expect_granted(acquire(kA), 2);
  EXPECT_EQ(raw.hgetall("L"), (Fields{{kA.text, "1"}})) << "a repeated acquire counts no second hold";
  EXPECT_GT(raw.pttl("L"), 45'000);
  EXPECT_EQ(raw.pttl(kCounter), -1);
  run(raw, lock::release(kL, kA));
  EXPECT_FALSE(raw.exists("L"));
  expect_granted(acquire(kB), 3);
}

TEST_P(FencedTable, who_is_refused_takes_no_token) {
  expect_granted(acquire(kA), 1);
  EXPECT_GT(acquire(kB).integer, 45'000);
  const Reply busy = acquire(kB, true);
  ASSERT_EQ(busy.elements.size(), 4U);
  EXPECT_EQ(busy.elements[0].integer, 1);
  EXPECT_EQ(busy.elements[3].text, kA.text);
  EXPECT_EQ(raw.command("GET", kCounter).text, "1");
}

TEST_P(FencedTable, a_counter_that_cannot_grow_leaves_the_lock_free) {
  using Words = std::vector<std::string>;
  for (const Words& counter :
       {Words{"SET", kCounter, "many"}, Words{"SET", kCounter, "9223372036854775807"}, Words{"RPUSH", kCounter, "1"}}) {
    raw.flushall();
    raw.send(counter);
    const std::string before = raw.command("DUMP", kCounter).text;
    EXPECT_EQ(acquire(kA).text, "WRONGTYPE it is a fenced lock whose counter of tokens cannot grow") << counter[2];
    EXPECT_FALSE(raw.exists("L"));
    EXPECT_EQ(raw.command("DUMP", kCounter).text, before);
  }
}

/// The refusal is what its caller learns: the counter is as it should be.
TEST_P(FencedTable, a_counter_that_may_not_grow_is_not_called_wrong) {
  for (const std::string counter : {"0", "7", "123456789012345678", "9223372036854775806"}) {
    raw.command("SET", kCounter, counter);
    Raw app = user_without(server, raw, "-incr");
    const Reply refusal = run(app, wire::fenced::acquire({{&kL, 1}, kA, milliseconds(60'000)}), GetParam());
    EXPECT_TRUE(refusal.is_error()) << counter;
    EXPECT_THAT(refusal.text, testing::Not(testing::HasSubstr("WRONGTYPE"))) << counter;
    EXPECT_FALSE(raw.exists("L")) << counter;
  }
}

TEST_P(FencedTable, what_is_no_lock_takes_no_token) {
  raw.command("SET", "L", "text");
  EXPECT_TRUE(acquire(kA).is_error());
  EXPECT_FALSE(raw.exists(kCounter));
}

}  // namespace
}  // namespace holdfast::test::fenced_table_test
