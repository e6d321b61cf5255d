// SPDX-License-Identifier: Apache-2.0
// The acquire loop while the server does not answer, or not with what was asked: pauses, patience, unknown outcomes.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "acquire_story.hpp"

namespace holdfast::engine::acquire_fsm_trouble_test {
namespace {

/// The pauses that the machine makes after each of `n` replies that come as soon as the attempt is out.
std::vector<std::string> pauses(AcquireStory& story, const Attempt& trouble, int n) {
  std::vector<std::string> out;
  story.start();
  story.turn(0ms);
  Duration now = 0ms;
  for (int i = 0; i < n; ++i) {
    out.push_back(story.reply(now, trouble));
    const Duration until = milliseconds(std::stol(out.back().substr(std::string("wait until=").size())));
    out.back() = text(until - now);
    now = until;
    story.time(now);
  }
  return out;
}

TEST(AcquireFsmInTrouble, PausesLongerFromTryToTry) {
  for (const Attempt& trouble : {transient("LOADING"), not_sent("refused"), unknown("no reply")}) {
    AcquireStory story(unlimited());
    const std::vector<std::string> expected{"10ms",  "20ms",  "40ms",  "80ms", "160ms",
                                            "320ms", "640ms", "640ms", "640ms"};
    EXPECT_EQ(pauses(story, trouble, 9), expected) << trouble.cause;
  }
}

TEST(AcquireFsmInTrouble, UndoesWhatEndedInTheMiddleOfAScript) {
  for (const AcquireTerms& terms : {once(), limited(1s), unlimited()}) {
    AcquireStory story(terms);
    story.start();
    story.turn(0ms);
    EXPECT_EQ(story.reply(1ms, failed(Errc::denied, "ACL failure in script")),
              "finish denied undo (ACL failure in script)");
  }
}

TEST(AcquireFsmInTrouble, DoesNotBearWhatPassesWithoutHopeForIt) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  Attempt replica = transient("READONLY");
  replica.error = Errc::read_only;
  EXPECT_EQ(story.reply(1ms, replica), "wait until=11ms");
  story.time(11ms);
  replica.pointless = true;
  EXPECT_EQ(story.reply(12ms, replica), "finish read_only (READONLY)");
}

TEST(AcquireFsmInTrouble, BeginsWithShortPausesAgainAfterAnAnswer) {
  AcquireStory story(unlimited());
  pauses(story, transient("LOADING"), 5);
  EXPECT_EQ(story.reply(400ms, busy(-1ms)), "wait until=1400ms");
  EXPECT_EQ(story.time(1400ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(1400ms, transient("LOADING")), "wait until=1410ms");
}

TEST(AcquireFsmInTrouble, AsksAgainAfterThePauseAsBefore) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(0ms, not_sent("refused")), "wait until=10ms");
  // Nobody is known to have the lock: still without a subscription.
  EXPECT_EQ(story.time(10ms), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(11ms, granted()), "finish granted");
  EXPECT_FALSE(story.fsm().contended());
}

TEST(AcquireFsmInTrouble, SubscribesAfterThePauseWhenItHadBeenWaiting) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(-1ms);
  story.time(1000ms, kWarm);
  EXPECT_EQ(story.reply(1500ms, unknown("connection lost")), "wait until=1510ms");
  EXPECT_EQ(story.time(1510ms, kCold), "attempt subscribe timeout=3000ms");
  EXPECT_FALSE(story.fsm().safety_polling());
}

TEST(AcquireFsmInTrouble, DoesNotSitOutAPauseWhenItIsWoken) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(3000ms, unknown("no reply")), "wait until=3010ms");
  EXPECT_EQ(story.wake(3001ms), "attempt timeout=3000ms");
}

TEST(AcquireFsmInTrouble, StopsInAPause) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(0ms, not_sent("refused"));
  EXPECT_EQ(story.stop(5ms), "finish cancelled");
}

