// SPDX-License-Identifier: Apache-2.0
// One lock name inside one client: who is next, who is woken, who holds it, and the threads' levels.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "target_fixture.hpp"

namespace holdfast::engine::target_test {
namespace {

TEST_F(TargetTest, KnowsTheCallersNameAndTheOneOnTheWire) {
  EXPECT_EQ(target_->name(), "orders");
  EXPECT_EQ(target_->names().key, "app:orders");
  EXPECT_EQ(&target_->plan(), &kinds::kLock);
}

// --- the queue ---

TEST_F(TargetTest, GivesTheFirstWaiterItsTurnAtOnce) {
  target_->enter(first_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn));
}

TEST_F(TargetTest, LetsTheOthersWaitAndGivesThemTheirTurnsInOrder) {
  target_->enter(first_);
  target_->enter(second_);
  target_->enter(third_);
  EXPECT_THAT(second_.signals(), IsEmpty());
  EXPECT_THAT(third_.signals(), IsEmpty());
  target_->leave(first_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(third_.signals(), IsEmpty());
  target_->leave(second_);
  EXPECT_THAT(third_.signals(), ElementsAre(Signal::turn));
}

TEST_F(TargetTest, KeepsTheOrderWhenAWaiterLeavesFromTheMiddle) {
  target_->enter(first_);
  target_->enter(second_);
  target_->enter(third_);
  target_->leave(second_);
  EXPECT_THAT(third_.signals(), IsEmpty());
  target_->leave(first_);
  EXPECT_THAT(third_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(TargetTest, GivesNoSecondTurnToTheHeadWhenAnotherLeaves) {
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  target_->leave(second_);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, PostsNothingToAWaiterThatHasLeft) {
  target_->enter(first_);
  target_->leave(first_);
  first_.signals();
  target_->wake();
  target_->end_waits();
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, StartsAnewAfterTheQueueHasRunEmpty) {
  target_->enter(first_);
  target_->leave(first_);
  target_->enter(second_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  target_->leave(second_);
  target_->enter(first_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn, Signal::turn));
}

TEST_F(TargetTest, BearsThatAWaiterLeavesWhoIsNotThere) {
  target_->leave(first_);
  target_->enter(second_);
  target_->leave(first_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
}

// --- wakes ---

TEST_F(TargetTest, WakesOnlyTheHead) {
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  target_->wake();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(TargetTest, IsWokenByMessagesWhileItUsesItsChannel) {
  target_->enter(first_);
  first_.signals();
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), IsEmpty());
  Target::Use use = target_->begin_use(waiter_, [this](Target::Busy) { target_->heard(); });
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message));
  subscriptions_->on_message("another channel");
  EXPECT_THAT(first_.signals(), IsEmpty());
  use.reset();
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, HearsThatItIsBusyUntilTheNextRelease) {
  const auto listening = target_->listen(waiter_, first_);
  redis::Listeners& listeners = *subscriptions_->listeners();
  listeners.on_message(channel_, 30s);
  EXPECT_EQ(target_->view({}).busy_until, TimePoint{}) << "nobody waits";
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  const TimePoint before = base::Clock::now();
  listeners.on_message(channel_, 30s);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::busy));
  EXPECT_THAT(second_.signals(), IsEmpty());
  EXPECT_GE(target_->view({}).busy_until, before + 30s);
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message));
  EXPECT_EQ(target_->view({}).busy_until, TimePoint{}) << "of the holder before";
  listeners.on_message(channel_, 1'000'000h);
  EXPECT_EQ(target_->view({}).busy_until, TimePoint::max());
}

/// Some other may be free.
TEST_F(TargetTest, OfSeveralLocksDoesNotHearThatOneIsBusy) {
  const std::shared_ptr<KeyTarget> both = targets_->target({"orders", "stock"}, kinds::kLock);
  both->enter(first_);
  first_.signals();
  {
    const auto listening = both->listen(waiter_, first_);
    subscriptions_->listeners()->on_message(channel_, 30s);
    EXPECT_THAT(first_.signals(), IsEmpty());
  }
  both->leave(first_);
}

TEST_F(TargetTest, KeepsItsChannelAsLongAsItIsUsed) {
  Target::Use use = target_->begin_use(waiter_, [this](Target::Busy) { target_->heard(); });
  subscriptions_->on_subscribed(channel_);
  const base::TimePoint later = base::Clock::now() + 1h;
  EXPECT_THAT(subscriptions_->take_idle(later).plain, IsEmpty());
  use.reset();
  EXPECT_THAT(subscriptions_->take_idle(later).plain, ElementsAre(channel_));
}

// --- what it tells the acquire loop ---

TEST_F(TargetTest, SeesWhetherItsChannelIsSubscribed) {
  EXPECT_FALSE(target_->subscribed(waiter_));
  subscriptions_->on_subscribed("another channel");
  EXPECT_FALSE(target_->subscribed(waiter_));
  subscriptions_->on_subscribed(channel_);
  EXPECT_TRUE(target_->subscribed(waiter_));
  subscriptions_->on_disconnected();
  EXPECT_FALSE(target_->subscribed(waiter_));
}

TEST_F(TargetTest, SeesAHoldThatStands) {
  EXPECT_FALSE(target_->view({}).held_here);
  const std::shared_ptr<Tenancy> held = hold();
  target_->set_tenancy(*held, 0);
  EXPECT_TRUE(target_->view({}).held_here);
  target_->forget(*held);
  EXPECT_FALSE(target_->view({}).held_here);
}

