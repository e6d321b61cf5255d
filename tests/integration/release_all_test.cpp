// SPDX-License-Identifier: Apache-2.0
// Client::release_all(): everything is given back at once, by whomever it is held.
#include "faults.hpp"

namespace holdfast::test::release_all_test {
namespace {

using testing::HasSubstr;

class ReleaseAll : public Faults {
 protected:
  Client client{config()};
};

TEST_F(ReleaseAll, GivesBackEveryHold) {
  const Lock of_thread = client.lock("of a thread");
  of_thread.lock();
  Hold hold = client.lock("orders").acquire();
  const Hold simple = client.simple_lock("simple").acquire();
  const Hold several = client.multi_lock({"a", "b"}).acquire();
  const std::stop_token token = hold.lost_token();
  EXPECT_EQ(client.release_all(1min), 0U);
  for (const char* name : {"of a thread", "orders", "simple", "a", "b"}) EXPECT_FALSE(raw.exists(name)) << name;
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_EQ(hold.loss_reason(), LossReason::closed);
  EXPECT_TRUE(eventually([&] { return token.stop_requested(); }));
  EXPECT_TRUE(of_thread.this_thread().is_lost());
  of_thread.unlock();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);  // the server has confirmed that it was held until then
  EXPECT_EQ(client.counters().lost, 4U);
}

TEST_F(ReleaseAll, LetsTheNextHolderInAtOnce) {
  Client other(config());
  const Hold hold = client.lock("orders").acquire();
  std::future<Hold> waiting = in_thread([&] { return other.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  EXPECT_EQ(client.release_all(1min), 0U);
  EXPECT_TRUE(ready(waiting, 5s));  // its safety poll, and the lease's end, are far
}

/// Mostly within 10 ms; what is tested leaves room for a busy machine.
TEST_F(ReleaseAll, OfManyHoldsLetsTheNextHolderInWithinMilliseconds) {
  Client other(config());
  std::vector<steady_clock::duration> took;
  for (int round = 0; round < 15; ++round) {
    std::vector<Hold> holds;
    for (int i = 0; i < 100; ++i) holds.push_back(client.lock("orders:" + std::to_string(i)).acquire());
    auto waiting = in_thread([&] {
      const Hold next = other.lock("orders:99").acquire();
      return steady_clock::now();
    });
    ASSERT_TRUE(eventually([&] { return other.counters().waiting == 1; }));
    ASSERT_TRUE(listeners(raw, "orders:99"));
    const auto begun = steady_clock::now();
    EXPECT_EQ(client.release_all(1min), 0U);
    took.push_back(waiting.get() - begun);
  }
  std::ranges::sort(took);
  const auto median = std::chrono::duration_cast<std::chrono::microseconds>(took[took.size() / 2]);
  RecordProperty("next_holder_us", std::to_string(median.count()));
  std::cout << "the next holder: after " << median.count() << " us\n";
  EXPECT_LT(median, 100ms);
}

TEST_F(ReleaseAll, EndsTheWaitsOfTheClientAndLeavesItUsable) {
  Client other(config());
  Hold held = other.lock("orders").acquire();
  std::future<std::optional<Error>> waiting =
      in_thread([&] { return error_of([&] { return client.lock("orders").acquire(); }); });
  ASSERT_TRUE(eventually([&] { return client.counters().waiting == 1; }));
  EXPECT_EQ(client.release_all(1min), 0U);
  EXPECT_THAT(waiting.get(), IsError(Errc::cancelled, "orders", client.node(), HasSubstr("")));
  held.release();
  EXPECT_EQ(client.lock("orders").acquire().release(), ReleaseOutcome::released);
}

TEST_F(ReleaseAll, DoesNotGiveItToTheNextCallerOfTheSameClient) {
  Config settings = config();
  settings.kinds.handoff = 1min;
  Client passing(settings);
  const Hold hold = passing.lock("orders").acquire();
  std::future<std::optional<Error>> waiting =
      in_thread([&] { return error_of([&] { return passing.lock("orders").acquire(); }); });
  ASSERT_TRUE(eventually([&] { return passing.counters().waiting == 1; }));
  EXPECT_EQ(passing.release_all(1min), 0U);
  EXPECT_TRUE(waiting.get().has_value());
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(ReleaseAll, ReturnsInTimeAndSaysHowManyAreNotConfirmed) {
  Hold first = client.lock("orders").acquire();
  Hold second = client.lock("bills").acquire();
  server.freeze();
  std::size_t unconfirmed = 0;
  const auto took = duration_of([&] { unconfirmed = client.release_all(200ms); });
  EXPECT_EQ(unconfirmed, 2U);
  EXPECT_GE(took, 200ms);
  EXPECT_EQ(first.state(), HoldState::lost);
  server.thaw();
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders") && !raw.exists("bills"); }));
}

TEST_F(ReleaseAll, DoesNothingWhenThereIsNothing) {
  EXPECT_EQ(client.release_all(1min), 0U);
  client.close();
  EXPECT_EQ(client.release_all(1min), 0U);
}

}  // namespace
}  // namespace holdfast::test::release_all_test