// --- unknown outcomes ---

TEST(AcquireFsmInTrouble, IsGrantedByTheResendOfAnAttemptOfUnknownOutcome) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  story.time(3010ms);
  EXPECT_EQ(story.reply(3011ms, granted()), "finish granted");
}

TEST(AcquireFsmInTrouble, HasNothingToUndoOnceTheServerSaysThatSomebodyElseHasIt) {
  AcquireStory story(limited(10s));
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  story.time(3010ms);
  EXPECT_EQ(story.reply(3011ms, busy(-1ms)), "wait until=4011ms");
  EXPECT_EQ(story.stop(3500ms), "finish cancelled");
}

TEST(AcquireFsmInTrouble, UndoesAnAttemptOfUnknownOutcomeWhenItIsStopped) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  EXPECT_EQ(story.stop(3005ms), "finish cancelled undo");
}

TEST(AcquireFsmInTrouble, UndoesAnAttemptOfUnknownOutcomeWhenTheNextOneIsRefused) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  story.time(3010ms);
  EXPECT_EQ(story.reply(3011ms, refused(Errc::wrong_type, "WRONGTYPE")), "finish wrong_type undo (WRONGTYPE)");
}

TEST(AcquireFsmInTrouble, StillHasToUndoWhenLaterAttemptsWereNotSentOrPutOff) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  story.time(3010ms);
  story.reply(3011ms, not_sent("refused"));
  story.time(3031ms);
  story.reply(3032ms, transient("LOADING"));
  EXPECT_EQ(story.stop(3040ms), "finish cancelled undo");
}

// --- trying again will not help ---

TEST(AcquireFsmInTrouble, EndsAtOnceWhenTryingAgainWillNotHelp) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1ms, pointless(Errc::unreachable, "Connection refused")),
            "finish unreachable (Connection refused)");
}

TEST(AcquireFsmInTrouble, EndsAtOnceWhenTryingAgainWillNotHelpAfterHavingWaited) {
  AcquireStory story(limited(20s));
  story.wait_behind_somebody(-1ms);
  story.time(1000ms, kWarm);
  EXPECT_EQ(story.reply(1001ms, pointless(Errc::denied, "WRONGPASS")), "finish denied (WRONGPASS)");
}

TEST(AcquireFsmInTrouble, UndoesAnEarlierUnknownAttemptWhenTryingAgainWillNotHelp) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  story.time(3010ms);
  EXPECT_EQ(story.reply(3011ms, pointless(Errc::denied, "WRONGPASS")), "finish denied undo (WRONGPASS)");
}

// --- patience ---

TEST(AcquireFsmInTrouble, LosesPatienceAndReportsTheLastTrouble) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(1000ms, unknown("no reply")), "wait until=1010ms");
  story.time(1010ms);
  EXPECT_EQ(story.reply(14990ms, not_sent("refused")), "wait until=15000ms");
  EXPECT_EQ(story.time(15000ms), "finish unreachable undo (refused)");
}

TEST(AcquireFsmInTrouble, CountsPatienceFromTheBeginningOfTheFirstAttemptThatFailed) {
  AcquireStory story(unlimited());
  story.wait_behind_somebody(-1ms);
  EXPECT_EQ(story.time(1000ms, kWarm), "attempt timeout=3000ms");
  EXPECT_EQ(story.reply(4000ms, unknown("no reply")), "wait until=4010ms");
  EXPECT_EQ(story.time(4010ms), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(7010ms, unknown("no reply")), "wait until=7030ms");
  EXPECT_EQ(story.time(7030ms), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(10030ms, unknown("no reply")), "wait until=10070ms");
  EXPECT_EQ(story.time(10070ms), "attempt subscribe timeout=3000ms");
  EXPECT_EQ(story.reply(13070ms, unknown("no reply")), "wait until=13150ms");
  // The last attempt ends with it.
  EXPECT_EQ(story.time(13150ms), "attempt subscribe timeout=2850ms");
  EXPECT_EQ(story.reply(16000ms, unknown("no reply")), "finish unknown_outcome undo (no reply)");
}