TEST_F(TargetTest, SeesNoHoldWhoseTimeIsOver) {
  const std::shared_ptr<Tenancy> held = hold(11s);
  target_->set_tenancy(*held, 0);
  EXPECT_FALSE(target_->view({}).held_here);
}

TEST_F(TargetTest, SeesNoHoldThatNobodyHasAnyMore) {
  target_->set_tenancy(*hold(), 0);
  EXPECT_FALSE(target_->view({}).held_here);
}

TEST_F(TargetTest, WakesTheHeadWhenTheHoldEnds) {
  const std::shared_ptr<Tenancy> held = hold();
  target_->set_tenancy(*held, 0);
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  target_->forget(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(TargetTest, IsNotMovedByTheEndOfAnEarlierHold) {
  const std::shared_ptr<Tenancy> earlier = hold();
  const std::shared_ptr<Tenancy> held = hold();
  target_->set_tenancy(*earlier, 0);
  target_->set_tenancy(*held, 0);
  target_->enter(first_);
  first_.signals();
  target_->forget(*earlier);
  EXPECT_TRUE(target_->view({}).held_here);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, WakesNobodyTwiceForTheSameHold) {
  const std::shared_ptr<Tenancy> held = hold();
  target_->set_tenancy(*held, 0);
  target_->enter(first_);
  first_.signals();
  target_->forget(*held);
  target_->forget(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
}

// --- holds of threads ---

TEST_F(TargetTest, CountsTheLevelsOfAThread) {
  EXPECT_EQ(target_->threads().find({7}).count, 0);
  EXPECT_EQ(target_->threads().find({7}).held, nullptr);
  const std::shared_ptr<Claim> held = hold()->first_claim();
  target_->threads().own({7}, held);
  EXPECT_EQ(target_->threads().find({7}).count, 1);
  target_->threads().reenter({7});
  target_->threads().reenter({7});
  EXPECT_EQ(target_->threads().find({7}).count, 3);
  EXPECT_EQ(target_->threads().find({7}).held, held);
}

TEST_F(TargetTest, TellsTheLevelsBeforeEachStepUpAndForgetsTheThreadAtTheLast) {
  const std::shared_ptr<Claim> held = hold()->first_claim();
  target_->threads().own({7}, held);
  target_->threads().reenter({7});
  EXPECT_EQ(target_->threads().leave_level({7}).count, 2);
  EXPECT_EQ(target_->threads().find({7}).count, 1);
  const ThreadHolds::Entry last = target_->threads().leave_level({7});
  EXPECT_EQ(last.count, 1);
  EXPECT_EQ(last.held, held);
  EXPECT_EQ(target_->threads().find({7}).count, 0);
  EXPECT_EQ(target_->threads().find({7}).held, nullptr);
}

TEST_F(TargetTest, KnowsNoLevelsOfAThreadThatOwnsNothing) {
  target_->threads().reenter({7});
  EXPECT_EQ(target_->threads().find({7}).count, 0);
  EXPECT_EQ(target_->threads().leave_level({7}).count, 0);
  EXPECT_EQ(target_->threads().leave_level({7}).held, nullptr);
}

TEST_F(TargetTest, KeepsThreadsApart) {
  const std::shared_ptr<Claim> lost = hold()->first_claim();
  const std::shared_ptr<Claim> held = hold()->first_claim();
  target_->threads().own({7}, lost);  // a thread whose hold was lost still has to give it back
  target_->threads().own({8}, held);
  target_->threads().reenter({8});
  EXPECT_EQ(target_->threads().leave_level({9}).count, 0);
  EXPECT_EQ(target_->threads().find({7}).count, 1);
  EXPECT_EQ(target_->threads().leave_level({7}).held, lost);
  EXPECT_EQ(target_->threads().find({8}).count, 2);
}

// --- closing ---

TEST_F(TargetTest, TellsEveryWaiterThatTheClientIsClosed) {
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  target_->end_waits();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::closed));
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::closed));
}

TEST_F(TargetTest, ForgetsTheThreadsHoldsWhenTheClientIsClosed) {
  // Else a thread that never unlocks would keep the client alive for ever.
  std::shared_ptr<Claim> held = hold()->first_claim();
  const std::weak_ptr<Claim> watch = held;
  target_->threads().own({7}, std::move(held));
  target_->threads().forget_all();
  EXPECT_EQ(target_->threads().find({7}).count, 0);
  EXPECT_TRUE(watch.expired());
}

// --- from many threads ---

TEST_F(TargetTest, LetsOneWaiterAtATimeHaveItsTurn) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 500;
  /// Blocks until its turn.
  class Blocking final : public Waiter {
   public:
    void post(Signal signal) noexcept override {
      const std::scoped_lock guard(mutex_);
      turn_ = turn_ || signal == Signal::turn;
      arrived_.notify_one();
    }
    void drop() override {}
    void wait_for_turn() {
      std::unique_lock guard(mutex_);
      arrived_.wait(guard, [&] { return turn_; });
    }

   private:
    std::mutex mutex_;
    std::condition_variable arrived_;
    bool turn_ = false;
  };
  int turns = 0;  // guarded by the turn: two at a time would be a race
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < kTimes; ++n) {
        Blocking waiter;
        target_->enter(waiter);
        waiter.wait_for_turn();
        ++turns;
        target_->leave(waiter);
        target_->wake();
        static_cast<void>(target_->view({}));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, kThreads * kTimes);
}

}  // namespace
}  // namespace holdfast::engine::target_test
