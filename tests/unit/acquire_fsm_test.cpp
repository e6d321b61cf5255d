// SPDX-License-Identifier: Apache-2.0
// The acquire loop while the server answers: turns, attempts, waits, wakes and limits, told without a clock.
#include "lock/decide/acquire_fsm.hpp"

#include <chrono>
#include <cmath>
#include <utility>

#include <gtest/gtest.h>

#include "acquire_story.hpp"

namespace holdfast::engine::acquire_fsm_test {
namespace {

TEST(AcquireFsm, TakesAFreeLockWithOneCommandAndWithoutASubscription) {
  AcquireStory story(unlimited());
  EXPECT_EQ(story.start(), "wait_turn until=never");
  EXPECT_EQ(story.turn(1ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(2ms, granted()), "finish granted");
  EXPECT_FALSE(story.fsm().contended());
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsm, SubscribesWithItsSecondAttemptAndThenWaits) {
  AcquireStory story(unlimited());
  story.start();
  EXPECT_EQ(story.turn(0ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1ms, busy_unsubscribed(400ms)), "attempt subscribe timeout=3000ms");
  EXPECT_TRUE(story.fsm().contended());
  EXPECT_EQ(story.reply(2ms, busy(399ms)), "wait until=403ms");
  EXPECT_EQ(story.wake(50ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(51ms, granted()), "finish granted");
  EXPECT_TRUE(story.fsm().contended());
}

TEST(AcquireFsm, WaitsAfterItsFirstAttemptWhenTheChannelWasSubscribedAlready) {
  AcquireStory story(unlimited());
  story.start();
  EXPECT_EQ(story.turn(0ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1ms, busy(400ms)), "wait until=403ms");
}

TEST(AcquireFsm, CanBeGrantedByTheAttemptThatSubscribes) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1ms, busy_unsubscribed(400ms)), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(2ms, granted()), "finish granted");
}

TEST(AcquireFsm, SubscribesAgainWhenTheSubscriptionIsGone) {
  AcquireStory story(unlimited());
  EXPECT_EQ(story.wait_behind_somebody(400ms), "wait until=402ms");
  // A reconnect wakes the waiter, and the new connection has no subscriptions.
  EXPECT_EQ(story.wake(100ms, kCold), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(101ms, busy(300ms)), "wait until=403ms");
  EXPECT_EQ(story.time(403ms, kCold), "attempt subscribe timeout=3000ms");
}

TEST(AcquireFsm, SubscribesAtOnceWhenTheSubscriptionWentAwayBetweenTheLookAndTheSend) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(400ms);
  EXPECT_EQ(story.wake(100ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(101ms, busy_unsubscribed(300ms)), "attempt subscribe timeout=3000ms");
}

// --- how long it waits ---

TEST(AcquireFsm, AsksJustAfterTheLeaseEndsWhenThatComesBeforeTheSafetyPoll) {
  AcquireStory story(unlimited());
  // The server's milliseconds are whole: 2 ms later the key is certainly gone.
  EXPECT_EQ(story.wait_behind_somebody(998ms), "wait until=1000ms");
  EXPECT_EQ(story.time(1000ms, kWarm), "attempt timeout=3000ms");
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsm, AsksAtTheSafetyPollWhenTheLeaseIsLonger) {
  AcquireStory story(unlimited());
  EXPECT_EQ(story.wait_behind_somebody(999ms), "wait until=1000ms");
  EXPECT_EQ(story.time(1000ms, kWarm), "attempt timeout=3000ms");
  EXPECT_TRUE(story.fsm().safety_polling());
}

TEST(AcquireFsm, IsOverIfTheLeaseEndsAtTheLimit) {
  AcquireStory story(limited(402ms));
  EXPECT_EQ(story.wait_behind_somebody(400ms), "wait until=402ms");
  EXPECT_EQ(story.time(402ms, kWarm), "finish timed_out");
}

TEST(AcquireFsm, EndsWithWhatKeepsItFromEverBeingFree) {
  AcquireStory story(limited(50ms));
  story.start();
  story.turn(0ms, kWarm);
  Attempt never = busy(30s);
  never.error = Errc::would_deadlock;
  story.reply(0ms, never);
  EXPECT_EQ(story.time(50ms, kWarm), "finish would_deadlock");
}

TEST(AcquireFsm, WaitsForTheSafetyPollWhenTheKeyHasNoExpiry) {
  AcquireStory story(unlimited());
  EXPECT_EQ(story.wait_behind_somebody(-1ms), "wait until=1000ms");
}

TEST(AcquireFsm, AsksAgainSoonWhenTheLeaseIsAboutToEnd) {
  AcquireStory story(unlimited());
  EXPECT_EQ(story.wait_behind_somebody(0ms), "wait until=2ms");
}

TEST(AcquireFsm, WaitsForTheSafetyPollWhenTheExpiryIsBeyondAllClocks) {
  AcquireStory story(unlimited());
  EXPECT_EQ(story.wait_behind_somebody(std::chrono::hours(24 * 365 * 300)), "wait until=1000ms");
  EXPECT_EQ(story.time(1000ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1000ms, busy(milliseconds::max())), "wait until=2000ms");
}

TEST(AcquireFsm, SpreadsTheSafetyPollOverTheSecondHalfOfItsLength) {
  for (const auto& [jitter, until] : {std::pair(0.0, "wait until=1000ms"), std::pair(0.25, "wait until=1250ms"),
                                      std::pair(0.5, "wait until=1500ms"), std::pair(0.999, "wait until=1999ms")}) {
    AcquireTerms terms = unlimited();
    terms.jitter = jitter;
    AcquireStory story(terms);
    EXPECT_EQ(story.wait_behind_somebody(-1ms), until) << "jitter " << jitter;
  }
}

TEST(AcquireFsm, NeverPollsLaterThanTheSafetyPollSays) {
  AcquireTerms terms = unlimited();
  terms.jitter = std::nextafter(1.0, 0.0);
  AcquireStory story(terms);
  EXPECT_EQ(story.wait_behind_somebody(-1ms), "wait until=1999.999999ms");
}

TEST(AcquireFsm, CountsEachWaitFromTheReplyBeforeIt) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(5000ms);
  EXPECT_EQ(story.time(1000ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1700ms, busy(4000ms)), "wait until=2700ms");
}

