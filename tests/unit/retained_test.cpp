// SPDX-License-Identifier: Apache-2.0
// What is retained for the queue, and what readers share: who has a claim on which tenancy. Under load it is in the
// integration tests.
#include <thread>

#include "kinds/kinds.hpp"
#include "lock/hold/hold_release.hpp"
#include "target_fixture.hpp"

namespace holdfast::engine::retained_test {
namespace {

using From = Target::Joining::From;

TEST_F(TargetTest, HasNothingToPassOnWhileNobodyWaits) {
  EXPECT_EQ(join(From::queue), nullptr);
  target_->enter(first_);
  EXPECT_FALSE(target_->leave(first_).has_value());
}

/// Whose tenure has just begun, and lasts for the whole test.
class RetainedTest : public TargetTest {
 protected:
  RetainedTest() {
    target_->set_tenancy(*held_, 0);
    target_->enter(first_);
    first_.signals();
  }
  ~RetainedTest() override { client_.watchdog.drop_all(); }
  bool retain() { return target_->retain(*held_->first_claim()); }

  const std::shared_ptr<Tenancy> held_ = hold(-1s);
};

TEST_F(RetainedTest, IsForWhoeverWaitsWhoHasTheSameTenancy) {
  const std::shared_ptr<Claim> claim = held_->first_claim();
  ASSERT_TRUE(retain());
  EXPECT_EQ(claim->state(), HoldState::released);
  EXPECT_EQ(claim->known_outcome(), ReleaseOutcome::released);
  EXPECT_FALSE(held_->ended()) << "the server is not told, and it is renewed as before";
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_FALSE(target_->view({}).held_here);

  const std::shared_ptr<Claim> next = join(From::queue);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(&next->tenancy(), held_.get());
  EXPECT_TRUE(target_->view({}).held_here);
  EXPECT_EQ(claim->state(), HoldState::released) << "what becomes of it now is no concern of the first";
  EXPECT_EQ(join(From::queue), nullptr);
  EXPECT_FALSE(target_->leave(first_).has_value());
}

TEST_F(RetainedTest, NeedsSomebodyWhoWaits) {
  target_->leave(first_);
  EXPECT_FALSE(retain());
  EXPECT_EQ(held_->first_claim()->state(), HoldState::held);
}

TEST_F(TargetTest, RetainsNothingBehindTheEndOfItsTenure) {
  const std::shared_ptr<Tenancy> held = hold(1s);
  target_->set_tenancy(*held, 0);
  target_->enter(first_);
  EXPECT_FALSE(target_->retain(*held->first_claim())) << "others come first";
  EXPECT_EQ(held->first_claim()->state(), HoldState::held);
}

TEST_F(RetainedTest, IsNotWhatIsSuspect) {
  on_unanswered(*held_, base::Clock::now(), "no reply");
  EXPECT_FALSE(retain()) << "it may be gone";
  EXPECT_EQ(held_->first_claim()->state(), HoldState::suspect);
}

TEST_F(RetainedTest, GoesBackWhenTheLastWaiterLeaves) {
  target_->enter(second_);
  ASSERT_TRUE(retain());
  EXPECT_FALSE(target_->leave(first_).has_value()) << "the second may want it";
  const std::optional<Retained> unwanted = target_->leave(second_);
  ASSERT_TRUE(unwanted.has_value());
  EXPECT_EQ(unwanted->tenancy, held_);
}

TEST_F(RetainedTest, IsOnlyForTheSameRenewedLease) {
  ASSERT_TRUE(retain());
  EXPECT_EQ(join(From::queue, {.length = 9s}), nullptr);
  EXPECT_EQ(join(From::queue, {.length = 10s, .renewed = false}), nullptr);
  EXPECT_EQ(join(From::queue, {.length = 10s, .acks = Acks::all()}), nullptr);
  EXPECT_TRUE(target_->take_retained().has_value());
  EXPECT_FALSE(target_->take_retained().has_value());
}

TEST_F(TargetTest, RetainsNoCapOfWhoHadIt) {
  const std::shared_ptr<Tenancy> held = hold(-1s, {.length = 10s, .renewed = true, .max_hold = 7s});
  target_->set_tenancy(*held, 0);
  target_->enter(first_);
  ASSERT_TRUE(target_->retain(*held->first_claim()));
  EXPECT_FALSE(held->expire(base::Clock::now() + 8500ms)) << "the lease lasts, and the next claim has a cap of its own";
  client_.watchdog.drop_all();
}

TEST_F(RetainedTest, IsGoneWhenTheServerNoLongerHasIt) {
  ASSERT_TRUE(retain());
  on_gone(*held_, base::Clock::now(), base::Clock::now());
  EXPECT_EQ(client_.runtime->reporter().snapshot().lost, 0U) << "nobody had it";
  EXPECT_FALSE(target_->take_retained().has_value());
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake, Signal::wake));
}