TEST(AcquireFsmInTrouble, HasNewPatienceWhenAnotherCallerOfThisClientWasGrantedIt) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  EXPECT_EQ(story.time(3010ms, kHeldHere), "wait until=never");
  EXPECT_EQ(story.wake(20s), "attempt subscribe timeout=3000ms");
}

TEST(AcquireFsmInTrouble, LosesPatienceWhileAnotherReleaseComesFirst) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(3000ms, unknown("no reply"));
  const TargetView release_first{.held_here = false, .subscribed = false, .not_before = TimePoint::max()};
  EXPECT_EQ(story.time(14000ms, release_first), "wait until=15000ms");
  EXPECT_EQ(story.time(15000ms, release_first), "finish unknown_outcome undo (no reply)");
}

TEST(AcquireFsmInTrouble, HasNewPatienceAfterEveryAnswer) {
  AcquireStory story(unlimited());
  story.start();
  story.turn(0ms);
  story.reply(1000ms, not_sent("refused"));
  story.time(1010ms);
  EXPECT_EQ(story.reply(14000ms, busy(-1ms)), "wait until=15000ms");
  story.time(15000ms, kWarm);
  EXPECT_EQ(story.reply(16000ms, not_sent("refused")), "wait until=16010ms");
  story.time(16010ms, kCold);
  EXPECT_EQ(story.reply(29999ms, not_sent("refused")), "wait until=30000ms");
  EXPECT_EQ(story.time(30000ms, kCold), "finish unreachable (refused)");
}

TEST(AcquireFsmInTrouble, LosesPatienceAtOnceWhenItHasNone) {
  AcquireTerms terms = unlimited();
  terms.patience = 0s;
  AcquireStory story(terms);
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(5ms, transient("LOADING")), "finish server_error (LOADING)");
}

// --- the limit on waiting comes during trouble ---

TEST(AcquireFsmInTrouble, ReportsTheTroubleAtTheLimitWhenTheServerNeverAnswered) {
  AcquireStory story(limited(500ms));
  story.start();
  EXPECT_EQ(story.turn(0ms), "attempt timeout=500ms");
  EXPECT_EQ(story.reply(495ms, not_sent("refused")), "wait until=500ms");
  EXPECT_EQ(story.time(500ms), "finish unreachable (refused)");
}

TEST(AcquireFsmInTrouble, ReportsTheTroubleWhenItComesAfterTheLimitAndTheServerNeverAnswered) {
  AcquireStory story(limited(500ms));
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(500ms, unknown("no reply")), "finish unknown_outcome undo (no reply)");
}

TEST(AcquireFsmInTrouble, TimesOutAtTheLimitWhenSomebodyElseHadTheLockBefore) {
  AcquireStory story(limited(1500ms));
  story.wait_behind_somebody(30s);
  story.time(1000ms, kWarm);
  EXPECT_EQ(story.reply(1495ms, unknown("no reply")), "wait until=1500ms");
  EXPECT_EQ(story.time(1500ms), "finish timed_out undo");
}

TEST(AcquireFsmInTrouble, TimesOutWhenTroubleComesAfterTheLimitAndSomebodyElseHadTheLockBefore) {
  AcquireStory story(limited(1500ms));
  story.wait_behind_somebody(30s);
  story.time(1000ms, kWarm);
  EXPECT_EQ(story.reply(1501ms, not_sent("refused")), "finish timed_out");
}

TEST(AcquireFsmInTrouble, TimesOutAtTheLimitWhenThisClientHadTheLockBefore) {
  AcquireStory story(limited(500ms));
  story.start();
  story.turn(0ms, kHeldHere);
  EXPECT_EQ(story.wake(400ms), "attempt subscribe timeout=100ms");
  EXPECT_EQ(story.reply(495ms, not_sent("refused")), "wait until=500ms");
  EXPECT_EQ(story.time(500ms), "finish timed_out");
}