// --- the safety poll is told apart from other attempts ---

TEST(AcquireFsm, IsSafetyPollingUntilSomethingElseHappens) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(-1ms);
  EXPECT_FALSE(story.fsm().safety_polling());
  story.time(1000ms, kWarm);
  EXPECT_TRUE(story.fsm().safety_polling());
  EXPECT_EQ(story.reply(1001ms, busy(-1ms)), "wait until=2001ms");
  EXPECT_TRUE(story.fsm().safety_polling());
  EXPECT_EQ(story.wake(1500ms, kWarm), "attempt timeout=3000ms");
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsm, IsSafetyPollingWhenThePollFindsTheLockFree) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(-1ms);
  story.time(1000ms, kWarm);
  EXPECT_EQ(story.reply(1001ms, granted()), "finish granted");
  EXPECT_TRUE(story.fsm().safety_polling());
}

TEST(AcquireFsm, IsNotSafetyPollingWhenAnotherCallerOfThisClientHasTheLock) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(-1ms);
  EXPECT_EQ(story.time(1000ms, kHeldHere), "wait until=never");
  EXPECT_FALSE(story.fsm().safety_polling());
}

// --- another caller of this client has the lock ---

TEST(AcquireFsm, WaitsWithoutAskingWhileThisClientHoldsTheLock) {
  AcquireStory story(unlimited());
  story.start();
  EXPECT_EQ(story.turn(0ms, kHeldHere), "wait until=never");
  EXPECT_TRUE(story.fsm().contended());
  EXPECT_EQ(story.wake(40ms, kHeldHere), "wait until=never");
}

TEST(AcquireFsm, OfWhomTheTurnDoesNotComeIsContended) {
  AcquireStory story(limited(50ms));
  EXPECT_EQ(story.start(), "wait_turn until=50ms");
  EXPECT_EQ(story.time(50ms), "finish timed_out");
  EXPECT_TRUE(story.fsm().contended());
}

TEST(AcquireFsm, IsOverAtTheLimitAlthoughThisClientHoldsIt) {
  AcquireStory story(limited(50ms));
  story.start();
  EXPECT_EQ(story.turn(49ms, kHeldHere), "wait until=50ms");
  EXPECT_EQ(story.wake(50ms, kHeldHere), "finish timed_out (held by this process)");
}

