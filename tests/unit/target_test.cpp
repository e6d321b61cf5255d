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
  target_->close();
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
  Target::Use use = target_->begin_use(waiter_);
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message));
  subscriptions_->on_message("another channel");
  EXPECT_THAT(first_.signals(), IsEmpty());
  use.reset();
  subscriptions_->on_message(channel_);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, CanBeGoneWhenAMessageComes) {
  const Target::Use use = target_->begin_use(waiter_);
  target_.reset();
  subscriptions_->on_message(channel_);
}

TEST_F(TargetTest, KeepsItsChannelAsLongAsItIsUsed) {
  Target::Use use = target_->begin_use(waiter_);
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
  EXPECT_FALSE(target_->view().held_here);
  const std::shared_ptr<Holding> held = hold();
  target_->set_holder(held);
  EXPECT_TRUE(target_->view().held_here);
  target_->clear_holder(*held);
  EXPECT_FALSE(target_->view().held_here);
}

TEST_F(TargetTest, SeesNoHoldWhoseTimeIsOver) {
  const std::shared_ptr<Holding> held = hold(11s);
  target_->set_holder(held);
  EXPECT_FALSE(target_->view().held_here);
}

TEST_F(TargetTest, SeesNoHoldThatNobodyHasAnyMore) {
  target_->set_holder(hold());
  EXPECT_FALSE(target_->view().held_here);
}

TEST_F(TargetTest, WakesTheHeadWhenTheHoldEnds) {
  const std::shared_ptr<Holding> held = hold();
  target_->set_holder(held);
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  target_->clear_holder(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_THAT(second_.signals(), IsEmpty());
}

TEST_F(TargetTest, IsNotMovedByTheEndOfAnEarlierHold) {
  const std::shared_ptr<Holding> earlier = hold();
  const std::shared_ptr<Holding> held = hold();
  target_->set_holder(earlier);
  target_->set_holder(held);
  target_->enter(first_);
  first_.signals();
  target_->clear_holder(*earlier);
  EXPECT_TRUE(target_->view().held_here);
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, WakesNobodyTwiceForTheSameHold) {
  const std::shared_ptr<Holding> held = hold();
  target_->set_holder(held);
  target_->enter(first_);
  first_.signals();
  target_->clear_holder(*held);
  target_->clear_holder(*held);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
}

// --- what is retained for the queue: under load it is in the integration tests ---

TEST_F(TargetTest, HasNothingToPassOnWhileNobodyWaits) {
  const LeaseTerms terms{.length = 10s, .renewed = true, .max_hold = {}};
  EXPECT_EQ(target_->take_retained({client_.runtime, terms, {}}, Handoff::From::queue), nullptr);
  target_->enter(first_);
  EXPECT_FALSE(target_->leave(first_).has_value());
}

/// Its tenure has just begun, and lasts for the whole test.
TEST_F(TargetTest, RetainsWhatIsReleasedForWhoeverWaits) {
  const std::shared_ptr<Holding> held = hold(-1s);
  target_->set_holder(held);
  EXPECT_FALSE(target_->retain(*held)) << "nobody waits";
  EXPECT_FALSE(held->ended());
  target_->enter(first_);
  first_.signals();
  ASSERT_TRUE(target_->retain(*held));
  EXPECT_TRUE(held->ended());
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_TRUE(target_->has(held->owner()));
  EXPECT_FALSE(target_->view().held_here);

  const LeaseTerms terms{.length = 10s, .renewed = true, .max_hold = {}};
  const std::shared_ptr<Holding> next = target_->take_retained({client_.runtime, terms, {}}, Handoff::From::queue);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->owner(), held->owner());
  EXPECT_TRUE(target_->view().held_here);
  EXPECT_FALSE(target_->leave(first_).has_value());
  client_.watchdog.drop_all();
}

TEST_F(TargetTest, RetainsNothingBehindTheEndOfItsTenure) {
  const std::shared_ptr<Holding> held = hold(1s);
  target_->set_holder(held);
  target_->enter(first_);
  EXPECT_FALSE(target_->retain(*held)) << "others come first";
  EXPECT_FALSE(held->ended());
}

