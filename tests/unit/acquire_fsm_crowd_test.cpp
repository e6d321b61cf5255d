// SPDX-License-Identifier: Apache-2.0
// The acquire loop among many: who has waited longest asks first, and who has had the lock lets others come first.
#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "acquire_story.hpp"

namespace holdfast::engine::acquire_fsm_crowd_test {
namespace {

/// Busy, and so many listen, this client and the holder included.
Attempt busy_among(std::int64_t listeners) {
  Attempt reply = busy(30s);
  reply.listeners = listeners;
  return reply;
}

/// Waits in such a crowd.
void wait_among(AcquireStory& story, std::int64_t listeners) {
  story.start();
  story.turn(0ms, kWarm);
  story.reply(0ms, busy_among(listeners));
}

TEST(AcquireFsmCrowd, WhoIsAloneAsksAtOnce) {
  for (const std::int64_t listeners : {1, 2}) {
    AcquireStory story(unlimited());
    wait_among(story, listeners);
    EXPECT_EQ(story.message(10ms), "attempt timeout=3000ms") << listeners;
  }
}

TEST(AcquireFsmCrowd, WhoIsWokenAloneAsksAtOnce) {
  AcquireTerms terms = unlimited();
  terms.own_channel = true;
  AcquireStory story(terms);
  wait_among(story, 9);
  EXPECT_EQ(story.message(10ms), "attempt timeout=3000ms");
}

/// How long after a message the attempt comes.
Duration delay_among(std::int64_t listeners, int messages = 1, TargetView view = kWarm) {
  AcquireFsm fsm(unlimited(), kStart);
  fsm.start();
  fsm.on_turn(kStart, kWarm);
  fsm.on_attempt(kStart, busy_among(listeners));
  AcquireAction action;
  for (int i = 1; i <= messages; ++i) action = fsm.on_message(at(i * 10ms), view);
  return action.kind == AcquireAction::Kind::attempt ? Duration{} : action.until - at(messages * 10ms);
}

TEST(AcquireFsmCrowd, WhatIsBusyUntilNowIsNotAnyMore) {
  AcquireStory story(unlimited());
  wait_among(story, 2);
  EXPECT_EQ(story.message(10ms, {.subscribed = true, .busy_until = at(10ms)}), "attempt timeout=3000ms");
}

TEST(AcquireFsmCrowd, AMessageEndsASafetyPoll) {
  AcquireStory story(unlimited());
  wait_among(story, 60);
  EXPECT_EQ(story.time(2s, kWarm), "attempt timeout=3000ms");
  EXPECT_TRUE(story.fsm().safety_polling());
  story.reply(2s, busy_among(60));
  EXPECT_EQ(story.message(2010ms).substr(0, 10), "wait until");
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsmCrowd, WhoKnowsOfOneMoreLetsThatOneAskFirst) { EXPECT_GT(delay_among(3), 0ns); }

TEST(AcquireFsmCrowd, WhoKnowsThatNobodyListensTakesNoneForACrowd) {
  AcquireStory story(unlimited());
  wait_among(story, 0);
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(story.message(i * 10ms), "attempt timeout=3000ms") << i;
    story.reply(i * 10ms, busy_among(0));
  }
}

TEST(AcquireFsmCrowd, AMessageSaysWhoIsAheadOnlyToWhoHasJustReleasedIt) {
  EXPECT_EQ(delay_among(60, 1, {.subscribed = true, .others = 1}), delay_among(60));
  AcquireStory story(unlimited());
  story.start();
  story.turn(5ms, {.subscribed = true, .not_before = at(8ms)});
  EXPECT_EQ(story.message(6ms), "attempt timeout=3000ms") << "nobody heard that it is free";
  story.reply(6ms, busy_among(10));
  EXPECT_EQ(story.message(7ms).substr(0, 10), "wait until") << "eight came first";
}

TEST(AcquireFsmCrowd, WhoCameFirstAsksFirst) {
  for (std::int64_t listeners = 3; listeners < 9; ++listeners) {
    EXPECT_GT(delay_among(listeners + 1), delay_among(listeners)) << listeners;
  }
}

TEST(AcquireFsmCrowd, EveryReleaseBringsTheTurnNearer) {
  for (int messages = 1; messages < 6; ++messages) {
    EXPECT_LT(delay_among(8, messages + 1), delay_among(8, messages)) << messages;
  }
  EXPECT_EQ(delay_among(8, 12), 0ms);
}

TEST(AcquireFsmCrowd, WhoHasLearntThatListenersDoNotComeAsksSoon) {
  TargetView view = kWarm;
  view.place_limit = 2;
  EXPECT_LT(delay_among(60, 1, view), 1ms);
}

/// Waits far back in a crowd, and has heard of a release 10 ms after its start. `jitter`: which of them it is.
std::unique_ptr<AcquireStory> far_back(double jitter, std::int64_t listeners = 102) {
  AcquireTerms terms = unlimited();
  terms.jitter = jitter;
  auto story = std::make_unique<AcquireStory>(terms);
  wait_among(*story, listeners);
  EXPECT_EQ(story->message(10ms).substr(0, 11), "wait until=");
  EXPECT_TRUE(story->fsm().lets_others_ask());
  return story;
}
constexpr double kScout = 0.39, kNone = 0;

TEST(AcquireFsmCrowd, AFewOfThoseFarBackPublishWhatTheyFind) {
  EXPECT_EQ(far_back(kScout)->time(60ms, kWarm), "attempt timeout=3000ms publish_busy");
  EXPECT_EQ(far_back(kNone)->time(60ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsmCrowd, ThereIsNoneOfFifteen) {
  EXPECT_EQ(far_back(kScout, 17)->time(60ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsmCrowd, WhoIsFarBackAsksNotIfItHearsThatItIsBusy) {
  const auto story = far_back(kNone);
  const TargetView busy{.subscribed = true, .busy_until = at(520ms)};
  EXPECT_EQ(story->found_busy(20ms, busy), "wait until=522ms");
  EXPECT_FALSE(story->fsm().lets_others_ask());
  EXPECT_EQ(story->time(522ms, kWarm).substr(0, 11), "wait until=") << "all of the crowd know of that end";
  EXPECT_TRUE(story->fsm().lets_others_ask());
  EXPECT_EQ(story->time(600ms, kWarm).substr(0, 7), "attempt");
  story->reply(601ms, busy_among(102));
  EXPECT_EQ(story->message(700ms, {.subscribed = true, .busy_until = at(900ms)}), "wait until=902ms")
      << "it has been released, and taken again";
}

TEST(AcquireFsmCrowd, WhoIsNearKeepsWhatItFindsToItself) {
  AcquireStory story(unlimited());
  wait_among(story, 102);
  for (int i = 1; i <= 98; ++i) story.message(i * 10ms);
  EXPECT_EQ(story.time(990ms, kWarm), "attempt timeout=3000ms");
}

/// With jitter at its lower end: half of the pause.
TEST(AcquireFsmCrowd, TheLargerItIsTheRarerAreItsSafetyPolls) {
  const auto poll_among = [](std::int64_t listeners) {
    AcquireFsm fsm(unlimited(), kStart);
    fsm.start();
    fsm.on_turn(kStart, kWarm);
    return fsm.on_attempt(kStart, busy_among(listeners)).until - kStart;
  };
  EXPECT_EQ(poll_among(102), 1s);
  EXPECT_EQ(poll_among(2002), 13s);
}

TEST(AcquireFsmCrowd, TheNextReleaseStartsTheDelayAnew) {
  AcquireStory story(unlimited());
  wait_among(story, 6);
  EXPECT_EQ(story.message(10ms).substr(0, 12), "wait until=1");
  const std::string second = story.message(10500us);
  EXPECT_EQ(second.substr(0, 12), "wait until=1") << "its place came nearer, but the others go first once more";
  EXPECT_EQ(story.time(20ms, kWarm), "attempt timeout=3000ms");
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsmCrowd, WhoHasJustReleasedItIsBehindThoseWhoHeard) {
  AcquireStory story(unlimited());
  story.start();
  const TargetView pausing{.subscribed = true, .not_before = at(8ms), .others = 5};
  story.turn(5ms, pausing);
  const TargetView heard{.subscribed = true, .others = 5};
  EXPECT_EQ(story.message(6ms, heard).substr(0, 10), "wait until");
}

TEST(AcquireFsmCrowd, WhoHasJustReleasedItIsBehindASingleOneWhoHeard) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(5ms, {.subscribed = true, .not_before = at(8ms), .others = 1});
  EXPECT_EQ(story.message(6ms, {.subscribed = true, .others = 1}).substr(0, 10), "wait until");
}

TEST(AcquireFsmCrowd, WhereNobodyCanTellChanceDecidesOnceItIsACrowd) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms, kWarm);
  story.reply(0ms, busy(30s));
  EXPECT_EQ(story.message(10ms), "attempt timeout=3000ms");
  story.reply(11ms, busy_among(-1));
  EXPECT_EQ(story.message(20ms), "attempt timeout=3000ms");
  story.reply(21ms, busy_among(-1));
  EXPECT_EQ(story.message(30ms).substr(0, 10), "wait until");
}

TEST(AcquireFsmCrowd, AWakeInsideTheClientIsForNobodyElse) {
  AcquireStory story(unlimited());
  wait_among(story, 60);
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
  EXPECT_EQ(story.time(4ms, pausing), "attempt timeout=50ms") << "it may be free";
  EXPECT_EQ(story.reply(5ms, busy(30s)), "finish timed_out");
  AcquireStory endless(unlimited());
  endless.start();
  EXPECT_EQ(endless.turn(0ms, pausing), "wait until=2000ms") << "the safety poll, should nobody wake it";
}

TEST(AcquireFsmCrowd, WhoLetsOthersAskAfterAReleaseAsksOnceAtItsLimit) {
  AcquireStory story(limited(11ms));
  wait_among(story, 9);
  EXPECT_EQ(story.message(10ms), "wait until=11ms");
  EXPECT_EQ(story.time(11ms, kWarm), "attempt timeout=50ms") << "those ahead may be gone";
  EXPECT_EQ(story.reply(12ms, busy(30s)), "finish timed_out");
}

TEST(AcquireFsmCrowd, WhoKnowsThatItIsBusyDoesNotAskAtItsLimit) {
  AcquireStory story(limited(20ms));
  wait_among(story, 9);
  EXPECT_EQ(story.time(20ms, kWarm), "finish timed_out");
}

TEST(AcquireFsmCrowd, WhoAsksOnlyOnceDoesNotPause) {
  AcquireStory story(once());
  story.start();
  EXPECT_EQ(story.turn(0ms, {.subscribed = false, .not_before = at(8ms)}), "attempt timeout=3000ms");
}

}  // namespace
}  // namespace holdfast::engine::acquire_fsm_crowd_test
