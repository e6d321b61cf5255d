// The acquire loop among many: who has lost races asks a little later, and who has had the lock lets others come first.
#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include "acquire_story.hpp"

namespace holdfast::engine {
namespace {

/// Waits, after losing this many races.
void lose(AcquireStory& story, int races) {
  story.start();
  story.turn(0ms, kWarm);
  for (int i = 1; i < races; ++i) {
    story.reply(0ms, busy(30s));
    story.wake(0ms, kWarm);
  }
  story.reply(0ms, busy(30s));
}

TEST(AcquireFsmCrowd, AMessageIsFollowedByAnAttemptAtFirst) {
  for (const int races : {1, 2}) {
    AcquireStory story(unlimited());
    lose(story, races);
    EXPECT_EQ(story.message(10ms), "attempt timeout=3000ms") << races << " lost";
  }
}

/// How long after a message the attempt comes, with this many races lost.
Duration spread_after(int races, double jitter) {
  AcquireTerms terms = unlimited();
  terms.jitter = jitter;
  AcquireFsm fsm(terms, kStart);
  fsm.start();
  fsm.on_turn(kStart, kWarm);
  for (int i = 0; i < races; ++i) {
    fsm.on_attempt(kStart, busy(30s));
    if (i + 1 < races) fsm.on_wake(kStart, kWarm);
  }
  const AcquireAction action = fsm.on_message(at(10ms), kWarm);
  EXPECT_EQ(action.kind, AcquireAction::Kind::wait);
  return action.until - at(10ms);
}

TEST(AcquireFsmCrowd, TheMoreRacesAreLostTheWiderTheSpread) {
  for (const double jitter : {0.0, 0.1, 0.37, 0.5, 0.99}) {
    EXPECT_LE(spread_after(3, jitter), 40us);
    EXPECT_LE(spread_after(12, jitter), 400us);
    EXPECT_LE(spread_after(1000, jitter), 2480us) << "below the pause of a busy client, which is 3 ms";
    EXPECT_GE(spread_after(1000, jitter), 0us);
  }
}

TEST(AcquireFsmCrowd, WaitersOfOneMomentAskAtDifferentMoments) {
  std::set<Duration> moments;
  for (int i = 0; i < 64; ++i) moments.insert(spread_after(100, i / 64.0));
  EXPECT_GE(moments.size(), 60U);
  EXPECT_LT(*moments.begin(), 100us) << "the lock does not lie idle";
}

TEST(AcquireFsmCrowd, FurtherMessagesDoNotPutTheAttemptOff) {
  AcquireTerms terms = unlimited();
  terms.jitter = 0.3;
  AcquireStory story(terms);
  lose(story, 100);
  const std::string first = story.message(10ms);
  EXPECT_EQ(first.substr(0, 10), "wait until");
  EXPECT_EQ(story.message(11ms), first);
  EXPECT_EQ(story.time(13ms, kWarm), "attempt timeout=3000ms");
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsmCrowd, AWakeInsideTheClientIsForNobodyElse) {
  AcquireStory story(unlimited());
  lose(story, 100);
  EXPECT_EQ(story.wake(10ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsmCrowd, OthersComeFirst) {
  AcquireStory story(unlimited());
  story.start();
  const TargetView pausing{.subscribed = true, .not_before = at(8ms)};
  EXPECT_EQ(story.turn(5ms, pausing), "wait until=8ms");
  EXPECT_EQ(story.wake(6ms, pausing), "wait until=8ms");
  EXPECT_EQ(story.time(8ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsmCrowd, AWaitForOthersIsBounded) {
  AcquireStory story(limited(4ms));
  story.start();
  const TargetView pausing{.subscribed = true, .not_before = TimePoint::max()};
  EXPECT_EQ(story.turn(0ms, pausing), "wait until=4ms");
  EXPECT_EQ(story.time(4ms, pausing), "finish timed_out");
  AcquireStory endless(unlimited());
  endless.start();
  EXPECT_EQ(endless.turn(0ms, pausing), "wait until=2000ms") << "the safety poll, should nobody wake it";
}

TEST(AcquireFsmCrowd, WhoAsksOnlyOnceDoesNotPause) {
  AcquireStory story(once());
  story.start();
  EXPECT_EQ(story.turn(0ms, {.subscribed = false, .not_before = at(8ms)}), "attempt timeout=3000ms");
}

}  // namespace
}  // namespace holdfast::engine
