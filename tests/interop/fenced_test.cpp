// SPDX-License-Identifier: Apache-2.0
// FencedLock and Redisson's RFencedLock: one lock, and one counter of tokens.
#include "counting.hpp"

namespace holdfast::test::fenced_test {
namespace {

class FencedLocks : public Counting {
 protected:
  FencedLocks() {
    needs("fenced", "fenced lock");
    set("kind", "fenced");
  }

  long long latest_token(const std::string& name) {
    const std::string text = raw.command("GET", "redisson_lock_token:{" + name + "}").text;
    return text.empty() ? 0 : std::stoll(text);
  }
};
HOLDFAST_INTEROP(FencedLocks, both_ways(kRedissons));

TEST_P(FencedLocks, ExcludeEachOther) {
  holder().lock("orders", 20s);
  EXPECT_FALSE(other().try_lock("orders"));
  EXPECT_EQ(holder().unlock("orders"), "released");
  EXPECT_TRUE(other().try_lock("orders"));
  EXPECT_FALSE(holder().try_lock("orders"));
  EXPECT_EQ(other().unlock("orders"), "released");
}

TEST_P(FencedLocks, GoOnFromTheTokenOfTheOther) {
  start_pair();
  for (long long turn = 1; turn <= 6; ++turn) {
    Party& party = turn % 2 == 1 ? holder() : other();
    party.lock("orders", 20s);
    EXPECT_EQ(latest_token("orders"), turn);
    EXPECT_EQ(party.unlock("orders"), "released");
  }
}

TEST_P(FencedLocks, AWaiterEntersSoonAfterARelease) {
  holder().lock("orders");
  const Pending waiting = other().start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  const auto released = steady_clock::now();
  EXPECT_EQ(holder().unlock("orders"), "released");
  const Answer entered = waiting.get();
  ASSERT_TRUE(entered.ok) << entered.text;
  EXPECT_LT(entered.ended - released, kPrompt);
  EXPECT_EQ(latest_token("orders"), 2);
}

TEST_P(FencedLocks, LoseNoUpdateAndCountEveryGrantOnce) {
  expect_exclusion_and_progress(two_processes_each(2, "orders"));
  EXPECT_EQ(latest_token("orders"), counted());
}

}  // namespace
}  // namespace holdfast::test::fenced_test