TEST(AcquireFsm, ForgetsWhatTheServerSaidOnceThisClientHasHadIt) {
  AcquireStory story(limited(50ms));
  story.start();
  story.turn(0ms, kWarm);
  Attempt never = busy(30s);
  never.error = Errc::would_deadlock;
  never.cause = "for ever";
  story.reply(0ms, never);
  story.wake(10ms, kHeldHere);
  EXPECT_EQ(story.wake(20ms, kWarm), "attempt timeout=50ms");
  EXPECT_EQ(story.reply(60ms, unknown("silence")), "finish timed_out undo");
}

TEST(AcquireFsm, PausesBrieflyAgainInNewTroubleOnceThisClientHasHadIt) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(0ms, unknown("silence")), "wait until=10ms");
  story.time(10ms);
  EXPECT_EQ(story.reply(10ms, unknown("silence")), "wait until=30ms");
  EXPECT_EQ(story.wake(20ms, kHeldHere), "wait until=never");
  story.wake(30ms);
  EXPECT_EQ(story.reply(30ms, unknown("silence")), "wait until=40ms");
}

TEST(AcquireFsm, SubscribesWithItsFirstAttemptAfterALocalHold) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms, kHeldHere);
  // It has been contended already, so another client is likely to wait as well.
  EXPECT_EQ(story.wake(40ms, kCold), "attempt subscribe timeout=3000ms");
}

TEST(AcquireFsm, NeedsNoSubscriptionAfterALocalHoldWhenThereIsOne) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms, kHeldHere);
  EXPECT_EQ(story.wake(40ms, kWarm), "attempt timeout=3000ms");
}

TEST(AcquireFsm, TimesOutBehindALocalHold) {
  AcquireStory story(limited(2s));
  story.start();
  EXPECT_EQ(story.turn(0ms, kHeldHere), "wait until=2000ms");
  EXPECT_EQ(story.wake(500ms, kHeldHere), "wait until=2000ms");
  EXPECT_EQ(story.time(2000ms, kHeldHere), "finish timed_out (held by this process)");
}

TEST(AcquireFsm, TimesOutWhenItsTurnComesTooLateAndThisClientHoldsTheLock) {
  AcquireStory story(limited(2s));
  story.start();
  EXPECT_EQ(story.turn(2001ms, kHeldHere), "finish timed_out (held by this process)");
}

// --- limits on waiting ---

TEST(AcquireFsm, TimesOutInTheQueue) {
  AcquireStory story(limited(2s));
  EXPECT_EQ(story.start(), "wait_turn until=2000ms");
  EXPECT_EQ(story.time(2000ms, kCold), "finish timed_out");
}

TEST(AcquireFsm, TimesOutWhileSomebodyElseHasTheLock) {
  AcquireStory story(limited(1500ms));
  EXPECT_EQ(story.wait_behind_somebody(30s), "wait until=1000ms");
  EXPECT_EQ(story.time(1000ms, kWarm), "attempt timeout=500ms");
  EXPECT_EQ(story.reply(1001ms, busy(29s)), "wait until=1500ms");
  EXPECT_EQ(story.time(1500ms, kWarm), "finish timed_out");
}

TEST(AcquireFsm, TimesOutWhenTheReplyComesAfterTheLimit) {
  AcquireStory story(limited(200ms));
  story.start();
  EXPECT_EQ(story.turn(0ms), "attempt timeout=200ms");
  EXPECT_EQ(story.reply(200ms, busy_unsubscribed(30s)), "finish timed_out");
}

TEST(AcquireFsm, TakesAGrantThatComesAfterTheLimit) {
  AcquireStory story(limited(200ms));
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(201ms, granted()), "finish granted");
}

TEST(AcquireFsm, GivesACommandNoMoreTimeThanIsLeftButAtLeast50Milliseconds) {
  AcquireStory story(limited(4s));
  story.start();
  EXPECT_EQ(story.turn(0ms), "attempt timeout=3000ms");
  story.reply(1ms, busy(-1ms));
  EXPECT_EQ(story.wake(1000ms, kWarm), "attempt timeout=3000ms");
  story.reply(1001ms, busy(-1ms));
  EXPECT_EQ(story.wake(1500ms, kWarm), "attempt timeout=2500ms");
  story.reply(1501ms, busy(-1ms));
  EXPECT_EQ(story.wake(3990ms, kWarm), "attempt timeout=50ms");
}

