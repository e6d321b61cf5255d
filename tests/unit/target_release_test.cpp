// SPDX-License-Identifier: Apache-2.0
// A lock between its release and the server's answer: whose messages count, and how long the next ones wait.
#include "target_fixture.hpp"

namespace holdfast::engine::target_release_test {
namespace {

TEST_F(TargetTest, PausesAfterAReleaseThatOthersHeard) {
  const base::TimePoint long_ago = base::Clock::now() - 1s;
  target_->begin_release();
  target_->end_release({ReleaseOutcome::released, 1}, long_ago);
  EXPECT_GT(target_->view({}).not_before, base::Clock::now() - 10ms);
  EXPECT_TRUE(target_->others_listened());
  target_->heard();
  EXPECT_EQ(target_->view({}).not_before, base::TimePoint{}) << "somebody came";
}

TEST_F(TargetTest, DoesNotTakeItsOwnWaitersForOthers) {
  const Target::Use use = target_->listen(waiter_, first_);
  target_->begin_release();
  target_->end_release({ReleaseOutcome::released, 1}, base::Clock::now() - 1s);
  EXPECT_EQ(target_->view({}).not_before, base::TimePoint{});
  EXPECT_FALSE(target_->others_listened());
}

TEST_F(TargetTest, IgnoresItsOwnMessageButAsksAgainIfAnAttemptCameFirst) {
  target_->enter(first_);
  first_.signals();
  target_->begin_release();
  target_->heard();
  EXPECT_THAT(first_.signals(), IsEmpty());
  target_->saw_other(false);
  target_->end_release({ReleaseOutcome::released, 0}, base::Clock::now());
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
}

/// A waiter pauses after a release of this client's that one other heard of, on a server of either habit.
class OwnMessage : public TargetTest {
 protected:
  OwnMessage() {
    subscriptions_->on_subscribed(channel_);
    target_->enter(first_);
    first_.signals();
    target_->begin_release();
    before_ = target_->heard_so_far();
  }
  ~OwnMessage() override { target_->leave(first_); }
  void reply(std::int64_t told) {
    target_->expect_own(told, before_);
    target_->end_release({ReleaseOutcome::released, target_->others(told)}, base::Clock::now() - 1s);
    first_.signals();
  }
  std::vector<Signal> message() {
    subscriptions_->on_message(channel_);
    return first_.signals();
  }

  Target::Use use_ = target_->begin_use(waiter_, [this](Target::Busy) { target_->heard(); });
  std::vector<KeyTarget::Heard> before_;
};

TEST_F(OwnMessage, IsIgnoredBehindTheReplyAndTheNextIsHeard) {
  reply(2);
  EXPECT_THAT(message(), IsEmpty());
  EXPECT_GT(target_->view({}).not_before, base::Clock::now() - 10ms) << "the pause goes on";
  EXPECT_THAT(message(), ElementsAre(Signal::message));
  EXPECT_EQ(target_->view({}).not_before, base::TimePoint{});
}

TEST_F(OwnMessage, ReachesWhoWaitsHereForAnotherKindWithTheReplyAndNotAgain) {
  const std::shared_ptr<KeyTarget> fenced = targets_->target({"orders"}, kinds::kFencedLock);
  const Target::Use use = fenced->begin_use(waiter_, [&](Target::Busy) { fenced->heard(); });
  fenced->enter(second_);
  second_.signals();
  reply(2);
  EXPECT_THAT(second_.signals(), ElementsAre(Signal::message));
  message();
  EXPECT_THAT(second_.signals(), IsEmpty());
  fenced->leave(second_);
}

TEST_F(OwnMessage, OfAnUndoReachesWhoWaitsHere) {
  reply(2);
  message();
  before_ = target_->heard_so_far();
  target_->expect_own(2, before_);  // of a grant that nobody can take any more
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message));
  EXPECT_THAT(message(), IsEmpty());
}

TEST_F(OwnMessage, IsNotExpectedIfItCameBeforeTheReply) {
  EXPECT_THAT(message(), IsEmpty());
  reply(2);
  EXPECT_THAT(message(), ElementsAre(Signal::message));
}

