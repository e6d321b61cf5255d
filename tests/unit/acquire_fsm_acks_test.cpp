// SPDX-License-Identifier: Apache-2.0
// An acquire whose grants are not confirmed as asked for.
#include "acquire_story.hpp"

namespace holdfast::engine::acquire_fsm_acks_test {
namespace {

const std::string kOneOfTwo = "1 of 2 replicas have confirmed it within 1000 ms";

TEST(AcquireFsmWithoutAcks, AskingOnceGivesBackWhatWasNotConfirmed) {
  AcquireStory story(once());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1000ms, not_durable(kOneOfTwo)), "finish durability_not_met undo (" + kOneOfTwo + ")");
}

TEST(AcquireFsmWithoutAcks, AWaitingAcquireAsksAgain) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1000ms, not_durable(kOneOfTwo)), "wait until=1010ms");
  EXPECT_TRUE(story.fsm().unresolved()) << "it must be resolved by the same owner";
  EXPECT_EQ(story.time(1010ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1011ms, granted()), "finish granted");
}

TEST(AcquireFsmWithoutAcks, PatienceEndsIt) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(1000ms, not_durable(kOneOfTwo));
  story.time(1010ms);
  EXPECT_EQ(story.reply(15s, not_durable(kOneOfTwo)), "finish durability_not_met undo (" + kOneOfTwo + ")");
}

TEST(AcquireFsmWithoutAcks, TheLimitIsReportedAsWhatItWas) {
  AcquireStory story(limited(2s));
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1000ms, not_durable(kOneOfTwo)), "wait until=1010ms");
  EXPECT_EQ(story.time(1010ms), "attempt timeout=990ms");
  EXPECT_EQ(story.reply(2000ms, not_durable(kOneOfTwo)), "finish durability_not_met undo (" + kOneOfTwo + ")");
}

TEST(AcquireFsmWithoutAcks, WhoHadWaitedForSomebodyBeforeWaitsForNobodyNow) {
  AcquireStory story(limited(2s));
  story.wait_behind_somebody(30s);
  story.wake(500ms, kWarm);
  story.reply(1500ms, not_durable(kOneOfTwo));
  story.time(1510ms, kWarm);
  EXPECT_EQ(story.reply(2000ms, not_durable(kOneOfTwo)), "finish durability_not_met undo (" + kOneOfTwo + ")");
}

TEST(AcquireFsmWithoutAcks, WhoFindsItTakenAfterThatHasWaitedForSomebody) {
  AcquireStory story(limited(2s));
  story.start();
  story.turn(0ms);
  story.reply(500ms, not_durable(kOneOfTwo));
  story.time(510ms);
  story.reply(511ms, busy_unsubscribed(30s));
  EXPECT_FALSE(story.fsm().unresolved()) << "a failover has forgotten the grant";
  story.reply(512ms, busy(30s));
  story.time(1512ms, kWarm);
  story.reply(1513ms, busy(30s));
  EXPECT_EQ(story.time(2000ms), "finish timed_out");
}

TEST(AcquireFsmWithoutAcks, ACallerThatGoesAwayLeavesNothingBehind) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(1000ms, not_durable(kOneOfTwo));
  EXPECT_EQ(story.stop(1005ms), "finish cancelled undo");
}

TEST(AcquireFsmWithoutAcks, AskingAGroupOnceDoesNotGoOnEither) {
  AcquireStory story(once());
  story.start();
  story.turn(0ms);
  Attempt group = not_sent("two of three are not durable");
  group.error = Errc::durability_not_met;
  EXPECT_EQ(story.reply(1000ms, group), "finish durability_not_met (two of three are not durable)");
}

}  // namespace
}  // namespace holdfast::engine::acquire_fsm_acks_test
