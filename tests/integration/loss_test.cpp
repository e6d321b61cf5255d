// SPDX-License-Identifier: Apache-2.0
// Losing a hold: told in time, once, with the right reason, and before anybody else can have the lock.
#include "faults.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::loss_test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

class Loss : public Faults {
 protected:
  Loss() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  /// Calls of an on_lost callback.
  struct Calls {
    void add(const LostEvent& event) {
      const std::scoped_lock guard(mutex);
      reasons.push_back(event.reason);
      thread = std::this_thread::get_id();
    }
    std::vector<LossReason> taken() {
      const std::scoped_lock guard(mutex);
      return reasons;
    }
    std::mutex mutex;
    std::vector<LossReason> reasons;
    std::thread::id thread;
  };
  Hold acquire(Client& client, const std::string& name, AcquireOptions options) {
    options.on_lost = [calls = calls](const LostEvent& event) { calls->add(event); };
    return client.lock(name).acquire(options);
  }

  Proxy proxy{server};
  const std::shared_ptr<Calls> calls = std::make_shared<Calls>();
};

// --- In time ---

TEST_F(Loss, IsToldBeforeAnybodyElseCanHaveTheLock) {
  constexpr int kHolds = 10;
  // Long enough that its margin, 1 % + 2 ms, is more than a loaded machine takes to run a thread.
  constexpr milliseconds kLease = 3s;
  Client client(config(proxy.url()));
  Client other(config());
  std::vector<Hold> holds;
  for (int i = 0; i < kHolds; ++i) {
    holds.push_back(client.lock("orders:" + std::to_string(i)).acquire({.lease = renewed(kLease)}));
  }
  proxy.drop_requests(true);
  std::vector<std::future<steady_clock::time_point>> told, entered;
  for (int i = 0; i < kHolds; ++i) {
    told.push_back(in_thread([token = holds[static_cast<std::size_t>(i)].lost_token()] {
      std::promise<steady_clock::time_point> at;
      const std::stop_callback on_stop(token, [&] { at.set_value(steady_clock::now()); });
      return at.get_future().get();
    }));
    entered.push_back(in_thread([&other, i] {
      const Hold next = other.lock("orders:" + std::to_string(i)).acquire();
      return steady_clock::now();
    }));
  }
  for (std::size_t i = 0; i < kHolds; ++i) EXPECT_LT(told[i].get(), entered[i].get()) << i;
  for (const Hold& hold : holds) EXPECT_EQ(hold.valid_for(), 0ms);
  proxy.drop_requests(false);
}

TEST_F(Loss, NeverShowsAsZeroTimeWithoutTheSignal) {
  Client client(config());
  for (int i = 0; i < 100; ++i) {
    const Hold hold = client.lock("orders:" + std::to_string(i)).acquire({.lease = fixed(milliseconds(10 + i % 7))});
    const std::stop_token token = hold.lost_token();
    milliseconds left{};
    do {
      left = hold.valid_for();
    } while (left > 0ms);
    ASSERT_TRUE(token.stop_requested());
    ASSERT_EQ(hold.state(), HoldState::lost);
  }
}

TEST_F(Loss, ThrowsWhereItIsLookedFor) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(200ms)});
  EXPECT_NO_THROW(hold.throw_if_lost());
  EXPECT_TRUE(eventually([&] { return hold.valid_for() == 0ms; }));
  const auto look = [](const Hold& at) {
    return [&at] {
      at.throw_if_lost();
      return 0;
    };
  };
  EXPECT_THAT(error_of(look(hold)), IsError(Errc::lost, "orders", client.node(), testing::IsEmpty()));
  EXPECT_EQ(error_of(look(Hold()))->code(), Errc::not_owner);
}

TEST_F(Loss, IsSeenByEveryThreadThatLooks) {
  Client client(config());
  for (int i = 0; i < 20; ++i) {
    const Hold hold = client.lock("orders").acquire({.lease = fixed(30ms)});
    std::vector<std::jthread> threads;
    for (int k = 0; k < 4; ++k) {
      threads.emplace_back([&hold, token = hold.lost_token()] {
        while (hold.valid_for() > 0ms) continue;
        EXPECT_TRUE(token.stop_requested());
      });
    }
  }
}

TEST_F(Loss, SignalsAreNotHeldUpByASlowObserverOrLossCallback) {
  class Slow : public Observer {
   public:
    void on_granted(const GrantedEvent& event) override {
      if (event.name == "orders") std::this_thread::sleep_for(1200ms);
    }
  };
  Config settings = config();
  settings.observer = std::make_shared<Slow>();
  Client client(settings);
  const Hold hold = client.lock("orders").acquire(
      {.lease = fixed(100ms), .on_lost = [](const LostEvent&) { std::this_thread::sleep_for(1200ms); }});
  const Hold second = client.lock("other").acquire({.lease = fixed(200ms)});
  const std::stop_token first_lost = hold.lost_token();
  const std::stop_token second_lost = second.lost_token();
  const auto acquired = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return first_lost.stop_requested() && second_lost.stop_requested(); }));
  EXPECT_LT(steady_clock::now() - acquired, 1s);
}