TEST_F(OwnMessage, IsNotExpectedIfNobodyMayPublish) {
  reply(0);
  EXPECT_THAT(message(), ElementsAre(Signal::message));
}

TEST_F(OwnMessage, IsNotExpectedOnAnotherConnection) {
  reply(2);
  subscriptions_->on_disconnected();
  subscriptions_->on_subscribed(channel_);
  EXPECT_THAT(message(), ElementsAre(Signal::message));
}

/// Idle, but still subscribed: the message passes while nobody listens.
TEST_F(OwnMessage, IsCountedEvenIfNobodyListens) {
  use_.reset();
  EXPECT_THAT(message(), IsEmpty());
  reply(2);
  use_ = target_->begin_use(waiter_, [this](Target::Busy) { target_->heard(); });
  EXPECT_THAT(message(), ElementsAre(Signal::message));
}

TEST_F(TargetTest, RemembersThatClientsOfAnotherLibraryWantIt) {
  target_->saw_other(false);
  EXPECT_FALSE(target_->view({}).strangers);
  target_->saw_other(true);
  EXPECT_TRUE(target_->view({}).strangers);
}

TEST_F(TargetTest, TakesOneMessageForEachReleaseForItsOwnAndHearsTheNext) {
  target_->enter(first_);
  first_.signals();
  target_->begin_release();
  target_->heard();
  EXPECT_THAT(first_.signals(), IsEmpty());
  target_->heard();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message)) << "somebody else has released it meanwhile";
  target_->end_release({ReleaseOutcome::released, 0}, base::Clock::now());
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(TargetTest, TakesAMessageOfEachOfSeveralLocksForItsOwn) {
  const std::shared_ptr<KeyTarget> both = targets_->target({"orders", "stock"}, kinds::kLock);
  both->enter(first_);
  first_.signals();
  both->begin_release();
  both->heard();
  both->heard();
  EXPECT_THAT(first_.signals(), IsEmpty());
  both->heard();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message));
  both->leave(first_);
}

TEST_F(TargetTest, HearsTheMessageThatWasNotItsOwnWhenTheReleaseHasFoundNothing) {
  for (const ReleaseOutcome outcome : {ReleaseOutcome::was_lost, ReleaseOutcome::unknown}) {
    target_->enter(first_);
    first_.signals();
    target_->begin_release();
    target_->heard();
    EXPECT_THAT(first_.signals(), IsEmpty());
    target_->end_release({outcome, 0}, base::Clock::now());
    EXPECT_THAT(first_.signals(), ElementsAre(Signal::message)) << to_string(outcome);
    target_->leave(first_);
  }
}

TEST_F(TargetTest, KnowsThatAClusterCountsOnlyWhoListensAtOneNode) {
  EXPECT_EQ(target_->others(0), 0);
  subscriptions_->on_login(true, false);
  EXPECT_EQ(target_->others(0), 1);
  subscriptions_->on_subscribed(channel_);
  EXPECT_EQ(target_->others(1), 1) << "we, and one who is not seen";
  subscriptions_->on_login(false, false);
  EXPECT_EQ(target_->others(1), 0);
}

TEST_F(TargetTest, KnowsThatAReleaseAtASlotsNextServerIsNotHeardByItsPresentOnes) {
  subscriptions_->on_subscribed(channel_);
  EXPECT_EQ(target_->others(1), 0) << "we";
  EXPECT_EQ(target_->others(1, true), 2) << "somebody there, and perhaps somebody here";
}

TEST_F(TargetTest, LetsAReleaseGoFirstButNotForLong) {
  target_->begin_release();
  target_->end_release({ReleaseOutcome::released, 1}, base::Clock::now() - 1s);  // others listen
  target_->begin_release();
  const base::TimePoint now = base::Clock::now();
  EXPECT_GT(target_->view({}).not_before, now);
  EXPECT_LE(target_->view({}).not_before, now + 100ms) << "then they ask, and count their patience";
  target_->end_release({ReleaseOutcome::unknown, 0}, now);
}

}  // namespace
}  // namespace holdfast::engine::target_release_test
