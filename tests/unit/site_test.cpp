// One lock name inside one client: who is next, who is woken, who holds it, and the threads' levels.
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "site_fixture.hpp"

namespace holdfast::engine {
namespace {

TEST_F(SiteTest, KnowsTheCallersNameAndTheOneOnTheWire) {
  EXPECT_EQ(site_->name(), "orders");
  EXPECT_EQ(site_->names().key, "app:orders");
  EXPECT_EQ(&site_->plan(), &kinds::kLock);
}

// --- the queue ---

TEST_F(SiteTest, GivesTheFirstWaiterItsTurnAtOnce) {
  site_->enter(first_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn));
}

TEST_F(SiteTest, LetsTheOthersWaitAndGivesThemTheirTurnsInOrder) {
  site_->enter(first_);
  site_->enter(second_);
  site_->enter(third_);
  EXPECT_THAT(second_.signals(), IsEmpty());
  EXPECT_THAT(third_.signals(), IsEmpty());
  site_->leave(first_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(third_.signals(), IsEmpty());
  site_->leave(second_);
  EXPECT_THAT(third_.signals(), ElementsAre(Signal::turn));
}

TEST_F(SiteTest, KeepsTheOrderWhenAWaiterLeavesFromTheMiddle) {
  site_->enter(first_);
  site_->enter(second_);
  site_->enter(third_);
  site_->leave(second_);
  EXPECT_THAT(third_.signals(), IsEmpty());
  site_->leave(first_);
  EXPECT_THAT(third_.signals(), ElementsAre(Signal::turn));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(SiteTest, GivesNoSecondTurnToTheHeadWhenAnotherLeaves) {
  site_->enter(first_);
  site_->enter(second_);
  first_.signals();
  site_->leave(second_);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(SiteTest, PostsNothingToAWaiterThatHasLeft) {
  site_->enter(first_);
  site_->leave(first_);
  first_.signals();
  site_->wake();
  site_->close();
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(SiteTest, StartsAnewAfterTheQueueHasRunEmpty) {
  site_->enter(first_);
  site_->leave(first_);
  site_->enter(second_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
  site_->leave(second_);
  site_->enter(first_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::turn, Signal::turn));
}

TEST_F(SiteTest, BearsThatAWaiterLeavesWhoIsNotThere) {
  site_->leave(first_);
  site_->enter(second_);
  site_->leave(first_);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::turn));
}

// --- wakes ---

TEST_F(SiteTest, WakesOnlyTheHead) {
  site_->enter(first_);
  site_->enter(second_);
  first_.signals();
  site_->wake();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(SiteTest, IsWokenByMessagesWhileItUsesItsChannel) {
  site_->enter(first_);
  first_.signals();
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), IsEmpty());
  Target::Use use = site_->begin_use(waiter_);
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message));
  subscriptions_->on_message("another channel");
  EXPECT_THAT(first_.signals(), IsEmpty());
  use.reset();
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(SiteTest, CanBeGoneWhenAMessageComes) {
  const Target::Use use = site_->begin_use(waiter_);
  site_.reset();
  subscriptions_->on_message(channel_);
}

TEST_F(SiteTest, KeepsItsChannelAsLongAsItIsUsed) {
  Target::Use use = site_->begin_use(waiter_);
  subscriptions_->on_subscribed(channel_);
  const base::TimePoint later = base::Clock::now() + 1h;
  EXPECT_THAT(subscriptions_->take_idle(later), IsEmpty());
  use.reset();
  EXPECT_THAT(subscriptions_->take_idle(later), ElementsAre(channel_));
}

// --- what it tells the acquire loop ---

TEST_F(SiteTest, SeesWhetherItsChannelIsSubscribed) {
  EXPECT_FALSE(site_->subscribed(waiter_));
  subscriptions_->on_subscribed("another channel");
  EXPECT_FALSE(site_->subscribed(waiter_));
  subscriptions_->on_subscribed(channel_);
  EXPECT_TRUE(site_->subscribed(waiter_));
  subscriptions_->on_disconnected();
  EXPECT_FALSE(site_->subscribed(waiter_));
}

TEST_F(SiteTest, SeesAHoldThatStands) {
  EXPECT_FALSE(site_->view().held_here);
  const std::shared_ptr<HeldLock> held = hold();
  site_->set_holder(held);
  EXPECT_TRUE(site_->view().held_here);
  site_->clear_holder(*held);
  EXPECT_FALSE(site_->view().held_here);
}

TEST_F(SiteTest, SeesNoHoldWhoseTimeIsOver) {
  const std::shared_ptr<HeldLock> held = hold(11s);
  site_->set_holder(held);
  EXPECT_FALSE(site_->view().held_here);
}

TEST_F(SiteTest, SeesNoHoldThatNobodyHasAnyMore) {
  site_->set_holder(hold());
  EXPECT_FALSE(site_->view().held_here);
}

TEST_F(SiteTest, WakesTheHeadWhenTheHoldEnds) {
  const std::shared_ptr<HeldLock> held = hold();
  site_->set_holder(held);
  site_->enter(first_);
  site_->enter(second_);
  first_.signals();
  site_->clear_holder(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(SiteTest, IsNotMovedByTheEndOfAnEarlierHold) {
  const std::shared_ptr<HeldLock> earlier = hold();
  const std::shared_ptr<HeldLock> held = hold();
  site_->set_holder(earlier);
  site_->set_holder(held);
  site_->enter(first_);
  first_.signals();
  site_->clear_holder(*earlier);
  EXPECT_TRUE(site_->view().held_here);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(SiteTest, WakesNobodyTwiceForTheSameHold) {
  const std::shared_ptr<HeldLock> held = hold();
  site_->set_holder(held);
  site_->enter(first_);
  first_.signals();
  site_->clear_holder(*held);
  site_->clear_holder(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
}

// --- what is retained for the queue: under load it is in the integration tests ---

TEST_F(SiteTest, HasNothingToPassOnWhileNobodyWaits) {
  const LeaseTerms terms{.length = 10s, .renewed = true, .max_hold = {}};
  EXPECT_EQ(site_->take_retained({client_.runtime, terms, {}}, Handoff::From::queue), nullptr);
  site_->enter(first_);
  EXPECT_FALSE(site_->leave(first_).has_value());
}

/// Its tenure has just begun, and lasts for the whole test.
TEST_F(SiteTest, RetainsWhatIsReleasedForWhoeverWaits) {
  const std::shared_ptr<HeldLock> held = hold(-1s);
  site_->set_holder(held);
  EXPECT_FALSE(site_->retain(*held)) << "nobody waits";
  EXPECT_FALSE(held->ended());
  site_->enter(first_);
  first_.signals();
  ASSERT_TRUE(site_->retain(*held));
  EXPECT_TRUE(held->ended());
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_TRUE(site_->has(held->owner()));
  EXPECT_FALSE(site_->view().held_here);

  const LeaseTerms terms{.length = 10s, .renewed = true, .max_hold = {}};
  const std::shared_ptr<HeldLock> next = site_->take_retained({client_.runtime, terms, {}}, Handoff::From::queue);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->owner(), held->owner());
  EXPECT_TRUE(site_->view().held_here);
  EXPECT_FALSE(site_->leave(first_).has_value());
  client_.watchdog.drop_all();
}

TEST_F(SiteTest, ReturnsWhatWasRetainedWhenTheLastWaiterLeaves) {
  const std::shared_ptr<HeldLock> held = hold(-1s);
  site_->set_holder(held);
  site_->enter(first_);
  site_->enter(second_);
  ASSERT_TRUE(site_->retain(*held));
  EXPECT_FALSE(site_->leave(first_).has_value()) << "the second may want it";
  const std::optional<Retained> unwanted = site_->leave(second_);
  ASSERT_TRUE(unwanted.has_value());
  EXPECT_EQ(unwanted->owner, held->owner());
  EXPECT_FALSE(site_->has(held->owner()));
}

// --- holds of threads ---

TEST_F(SiteTest, CountsTheLevelsOfAThread) {
  EXPECT_EQ(site_->threads().find(7).count, 0);
  EXPECT_EQ(site_->threads().find(7).held, nullptr);
  const std::shared_ptr<HeldLock> held = hold();
  site_->threads().own(7, held);
  EXPECT_EQ(site_->threads().find(7).count, 1);
  site_->threads().reenter(7);
  site_->threads().reenter(7);
  EXPECT_EQ(site_->threads().find(7).count, 3);
  EXPECT_EQ(site_->threads().find(7).held, held);
}

TEST_F(SiteTest, TellsTheLevelsBeforeEachStepUpAndForgetsTheThreadAtTheLast) {
  const std::shared_ptr<HeldLock> held = hold();
  site_->threads().own(7, held);
  site_->threads().reenter(7);
  EXPECT_EQ(site_->threads().leave_level(7).count, 2);
  EXPECT_EQ(site_->threads().find(7).count, 1);
  const ThreadHolds::Entry last = site_->threads().leave_level(7);
  EXPECT_EQ(last.count, 1);
  EXPECT_EQ(last.held, held);
  EXPECT_EQ(site_->threads().find(7).count, 0);
  EXPECT_EQ(site_->threads().find(7).held, nullptr);
}

TEST_F(SiteTest, KnowsNoLevelsOfAThreadThatOwnsNothing) {
  site_->threads().reenter(7);
  EXPECT_EQ(site_->threads().find(7).count, 0);
  EXPECT_EQ(site_->threads().leave_level(7).count, 0);
  EXPECT_EQ(site_->threads().leave_level(7).held, nullptr);
}

TEST_F(SiteTest, KeepsThreadsApart) {
  const std::shared_ptr<HeldLock> lost = hold();
  const std::shared_ptr<HeldLock> held = hold();
  site_->threads().own(7, lost);  // a thread whose hold was lost still has to give it back
  site_->threads().own(8, held);
  site_->threads().reenter(8);
  EXPECT_EQ(site_->threads().find(7).count, 1);
  EXPECT_EQ(site_->threads().leave_level(7).held, lost);
  EXPECT_EQ(site_->threads().find(8).count, 2);
}

// --- closing ---

TEST_F(SiteTest, TellsEveryWaiterThatTheClientIsClosed) {
  site_->enter(first_);
  site_->enter(second_);
  first_.signals();
  site_->close();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::closed));
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::closed));
}

TEST_F(SiteTest, ForgetsTheThreadsHoldsWhenTheClientIsClosed) {
  // Else a thread that never unlocks would keep the client alive for ever.
  std::shared_ptr<HeldLock> held = hold();
  const std::weak_ptr<HeldLock> watch = held;
  site_->threads().own(7, std::move(held));
  site_->threads().forget_all();
  EXPECT_EQ(site_->threads().find(7).count, 0);
  EXPECT_TRUE(watch.expired());
}

// --- from many threads ---

TEST_F(SiteTest, LetsOneWaiterAtATimeHaveItsTurn) {
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
        site_->enter(waiter);
        waiter.wait_for_turn();
        ++turns;
        site_->leave(waiter);
        site_->wake();
        static_cast<void>(site_->view());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, kThreads * kTimes);
}

}  // namespace
}  // namespace holdfast::engine