TEST(AcquireFsm, NeverGivesACommandMoreThanTheClientsTimeLimit) {
  AcquireTerms terms = limited(4s);
  terms.command_timeout = 50ms;
  AcquireStory story(terms);
  story.start();
  EXPECT_EQ(story.turn(3999ms), "attempt timeout=50ms");
}

TEST(AcquireFsm, MakesALastAttemptWhenItsTurnComesJustTooLate) {
  AcquireStory story(limited(2s));
  story.start();
  EXPECT_EQ(story.turn(2001ms), "attempt timeout=50ms");
  EXPECT_EQ(story.reply(2002ms, busy_unsubscribed(1s)), "finish timed_out");
}

TEST(AcquireFsm, WaitsForTheLeaseEndOnlyUntilTheLimit) {
  AcquireStory story(limited(300ms));
  EXPECT_EQ(story.wait_behind_somebody(400ms), "wait until=300ms");
  EXPECT_EQ(story.time(300ms, kWarm), "finish timed_out");
}

TEST(AcquireFsm, AsksWhenTheLeaseEndsBeforeTheLimit) {
  AcquireStory story(limited(300ms));
  EXPECT_EQ(story.wait_behind_somebody(297ms), "wait until=299ms");
  EXPECT_EQ(story.time(299ms, kWarm), "attempt timeout=50ms");
}

// --- asking once ---

TEST(AcquireFsm, AskingOnceTakesAFreeLock) {
  AcquireStory story(once());
  EXPECT_EQ(story.start(), "wait_turn until=0ms");
  EXPECT_EQ(story.turn(0ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1ms, granted()), "finish granted");
}

TEST(AcquireFsm, AskingOnceNeitherSubscribesNorWaits) {
  AcquireStory story(once());
  story.start();
  EXPECT_EQ(story.turn(0ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1ms, busy_unsubscribed(1ms)), "finish busy");
}

TEST(AcquireFsm, AskingOnceDoesNotQueueBehindACallerOfThisClient) {
  AcquireStory story(once());
  story.start();
  EXPECT_EQ(story.time(0ms, kCold), "finish busy");
}

TEST(AcquireFsm, AskingOnceNeedsNoCommandWhileThisClientHoldsTheLock) {
  AcquireStory story(once());
  story.start();
  EXPECT_EQ(story.turn(0ms, kHeldHere), "finish busy (held by this process)");
}

// --- stopping ---

TEST(AcquireFsm, StopsInTheQueue) {
  AcquireStory story(unlimited());
  story.start();
  EXPECT_EQ(story.stop(10ms), "finish cancelled");
}

TEST(AcquireFsm, StopsWhileAnAttemptIsUnderWayAndLeavesItToTheShellToUndoThat) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.stop(10ms), "finish cancelled");
}

TEST(AcquireFsm, StopsWhileItWaits) {
  AcquireStory story(limited(2s));
  story.wait_behind_somebody(-1ms);
  EXPECT_EQ(story.stop(10ms), "finish cancelled");
}

TEST(AcquireFsm, StopsWhileThisClientHoldsTheLock) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms, kHeldHere);
  EXPECT_EQ(story.stop(10ms, Errc::closed), "finish closed");
}

// --- refusals ---

TEST(AcquireFsm, EndsWithTheServersWordsWhenItIsRefused) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1ms, refused(Errc::wrong_type, "WRONGTYPE Operation against a key")),
            "finish wrong_type (WRONGTYPE Operation against a key)");
}

TEST(AcquireFsm, EndsWhenItIsRefusedAfterHavingWaited) {
  AcquireStory story(limited(2s));
  story.wait_behind_somebody(-1ms);
  story.wake(100ms, kWarm);
  EXPECT_EQ(story.reply(101ms, refused(Errc::wrong_type, "WRONGTYPE")), "finish wrong_type (WRONGTYPE)");
}

}  // namespace
}  // namespace holdfast::engine::acquire_fsm_test