TEST_F(RetainedTest, MayBeOvertakenForAMillisecondAfterTheQueueWasServed) {
  ASSERT_TRUE(retain());
  const base::TimePoint before = base::Clock::now();
  std::shared_ptr<Claim> claim = join(From::queue);
  const base::TimePoint served = base::Clock::now();
  ASSERT_NE(claim, nullptr);
  ASSERT_TRUE(target_->retain(*claim));
  claim = join(From::newcomer);
  if (base::Clock::now() < before + 1ms) {
    EXPECT_NE(claim, nullptr);
  }
  if (claim) {
    ASSERT_TRUE(target_->retain(*claim));
  }
  while (base::Clock::now() < served + 2ms) std::this_thread::yield();
  EXPECT_EQ(join(From::newcomer), nullptr) << "now the one who waits is served";
}

TEST_F(RetainedTest, HasTheCapOfWhoeverTakesIt) {
  ASSERT_TRUE(retain());
  const std::shared_ptr<Claim> capped = join(From::queue, {.length = 10s, .max_hold = 500ms});
  ASSERT_NE(capped, nullptr);
  EXPECT_FALSE(capped->endless());
  EXPECT_LE(capped->valid_for(), Duration(500ms));
  EXPECT_FALSE(target_->retain(*capped)) << "too little is left of it";
}

/// Two permits of this client, whose tenure has just begun, and somebody who waits.
class RetainedPermitTest : public TargetTest {
 protected:
  RetainedPermitTest() {
    target_ = targets_->target({"gpus"}, kinds::kLeasedSemaphore);
    target_->enter(first_);
    target_->enter(second_);
    first_.signals();
  }
  ~RetainedPermitTest() override { client_.watchdog.drop_all(); }
  std::shared_ptr<Tenancy> permit(Duration age) {
    std::shared_ptr<Tenancy> granted = hold(age);
    target_->set_tenancy(*granted, 0);
    return granted;
  }
};

TEST_F(RetainedPermitTest, IsOneAtATime) {
  const std::shared_ptr<Tenancy> one = permit(-1s), other = permit(-1s);
  ASSERT_TRUE(target_->retain(*one->first_claim()));
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_FALSE(target_->retain(*other->first_claim()));
  EXPECT_EQ(other->first_claim()->state(), HoldState::held);
  const std::shared_ptr<Claim> next = join(From::queue);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(&next->tenancy(), one.get());
  EXPECT_EQ(join(From::queue), nullptr);
  EXPECT_TRUE(target_->retain(*other->first_claim()));
  target_->leave(second_);
  EXPECT_EQ(&*target_->leave(first_)->tenancy, other.get());
}

TEST_F(RetainedPermitTest, IsNotPassedOnLongerThanATenureAfterItsGrantWhateverElseIsGranted) {
  const std::shared_ptr<Tenancy> old = permit(1s), fresh = permit(-1s);
  EXPECT_FALSE(target_->retain(*old->first_claim()));
  EXPECT_TRUE(target_->retain(*fresh->first_claim()));
  target_->leave(second_);
  target_->leave(first_);
}

TEST_F(RetainedPermitTest, IsPassedOnAsLongAsBeforeWhenNoneIsLeftSinceCallersHereMayHaveThem) {
  const std::shared_ptr<Tenancy> held = permit(-1s);
  target_->begin_release();
  target_->end_release({ReleaseOutcome::released, 0}, {});
  target_->saw_other(false);
  const std::shared_ptr<Tenancy> next = permit(0s);
  const base::TimePoint until = base::Clock::now() + 3ms;  // past a tenure that began with this one
  while (base::Clock::now() < until) std::this_thread::yield();
  EXPECT_TRUE(target_->retain(*held->first_claim()));
  target_->leave(second_);
  target_->leave(first_);
}