TEST(AcquireFsmInTrouble, ReportsTheTroubleAtTheLimitWhenTheServerOnlyPutItOff) {
  // Nobody was seen to have the lock, so "timed out" would not be the truth.
  AcquireStory story(limited(500ms));
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(495ms, transient("LOADING")), "wait until=500ms");
  EXPECT_EQ(story.time(500ms), "finish server_error (LOADING)");
}

TEST(AcquireFsmInTrouble, LosesPatienceBeforeTheLimit) {
  AcquireStory story(limited(60s));
  story.start();
  story.turn(0ms);
  story.reply(0ms, not_sent("refused"));
  story.time(10ms);
  EXPECT_EQ(story.reply(15000ms, not_sent("refused")), "finish unreachable (refused)");
}

// --- asking once ---

TEST(AcquireFsmInTrouble, AskingOnceTriesAgainWithinOneCommandsTime) {
  AcquireStory story(once());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(0ms, not_sent("refused")), "wait until=10ms");
  EXPECT_EQ(story.time(10ms), "attempt timeout=2990ms");
  EXPECT_EQ(story.reply(2990ms, not_sent("refused")), "wait until=3000ms");
  EXPECT_EQ(story.time(3000ms), "finish unreachable (refused)");
}

TEST(AcquireFsmInTrouble, AskingOnceCanStillBeGrantedOrBusyAfterTrouble) {
  AcquireStory lucky(once());
  lucky.start();
  lucky.turn(0ms);
  lucky.reply(0ms, transient("LOADING"));
  EXPECT_EQ(lucky.time(10ms), "attempt timeout=2990ms");
  EXPECT_EQ(lucky.reply(11ms, granted()), "finish granted");

  AcquireStory late(once());
  late.start();
  late.turn(0ms);
  late.reply(0ms, unknown("connection lost"));
  late.time(10ms);
  EXPECT_EQ(late.reply(11ms, busy_unsubscribed(5s)), "finish busy");
}

TEST(AcquireFsmInTrouble, AskingOnceReportsAnUnknownOutcomeAndUndoesIt) {
  AcquireStory story(once());
  story.start();
  story.turn(0ms);
  EXPECT_EQ(story.reply(3000ms, unknown("no reply")), "finish unknown_outcome undo (no reply)");
}

TEST(AcquireFsmInTrouble, AskingOnceNeverCallsTroubleBusy) {
  AcquireStory story(once());
  story.start();
  story.turn(0ms);
  story.reply(0ms, transient("LOADING"));
  story.time(10ms);
  EXPECT_EQ(story.reply(3001ms, transient("LOADING")), "finish server_error (LOADING)");
}

TEST(AcquireFsmInTrouble, AskingOnceEndsBusyWhenThisClientHasGotTheLockMeanwhile) {
  AcquireStory story(once());
  story.start();
  story.turn(0ms);
  story.reply(0ms, transient("LOADING"));
  EXPECT_EQ(story.time(10ms, kHeldHere), "finish busy (held by this process)");
}

TEST(AcquireFsmTrouble, SaysWhetherItMayPass) {
  for (const bool may_pass : {false, true}) {
    AcquireFsm fsm(once(), kStart);
    fsm.start();
    fsm.on_turn(kStart, kCold);
    Attempt down = not_sent("down");
    down.may_pass = may_pass;
    const AcquireAction action = fsm.on_attempt(at(3s), down);
    EXPECT_EQ(action.kind, AcquireAction::Kind::finish);
    EXPECT_EQ(action.may_pass, may_pass);
  }
}

}  // namespace
}  // namespace holdfast::engine::acquire_fsm_trouble_test