TEST_F(TargetTest, RetainsNothingThatIsSuspect) {
  const std::shared_ptr<Holding> held = hold(-1s);
  target_->set_holder(held);
  target_->enter(first_);
  held->on_unanswered(base::Clock::now(), "no reply");
  EXPECT_FALSE(target_->retain(*held)) << "it may be gone";
  EXPECT_FALSE(held->ended());
}

TEST_F(TargetTest, ReturnsWhatWasRetainedWhenTheLastWaiterLeaves) {
  const std::shared_ptr<Holding> held = hold(-1s);
  target_->set_holder(held);
  target_->enter(first_);
  target_->enter(second_);
  ASSERT_TRUE(target_->retain(*held));
  EXPECT_FALSE(target_->leave(first_).has_value()) << "the second may want it";
  const std::optional<Retained> unwanted = target_->leave(second_);
  ASSERT_TRUE(unwanted.has_value());
  EXPECT_EQ(unwanted->owner, held->owner());
  EXPECT_FALSE(target_->has(held->owner()));
}

// --- holds of threads ---

TEST_F(TargetTest, CountsTheLevelsOfAThread) {
  EXPECT_EQ(target_->threads().find(7).count, 0);
  EXPECT_EQ(target_->threads().find(7).held, nullptr);
  const std::shared_ptr<Holding> held = hold();
  target_->threads().own(7, held);
  EXPECT_EQ(target_->threads().find(7).count, 1);
  target_->threads().reenter(7);
  target_->threads().reenter(7);
  EXPECT_EQ(target_->threads().find(7).count, 3);
  EXPECT_EQ(target_->threads().find(7).held, held);
}

TEST_F(TargetTest, TellsTheLevelsBeforeEachStepUpAndForgetsTheThreadAtTheLast) {
  const std::shared_ptr<Holding> held = hold();
  target_->threads().own(7, held);
  target_->threads().reenter(7);
  EXPECT_EQ(target_->threads().leave_level(7).count, 2);
  EXPECT_EQ(target_->threads().find(7).count, 1);
  const ThreadHolds::Entry last = target_->threads().leave_level(7);
  EXPECT_EQ(last.count, 1);
  EXPECT_EQ(last.held, held);
  EXPECT_EQ(target_->threads().find(7).count, 0);
  EXPECT_EQ(target_->threads().find(7).held, nullptr);
}

TEST_F(TargetTest, KnowsNoLevelsOfAThreadThatOwnsNothing) {
  target_->threads().reenter(7);
  EXPECT_EQ(target_->threads().find(7).count, 0);
  EXPECT_EQ(target_->threads().leave_level(7).count, 0);
  EXPECT_EQ(target_->threads().leave_level(7).held, nullptr);
}

TEST_F(TargetTest, KeepsThreadsApart) {
  const std::shared_ptr<Holding> lost = hold();
  const std::shared_ptr<Holding> held = hold();
  target_->threads().own(7, lost);  // a thread whose hold was lost still has to give it back
  target_->threads().own(8, held);
  target_->threads().reenter(8);
  EXPECT_EQ(target_->threads().leave_level(9).count, 0);
  EXPECT_EQ(target_->threads().find(7).count, 1);
  EXPECT_EQ(target_->threads().leave_level(7).held, lost);
  EXPECT_EQ(target_->threads().find(8).count, 2);
}

// --- closing ---

TEST_F(TargetTest, TellsEveryWaiterThatTheClientIsClosed) {
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  target_->close();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::closed));
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::closed));
}

TEST_F(TargetTest, ForgetsTheThreadsHoldsWhenTheClientIsClosed) {
  // Else a thread that never unlocks would keep the client alive for ever.
  std::shared_ptr<Holding> held = hold();
  const std::weak_ptr<Holding> watch = held;
  target_->threads().own(7, std::move(held));
  target_->threads().forget_all();
  EXPECT_EQ(target_->threads().find(7).count, 0);
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
        static_cast<void>(target_->view());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turns, kThreads * kTimes);
}

}  // namespace
}  // namespace holdfast::engine::target_test