TEST_F(RetainedPermitTest, IsAskedForWithoutAPauseBehindItsReleaseSinceOthersCanHaveOneToo) {
  const std::shared_ptr<Tenancy> held = permit(1s);
  target_->begin_release();
  target_->end_release({ReleaseOutcome::released, 1}, {});
  const TargetView view = target_->view({});
  EXPECT_EQ(view.not_before, base::TimePoint());
  EXPECT_EQ(view.others, 1);
  target_->leave(second_);
  target_->leave(first_);
}

TEST_F(RetainedPermitTest, IsGoneWhenTheServerNoLongerHasItAndNotWhenAnotherIs) {
  const std::shared_ptr<Tenancy> one = permit(-1s), other = permit(-1s);
  ASSERT_TRUE(target_->retain(*one->first_claim()));
  target_->forget(*other);
  EXPECT_TRUE(target_->take_retained().has_value());
  ASSERT_TRUE(target_->retain(*other->first_claim()));
  target_->forget(*other);
  EXPECT_FALSE(target_->take_retained().has_value());
}

TEST_F(TargetTest, PassesOnWhatNobodyHoldsWithinATenureToWhoeverWantsAsMany) {
  target_ = targets_->target({"slots"}, kinds::kSemaphore);
  const LeaseTerms lease{.length = 10s};
  const auto release = [&](std::uint32_t permits) {
    return pass_on(client_.runtime, target_, lease, {wire::Mode::exclusive, permits});
  };
  const auto join_for = [&](std::uint32_t permits) {
    return target_->join({{wire::Mode::exclusive, permits}, lease, {}, From::queue});
  };
  EXPECT_FALSE(release(2)) << "nobody waits";
  target_->enter(first_);
  target_->enter(second_);
  first_.signals();
  EXPECT_FALSE(release(2)) << "the server has granted nothing yet";
  target_->set_tenancy(*hold(-1s), 0);
  EXPECT_TRUE(release(2));
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
  EXPECT_EQ(join_for(1), nullptr);
  const std::shared_ptr<Claim> taken = join_for(2);
  ASSERT_NE(taken, nullptr);
  let_stand(*taken);
  EXPECT_THAT(first_.signals(), IsEmpty()) << "nothing has become free";
  EXPECT_EQ(join_for(2), nullptr);
  target_->leave(first_);
  target_->leave(second_);
}

// --- readers ---

/// One of this client reads. Granted at an age below zero, its tenure lasts for the whole test.
class SharedTest : public TargetTest {
 protected:
  static constexpr wire::Ask kReads{wire::Mode::shared};

  ~SharedTest() override { client_.watchdog.drop_all(); }
  std::shared_ptr<Tenancy> granted(Duration age, std::int64_t listeners) {
    const LeaseTerms terms{.length = 10s};
    const std::shared_ptr<Tenancy> tenancy =
        lock_->make_tenancy(client_.runtime, wire::Owner{"client:1"}, kReads, base::Clock::now() - age, terms, {});
    lock_->set_tenancy(*tenancy, listeners);
    return tenancy;
  }
  std::shared_ptr<Claim> join(From from, wire::Ask ask = kReads) {
    const LeaseTerms terms{.length = 10s};
    return lock_->join({ask, terms, {}, from});
  }

  const std::shared_ptr<KeyTarget> lock_ = targets_->target({"orders"}, kinds::kReadWriteLock);
};

TEST_F(SharedTest, IsJoinedByReadersOnly) {
  const auto reads = granted(-1s, 0);
  EXPECT_FALSE(lock_->view(kReads).held_here);
  EXPECT_TRUE(lock_->view({}).held_here) << "a writer waits";
  EXPECT_EQ(join(From::newcomer, {}), nullptr);
  const std::shared_ptr<Claim> beside = join(From::newcomer);
  ASSERT_NE(beside, nullptr);
  EXPECT_EQ(&beside->tenancy(), reads.get());
}

