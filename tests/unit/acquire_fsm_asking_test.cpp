// SPDX-License-Identifier: Apache-2.0
// The acquire loop where nobody may tell of a release, and where several servers vote.
#include <chrono>

#include <gtest/gtest.h>

#include "acquire_story.hpp"

namespace holdfast::engine::acquire_fsm_asking_test {
namespace {

AcquireTerms asking() {
  AcquireTerms terms = unlimited();
  terms.poll = PollTerms{.first = 10ms, .longest = 80ms};
  return terms;
}

TEST(AcquireFsmAsking, AsksLessAndLessOften) {
  AcquireStory story(asking());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(0ms, busy_unsubscribed(30s)), "attempt subscribe timeout=3000ms") << "Holdfast's own may tell";
  // With the jitter at its lower end half of each: 10, 20, 40, 80, 80 ms.
  EXPECT_EQ(story.reply(0ms, busy(30s)), "wait until=5ms");
  EXPECT_EQ(story.time(5ms, kWarm), "attempt timeout=3000ms");
  EXPECT_FALSE(story.fsm().safety_polling()) << "asking is no sign of a lost message here";
  EXPECT_EQ(story.reply(5ms, busy(30s)), "wait until=15ms");
  story.time(15ms, kWarm);
  EXPECT_EQ(story.reply(15ms, busy(30s)), "wait until=35ms");
  story.time(35ms, kWarm);
  EXPECT_EQ(story.reply(35ms, busy(30s)), "wait until=75ms");
  story.time(75ms, kWarm);
  EXPECT_EQ(story.reply(75ms, busy(30s)), "wait until=115ms");
}

TEST(AcquireFsmAsking, IsWokenByAMessageAllTheSame) {
  AcquireStory story(asking());
  story.start();
  story.turn(0ms, kWarm);
  EXPECT_EQ(story.reply(0ms, busy(30s)), "wait until=5ms");
  EXPECT_EQ(story.wake(1ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(2ms, granted()), "finish granted");
}

TEST(AcquireFsmAsking, SubscribesNeverWhereNobodyTells) {
  AcquireTerms terms = unlimited();
  terms.listens = false;
  terms.poll = PollTerms{1ms, 4ms, 2, PollTerms::Spread::added};
  AcquireStory story(terms);
  story.start();
  EXPECT_EQ(story.turn(0ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(0ms, busy_unsubscribed(30s)), "wait until=1ms") << "no second attempt at once";
  EXPECT_EQ(story.time(1ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1ms, busy_unsubscribed(30s)), "wait until=3ms");
  EXPECT_EQ(story.time(3ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(3ms, busy_unsubscribed(1ms)), "wait until=6ms") << "the end of the lease comes first";
  EXPECT_FALSE(story.fsm().safety_polling());
}

Attempt cannot_subscribe(Attempt attempt) {
  attempt.cannot_subscribe = true;
  return attempt;
}

TEST(AcquireFsmAsking, GoesOnWithoutTheChannelWhenItMayNotSubscribe) {
  AcquireStory story(asking());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(0ms, busy_unsubscribed(30s)), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(2ms, cannot_subscribe(busy_unsubscribed(30s))), "wait until=7ms");
  // It may have been permitted meanwhile; while it is known to be refused, the lane leaves it out.
  EXPECT_EQ(story.time(7ms), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(8ms, cannot_subscribe(busy_unsubscribed(30s))), "wait until=18ms");
  EXPECT_EQ(story.time(18ms), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(19ms, busy(30s)), "wait until=39ms");
  EXPECT_EQ(story.time(39ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsmAsking, WaitsForASubscriptionThatIsUnderWayElsewhere) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(0ms, busy_unsubscribed(30s)), "attempt subscribe timeout=3000ms");
  Attempt subscribing = busy_unsubscribed(30s);
  subscribing.subscribing = true;
  const std::string waits = story.reply(1ms, subscribing);
  EXPECT_TRUE(waits.starts_with("wait until=")) << waits << ": it is not asked again at once";
  EXPECT_EQ(story.wake(2ms, kWarm), "attempt timeout=3000ms") << "it stands: it may have been released meanwhile";
  EXPECT_EQ(story.reply(3ms, granted()), "finish granted");
}

TEST(AcquireFsmAsking, FailsWithoutTheChannelWhereOthersOnlyTell) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(0ms, busy_unsubscribed(30s));
  EXPECT_EQ(story.reply(1ms, refused(Errc::denied, "SUBSCRIBE x: NOPERM")), "finish denied (SUBSCRIBE x: NOPERM)");
}

TEST(AcquireFsmAsking, BearsAChannelThatIsRefusedForAMoment) {
  for (const AcquireTerms& terms : {asking(), unlimited()}) {
    AcquireStory story(terms);
    story.start();
    story.turn(0ms);
    EXPECT_EQ(story.reply(0ms, busy_unsubscribed(30s)), "attempt subscribe timeout=3000ms");
    EXPECT_EQ(story.reply(1ms, transient("SUBSCRIBE x: BUSY")), "wait until=11ms");
    EXPECT_EQ(story.time(11ms), "attempt subscribe timeout=3000ms");
  }
}

TEST(AcquireFsmVotes, PauseDeafAfterASplitVote) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms, kWarm);
  Attempt split = busy(30s);
  split.retry_after = 7ms;
  EXPECT_EQ(story.reply(1ms, split), "pause until=8ms");
  EXPECT_EQ(story.time(8ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsmVotes, PauseNoLongerThanTheLimit) {
  AcquireStory story(limited(5ms));
  story.start();
  story.turn(0ms, kWarm);
  Attempt split = busy(30s);
  split.retry_after = 7ms;
  split.cause = "1 of 3";
  EXPECT_EQ(story.reply(1ms, split), "pause until=5ms");
  EXPECT_EQ(story.time(5ms, kWarm), "finish timed_out (1 of 3)");
}

TEST(AcquireFsmVotes, NameWhatStoodInTheWay) {
  Attempt taken = busy(30s);
  taken.cause = "\"b\" is held";
  AcquireStory once_story(once());
  once_story.start();
  once_story.turn(0ms);
  EXPECT_EQ(once_story.reply(1ms, taken), "finish busy (\"b\" is held)");
  AcquireStory story(limited(100ms));
  story.start();
  story.turn(0ms, kWarm);
  EXPECT_EQ(story.reply(1ms, taken), "wait until=100ms");
  EXPECT_EQ(story.time(100ms, kWarm), "finish timed_out (\"b\" is held)");
}

}  // namespace
}  // namespace holdfast::engine::acquire_fsm_asking_test
