// A lock between its release and the server's answer: whose messages count, and how long the next ones wait.
#include "site_fixture.hpp"

namespace holdfast::engine {
namespace {

TEST_F(SiteTest, PausesAfterAReleaseThatOthersHeard) {
  const base::TimePoint long_ago = base::Clock::now() - 1s;
  site_->begin_release();
  site_->end_release({ReleaseOutcome::released, 1}, long_ago);
  EXPECT_GT(site_->view().not_before, base::Clock::now() - 10ms);
  EXPECT_TRUE(site_->others_listened());
  site_->heard();
  EXPECT_EQ(site_->view().not_before, base::TimePoint{}) << "somebody came";
}

TEST_F(SiteTest, DoesNotTakeItsOwnWaitersForOthers) {
  const Target::Use use = site_->listen(waiter_);
  site_->begin_release();
  site_->end_release({ReleaseOutcome::released, 1}, base::Clock::now() - 1s);
  EXPECT_EQ(site_->view().not_before, base::TimePoint{});
  EXPECT_FALSE(site_->others_listened());
}

TEST_F(SiteTest, IgnoresItsOwnMessageButAsksAgainIfAnAttemptCameFirst) {
  site_->enter(first_);
  first_.signals();
  site_->begin_release();
  site_->heard();
  EXPECT_THAT(first_.signals(), IsEmpty());
  site_->saw_other(false);
  site_->end_release({ReleaseOutcome::released, 0}, base::Clock::now());
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::wake));
}

/// A waiter pauses after a release of this client's that one other heard of, on a server of either habit.
class OwnMessage : public SiteTest {
 protected:
  OwnMessage() {
    subscriptions_->on_subscribed(channel_);
    site_->enter(first_);
    first_.signals();
    site_->begin_release();
    before_ = site_->heard_so_far();
  }
  ~OwnMessage() override { site_->leave(first_); }
  void reply(std::int64_t told) {
    site_->expect_own(told, before_);
    site_->end_release({ReleaseOutcome::released, site_->others(told)}, base::Clock::now() - 1s);
    first_.signals();
  }
  std::vector<Signal> message() {
    subscriptions_->on_message(channel_);
    return first_.signals();
  }

  Target::Use use_ = site_->begin_use(waiter_);
  std::vector<Site::Heard> before_;
};

TEST_F(OwnMessage, IsIgnoredBehindTheReplyAndTheNextIsHeard) {
  reply(2);
  EXPECT_THAT(message(), IsEmpty());
  EXPECT_GT(site_->view().not_before, base::Clock::now() - 10ms) << "the pause goes on";
  EXPECT_THAT(message(), ElementsAre(Signal::message));
  EXPECT_EQ(site_->view().not_before, base::TimePoint{});
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
  use_ = site_->begin_use(waiter_);
  EXPECT_THAT(message(), ElementsAre(Signal::message));
}

TEST_F(SiteTest, RemembersThatClientsOfAnotherLibraryWantIt) {
  site_->saw_other(false);
  EXPECT_FALSE(site_->view().strangers);
  site_->saw_other(true);
  EXPECT_TRUE(site_->view().strangers);
}

TEST_F(SiteTest, TakesOneMessageForEachReleaseForItsOwnAndHearsTheNext) {
  site_->enter(first_);
  first_.signals();
  site_->begin_release();
  site_->heard();
  EXPECT_THAT(first_.signals(), IsEmpty());
  site_->heard();
  EXPECT_THAT(first_.signals(), ElementsAre(Signal::message)) << "somebody else has released it meanwhile";
  site_->end_release({ReleaseOutcome::released, 0}, base::Clock::now());
  EXPECT_THAT(first_.signals(), IsEmpty());
}

TEST_F(SiteTest, TakesAMessageOfEachOfSeveralLocksForItsOwn) {
  const std::shared_ptr<Site> both = sites_->site({"orders", "stock"}, kinds::kLock);
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

TEST_F(SiteTest, HearsTheMessageThatWasNotItsOwnWhenTheReleaseHasFoundNothing) {
  for (const ReleaseOutcome outcome : {ReleaseOutcome::was_lost, ReleaseOutcome::unknown}) {
    site_->enter(first_);
    first_.signals();
    site_->begin_release();
    site_->heard();
    EXPECT_THAT(first_.signals(), IsEmpty());
    site_->end_release({outcome, 0}, base::Clock::now());
    EXPECT_THAT(first_.signals(), ElementsAre(Signal::message)) << to_string(outcome);
    site_->leave(first_);
  }
}

TEST_F(SiteTest, KnowsThatAClusterCountsOnlyWhoListensAtOneNode) {
  EXPECT_EQ(site_->others(0), 0);
  subscriptions_->on_login(true);
  EXPECT_EQ(site_->others(0), 1);
  subscriptions_->on_subscribed(channel_);
  EXPECT_EQ(site_->others(1), 1) << "we, and one who is not seen";
  subscriptions_->on_login(false);
  EXPECT_EQ(site_->others(1), 0);
}

TEST_F(SiteTest, LetsAReleaseGoFirstButNotForLong) {
  site_->begin_release();
  site_->end_release({ReleaseOutcome::released, 1}, base::Clock::now() - 1s);  // others listen
  site_->begin_release();
  const base::TimePoint now = base::Clock::now();
  EXPECT_GT(site_->view().not_before, now);
  EXPECT_LE(site_->view().not_before, now + 100ms) << "then they ask, and count their patience";
  site_->end_release({ReleaseOutcome::unknown, 0}, now);
}

}  // namespace
}  // namespace holdfast::engine