TEST_F(SharedTest, EndsForOneAndStaysForTheOther) {
  const auto reads = granted(-1s, 0);
  const std::shared_ptr<Claim> beside = join(From::newcomer);
  Ending ending;
  EXPECT_EQ(reads->first_claim()->begin_release(ending), Claim::Release::left);
  EXPECT_EQ(reads->first_claim()->state(), HoldState::released);
  EXPECT_EQ(beside->state(), HoldState::held);
  EXPECT_FALSE(reads->ended());
  on_gone(*reads, base::Clock::now(), base::Clock::now());
  EXPECT_EQ(reads->first_claim()->loss_reason(), std::nullopt) << "it had left";
  EXPECT_EQ(beside->loss_reason(), LossReason::taken);
  EXPECT_EQ(client_.runtime->reporter().snapshot().lost, 1U);
}

TEST_F(SharedTest, IsNotJoinedByNewcomersWhileSomebodyWaits) {
  const auto reads = granted(-1s, 0);
  lock_->enter(first_);
  EXPECT_EQ(join(From::newcomer), nullptr) << "a writer may wait";
  EXPECT_NE(join(From::queue), nullptr) << "a reader whose turn it is";
  lock_->leave(first_);
}

TEST_F(SharedTest, IsJoinedPastReadersWhoseTurnIsOnItsWay) {
  const auto reads = granted(-1s, 0);
  FakeWaiter reader(true);
  lock_->enter(reader);
  EXPECT_NE(join(From::newcomer), nullptr);
  lock_->enter(first_);
  EXPECT_EQ(join(From::newcomer), nullptr) << "a writer waits";
  lock_->leave(reader);
  EXPECT_EQ(join(From::newcomer), nullptr) << "and still does";
  lock_->leave(first_);
  EXPECT_NE(join(From::newcomer), nullptr);
}

TEST_F(SharedTest, IsNotJoinedForEver) {
  const auto reads = granted(1s, 0);
  EXPECT_EQ(join(From::newcomer), nullptr) << "the server is to say who else waits";
  EXPECT_FALSE(lock_->view(kReads).held_here);
}

TEST_F(SharedTest, IsNotJoinedBehindItsTenureIfOthersListenAndReadersHoldBackAWhile) {
  const auto reads = granted(10ms, 1);
  EXPECT_EQ(join(From::newcomer), nullptr);
  const TargetView view = lock_->view(kReads);
  EXPECT_FALSE(view.held_here) << "it asks the server at last";
  EXPECT_GT(view.not_before, base::Clock::now());
  EXPECT_LT(view.not_before, base::Clock::now() + 1s);
}

TEST_F(SharedTest, StillKnowsWhoListensWhenAnEarlierOneHasEndedBesideIt) {
  const auto earlier = granted(1s, 0);
  const auto later = granted(10ms, 1);
  lock_->begin_release();
  lock_->end_release({ReleaseOutcome::released, 0}, earlier->granted_at());
  EXPECT_EQ(join(From::newcomer), nullptr) << "a release beside others tells nobody";
}

TEST_F(SharedTest, IsNotForAWriterWhenTheLastReaderHasLeftIt) {
  const auto reads = granted(-1s, 0);
  lock_->enter(first_);
  ASSERT_TRUE(lock_->retain(*reads->first_claim()));
  EXPECT_EQ(join(From::queue, {}), nullptr) << "at the server it is readers'";
  EXPECT_NE(join(From::queue), nullptr);
  lock_->leave(first_);
}

TEST_F(SharedTest, WakesTheQueueWhenItEndsThoughThereIsALaterOne) {
  const auto earlier = granted(-1s, 0);
  const auto later = granted(-1s, 0);
  lock_->enter(first_);
  first_.signals();
  lock_->forget(*earlier);
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake)) << "a writer may have waited for that alone";
  lock_->leave(first_);
}

TEST_F(SharedTest, IsNotCappedByWhoJoins) {
  const auto reads = granted(-1s, 0);
  const LeaseTerms capped{.length = 10s, .max_hold = 1s};
  EXPECT_EQ(lock_->join({kReads, capped, {}, From::newcomer}), nullptr);
}

}  // namespace
}  // namespace holdfast::engine::retained_test