// --- For a reason, once ---

TEST_F(Loss, AFixedLeaseExpires) {
  Client client(config());
  const auto acquired = steady_clock::now();
  Hold hold = acquire(client, "orders", {.lease = fixed(300ms)});
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_THAT(steady_clock::now() - acquired, testing::AllOf(Ge(290ms), Lt(3s)));
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_TRUE(log->wait_for("released"));
  EXPECT_THAT(calls->taken(), ElementsAre(LossReason::expired));
  EXPECT_THAT(log->details("lost"), ElementsAre("expired"));
  EXPECT_THAT(log->details("renewed"), IsEmpty());
  EXPECT_EQ(client.counters().renewal_batches, 0U);
  EXPECT_EQ(client.counters().lost, 1U);
  EXPECT_NE(calls->thread, std::this_thread::get_id());
}

TEST_F(Loss, OfAFixedLeaseIsToldWithoutAnybodyAsking) {
  Client client(config());
  Hold hold = acquire(client, "orders", {.lease = fixed(300ms)});
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("expired"));
}

TEST_F(Loss, AHoldThatWasTakenAwayIsToldAtTheNextRenewal) {
  Client client(config());
  Hold hold = acquire(client, "orders", {.lease = renewed(600ms)});
  raw.command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(calls->taken(), ElementsAre(LossReason::taken));
  EXPECT_THAT(log->details("suspect"), IsEmpty());
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
}

TEST_F(Loss, ACapEndsTheHoldItsRenewalAndSoonItsKey) {
  const Standstill still;
  Client client(config());
  const auto acquired = steady_clock::now();
  Hold hold = acquire(client, "orders", {.lease = renewed(600ms), .max_hold = 1500ms});
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  const auto lost = steady_clock::now();
  EXPECT_THAT(lost - acquired, testing::AllOf(Ge(1490ms), Lt(4s)));
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(calls->taken(), ElementsAre(LossReason::max_hold));
  EXPECT_GE(client.counters().renewals, 4U);
  const std::uint64_t batches = client.counters().renewal_batches;
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  EXPECT_LT(steady_clock::now() - lost, 600ms + 500ms + still.total());
  EXPECT_EQ(client.counters().renewal_batches, batches);
}

TEST_F(Loss, ACapBindsAFixedLeaseAndTheStdFaceToo) {
  Client client(config());
  const Hold hold = acquire(client, "orders", {.lease = fixed(1min), .max_hold = 100ms});
  Lock lock = client.lock("other", {.max_hold = 100ms});
  lock.lock();
  EXPECT_TRUE(eventually([&] { return hold.valid_for() == 0ms && lock.this_thread().valid_for() == 0ms; }));
  EXPECT_TRUE(log->wait_for("lost", 2));
  EXPECT_THAT(log->details("lost"), Each("max_hold"));
  EXPECT_THAT(calls->taken(), ElementsAre(LossReason::max_hold));
}

TEST_F(Loss, ClosingTheClientIsAReasonOfItsOwn) {
  Client client(config());
  const Hold hold = acquire(client, "orders", {});
  client.close();
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_THAT(calls->taken(), ElementsAre(LossReason::closed));
  EXPECT_THAT(log->details("lost"), ElementsAre("closed"));
}

TEST_F(Loss, AReleaseIsNoLoss) {
  Client client(config());
  Hold hold = acquire(client, "orders", {.lease = fixed(100ms)});
  const std::stop_token token = hold.lost_token();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(stays_absent(raw, "orders", 200ms));
  EXPECT_FALSE(token.stop_requested());
  EXPECT_THAT(calls->taken(), IsEmpty());
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

// --- Suspect ---

TEST_F(Loss, ASuspectIsHeldAgainWhenTheConnectionReturns) {
  Client client(config(proxy.url()));
  Hold hold = acquire(client, "orders", {.lease = renewed(6s)});
  for (std::size_t i = 1; i <= 3; ++i) {
    proxy.refuse(true);
    proxy.cut();
    EXPECT_TRUE(eventually([&] { return log->count("down") >= i; }));
    EXPECT_TRUE(i > 1 || eventually([&] { return hold.state() == HoldState::suspect; }));
    EXPECT_FALSE(hold.lost_token().stop_requested());
    proxy.refuse(false);
    EXPECT_TRUE(eventually([&] { return client.counters().connections == i + 1; }));
    EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held && hold.valid_for() > 4s; }));
  }
  EXPECT_GE(log->count("suspect"), 1U);
  EXPECT_THAT(log->details("suspect", "orders"), Each(Not("")));
  EXPECT_EQ(client.counters().lost, 0U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(calls->taken(), IsEmpty());
}

TEST_F(Loss, AReleaseOfASuspectTellsTheTruth) {
  Client client(config(proxy.url()));
  Hold hold = client.lock("orders").acquire({.lease = renewed(1500ms)});
  proxy.drop_replies(true);
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::suspect; }));
  proxy.drop_replies(false);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::loss_test
