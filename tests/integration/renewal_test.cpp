// SPDX-License-Identifier: Apache-2.0
// The watchdog under trouble: one lock's, one connection's, or one slow callback's trouble is not another hold's.
#include "faults.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::renewal_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Lt;

class Renewal : public Faults {
 protected:
  static std::vector<Hold> acquire(Client& client, int count, milliseconds lease) {
    std::vector<Hold> holds;
    for (int i = 0; i < count; ++i) {
      holds.push_back(client.lock("orders:" + std::to_string(i)).acquire({.lease = renewed(lease)}));
    }
    return holds;
  }
  /// Lets this much time pass; ends early with a failure when one of the holds is lost.
  static void expect_held(const std::vector<Hold>& holds, milliseconds time) {
    const auto lost = [](const Hold& hold) { return hold.valid_for() == 0ms; };
    EXPECT_FALSE(eventually([&] { return std::ranges::any_of(holds, lost); }, time));
  }
  static void expect_released(std::vector<Hold>& holds) {
    for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released) << hold.name();
  }
};

TEST_F(Renewal, OneKeyOfAnotherTypeAmongManyCostsOnlyItsHold) {
  Client client(config());
  std::vector<Hold> holds = acquire(client, 200, 1500ms);
  raw.command("SET", "orders:77", "mine now");
  EXPECT_TRUE(eventually([&] { return holds[77].valid_for() == 0ms; }));
  Hold lost = std::move(holds[77]);
  holds.erase(holds.begin() + 77);
  expect_held(holds, 3000ms);
  EXPECT_EQ(client.counters().lost, 1U);
  EXPECT_EQ(client.counters().suspect, 0U);
  EXPECT_EQ(client.counters().renewal_failures, 0U);
  EXPECT_EQ(log->details("lost", "orders:77"), std::vector<std::string>{"taken"});
  expect_released(holds);
  EXPECT_EQ(raw.command("GET", "orders:77").text, "mine now");
}

TEST_F(Renewal, HoldsThatComeAndGoAreAllKept) {
  Client client(config());
  std::vector<Hold> kept = acquire(client, 50, 1200ms);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, i](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          Hold hold = client.lock("brief:" + std::to_string(i)).acquire({.lease = renewed(30ms)});
          std::this_thread::sleep_for(milliseconds(i * 7));
          hold.release();
        }
      });
    }
    expect_held(kept, 3000ms);
  }
  expect_released(kept);
}

TEST_F(Renewal, SurvivesAConnectionThatIsKilledTenTimesASecond) {
  Client client(config());
  std::vector<Hold> holds = acquire(client, 50, 1200ms);
  std::jthread killer([&](const std::stop_token& stop) {
    Raw own(server);
    while (!stop.stop_requested()) {
      own.command("CLIENT", "KILL", "TYPE", "normal");
      std::this_thread::sleep_for(100ms);
    }
  });
  expect_held(holds, 4000ms);
  killer.request_stop();
  killer.join();
  EXPECT_GT(client.counters().connections, 10U);
  EXPECT_EQ(client.counters().lost, 0U);
  expect_released(holds);
}

TEST_F(Renewal, ASlowCallbackDelaysNoRenewal) {
  class Slow : public Observer {
   public:
    void on_renewed(const RenewedEvent&) override {
      if (!std::exchange(slept_, true)) std::this_thread::sleep_for(1s);
    }

   private:
    bool slept_ = false;
  };
  Config settings = config();
  settings.observer = std::make_shared<Slow>();
  Client client(settings);
  std::atomic<int> called{0};
  const Hold expires = client.lock("expires").acquire({.lease = fixed(100ms), .on_lost = [&](const LostEvent&) {
                                                         std::this_thread::sleep_for(1s);
                                                         ++called;
                                                       }});
  std::vector<Hold> holds = acquire(client, 20, 900ms);
  const std::stop_callback slow_stop(expires.lost_token(), [] { std::this_thread::sleep_for(1s); });
  expect_held(holds, 3000ms);
  EXPECT_TRUE(eventually([&] { return called == 1; }));
  EXPECT_EQ(client.counters().lost, 1U);
  expect_released(holds);
}

TEST_F(Renewal, ACallbackMayThrowAndMayUseTheClient) {
  Client client(config());
  std::vector<Hold> holds = acquire(client, 5, 900ms);
  std::promise<ReleaseOutcome> released;
  const Hold throws = client.lock("throws").acquire(
      {.lease = fixed(50ms), .on_lost = [](const LostEvent&) { throw std::runtime_error("mine"); }});
  const Hold uses = client.lock("uses").acquire({.lease = fixed(100ms), .on_lost = [&](const LostEvent& event) {
                                                   EXPECT_EQ(event.name, "uses");
                                                   released.set_value(client.lock("inner").acquire().release());
                                                 }});
  std::future<ReleaseOutcome> outcome = released.get_future();
  ASSERT_TRUE(ready(outcome));
  EXPECT_EQ(outcome.get(), ReleaseOutcome::released);
  expect_held(holds, 1000ms);
  expect_released(holds);
}

TEST_F(Renewal, AnObserverThatThrowsCostsNothing) {
  class Throws : public Observer {
   public:
    void on_granted(const GrantedEvent&) override { throw std::runtime_error("granted"); }
    void on_renewed(const RenewedEvent&) override { throw std::runtime_error("renewed"); }
    void on_lost(const LostEvent&) override { throw 1; }
    void on_released(const ReleasedEvent&) override { throw std::runtime_error("released"); }
    void on_connection(const ConnectionEvent&) override { throw std::runtime_error("connection"); }
  };
  Config settings = config();
  settings.observer = std::make_shared<Throws>();
  Client client(settings);
  std::promise<void> told;
  const Hold brief =
      client.lock("brief").acquire({.lease = fixed(50ms), .on_lost = [&](const LostEvent&) { told.set_value(); }});
  std::vector<Hold> holds = acquire(client, 5, 600ms);
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 10; }));
  std::future<void> was_told = told.get_future();
  EXPECT_TRUE(ready(was_told)) << "what comes behind an exception";
  expect_released(holds);
}

TEST_F(Renewal, IsToldToTheObserverWithItsLateness) {
  Client client(config());
  std::vector<Hold> holds = acquire(client, 30, 900ms);
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 90; }));
  // Holds that were taken together share their commands, however small the differences.
  EXPECT_LE(client.counters().renewal_batches, 20U);
  EXPECT_TRUE(log->wait_for("renewed", 3));
  expect_released(holds);
}

TEST_F(Renewal, DoesNotTouchALockThatIsReleased) {
  Client client(config());
  for (int i = 0; i < 10; ++i) {
    // Released around the moment of its renewal.
    Hold hold = client.lock("orders").acquire({.lease = renewed(1500ms)});
    std::this_thread::sleep_for(milliseconds(498 + i % 5));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    put_held_lock(raw, "orders");
    raw.command("PEXPIRE", "orders", 60'000);
    EXPECT_FALSE(eventually([&] { return raw.pttl("orders") < 50'000; }, 5ms));
    raw.command("DEL", "orders");
  }
}

}  // namespace
}  // namespace holdfast::test::renewal_test
