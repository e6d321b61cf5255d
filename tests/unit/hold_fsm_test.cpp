// SPDX-License-Identifier: Apache-2.0
// One hold from grant to end, told without a clock: renewals, trouble, loss, release.
#include "lock/decide/hold_fsm.hpp"

#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::engine::hold_fsm_test {
namespace {

using namespace std::chrono_literals;

/// A hold of a lease of 900 ms, granted by a command sent at 0: due at 300 ms, certain until 889 ms (1 % and 2 ms
/// less), pauses of 45 ms after a failed renewal.
constexpr LeaseTerms kRenewed{.length = 900ms, .renewed = true, .max_hold = {}};
constexpr LeaseTerms kFixed{.length = 900ms, .renewed = false, .max_hold = {}};
constexpr LeaseTerms capped(milliseconds max_hold) { return {.length = 900ms, .renewed = true, .max_hold = max_hold}; }

/// The machine, told in words: every event returns what came of it and what the hold knows afterwards.
class HoldStory {
 public:
  explicit HoldStory(LeaseTerms terms) : fsm_(at(0ms), terms, at(0ms)) {}
  HoldStory(const HoldStory&) = delete;
  HoldStory& operator=(const HoldStory&) = delete;
  ~HoldStory() {
    if (testing::Test::HasFailure()) std::cerr << "The whole story:\n" << told_;
  }

  std::string now() const { return "held: " + state(); }
  std::string time(Duration now, Duration early = {}) { return tell(now, "time", text(fsm_.on_time(at(now), early))); }
  std::string renewed(Duration now, Duration sent_at) {
    return tell(now, "renewed, sent at " + text(sent_at), text(fsm_.on_renewed(at(sent_at), at(now))));
  }
  std::string gone(Duration now) { return tell(now, "gone", text(fsm_.on_gone())); }
  std::string unanswered(Duration now) { return tell(now, "unanswered", text(fsm_.on_unanswered(at(now)))); }
  std::string closed(Duration now) { return tell(now, "closed", text(fsm_.on_closed())); }
  std::string reconnect(Duration now) {
    fsm_.on_reconnect(at(now));
    return tell(now, "reconnect", "done");
  }
  std::string release(Duration now) { return tell(now, "release", fsm_.begin_release() ? "begun" : "begun before"); }

  const HoldFsm& fsm() const { return fsm_; }

 private:
  std::string state() const {
    if (fsm_.state() == HoldState::lost) return "lost, " + std::string(to_string(fsm_.reason()));
    if (fsm_.ended()) return to_string(fsm_.state());
    return std::string(to_string(fsm_.state())) + " until " + text(fsm_.deadline()) + ", due " + text(fsm_.due());
  }
  std::string tell(Duration now, const std::string& event, const std::string& answer) {
    const std::string out = answer + ": " + state();
    told_ += "  " + text(now) + "  " + event + "  ->  " + out + "\n";
    return out;
  }

  HoldFsm fsm_;
  std::string told_;
};

// --- the good life ---

TEST(HoldFsm, OfALockThatWasPassedOnIsAsCertainAsTheLeaseAndAsOldAsItself) {
  const HoldFsm hold(at(0ms), capped(500ms), at(200ms));
  EXPECT_EQ(hold.granted_at(), at(200ms));
  EXPECT_EQ(hold.last_extension(), at(0ms));
  EXPECT_EQ(hold.deadline(), at(700ms)) << "its cap counts from its own beginning";
  EXPECT_EQ(hold.due(), hold.deadline()) << "the lease outlives the cap";
  EXPECT_EQ(HoldFsm(at(0ms), kRenewed, at(200ms)).deadline(), at(889ms));
  EXPECT_EQ(HoldFsm(at(0ms), kRenewed, at(200ms)).due(), at(300ms)) << "counted from when the lease was set";
}

TEST(HoldFsm, IsCertainUntilTheLeaseLessItsMarginCountedFromTheSend) {
  const HoldFsm hold(at(0ms), kRenewed, at(0ms));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(hold.granted_at(), at(0ms));
  EXPECT_EQ(hold.deadline(), at(889ms));
  EXPECT_EQ(hold.valid_for(at(0ms)), 889ms);
  EXPECT_EQ(hold.valid_for(at(888ms)), 1ms);
  EXPECT_EQ(hold.valid_for(at(889ms)), 0ms);
  EXPECT_EQ(hold.valid_for(at(5s)), 0ms);
}

TEST(HoldFsm, IsPassedOnAsLongAsHalfOfItsLeaseIsLeft) {
  const HoldFsm hold(at(0ms), kRenewed, at(0ms));
  EXPECT_TRUE(hold.may_be_passed_on(at(439ms)));
  EXPECT_FALSE(hold.may_be_passed_on(at(440ms)));
  EXPECT_FALSE(HoldFsm(at(0ms), kFixed, at(0ms)).may_be_passed_on(at(0ms)));
}

TEST(HoldFsm, IsDurableForNoTimeUnlessItSaysSo) {
  EXPECT_EQ(HoldFsm(at(0ms), kRenewed, at(0ms)).durable_for(at(0ms), 1), 0ms);
  EXPECT_EQ(HoldFsm(at(0ms), kRenewed, at(0ms), 1).durable_for(at(0ms), 1), 889ms);
  EXPECT_EQ(HoldFsm(at(0ms), kRenewed, at(0ms), 1).durable_for(at(0ms), 2), 0ms);
}

TEST(HoldFsm, IsSteadyFromTheShortestLeaseOnThatIsWatched) {
  const auto of = [](milliseconds length) {
    return HoldFsm(at(0ms), {.length = length, .renewed = true, .max_hold = {}}, at(0ms));
  };
  EXPECT_TRUE(of(300ms).steady());
  EXPECT_FALSE(of(299ms).steady());
}

TEST(HoldFsm, IsRenewedEveryThirdOfItsLease) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.time(299ms), "nothing: held until 889ms, due 300ms");
  EXPECT_EQ(story.time(300ms), "renew: held until 889ms, due 889ms");
  EXPECT_EQ(story.renewed(310ms, 305ms), "none: held until 1194ms, due 605ms");
  EXPECT_EQ(story.time(604ms), "nothing: held until 1194ms, due 605ms");
  EXPECT_EQ(story.time(605ms), "renew: held until 1194ms, due 1194ms");
  EXPECT_EQ(story.renewed(606ms, 605ms), "none: held until 1494ms, due 905ms");
}

TEST(HoldFsm, CountsTheLeaseFromBeforeTheSendOfTheRenewalNotFromItsReply) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.renewed(880ms, 300ms), "none: held until 1189ms, due 600ms");
  EXPECT_EQ(story.time(880ms), "renew: held until 1189ms, due 1189ms");
}

TEST(HoldFsm, IsRenewedEarlyWhenOthersAreRenewedWithinTheWindow) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.time(269ms, 30ms), "nothing: held until 889ms, due 300ms");
  EXPECT_EQ(story.time(270ms, 30ms), "renew: held until 889ms, due 889ms");
  EXPECT_EQ(story.fsm().lateness(at(270ms)), 0ms);
}

TEST(HoldFsm, HasOneRenewalUnderWayAtATime) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.time(301ms), "nothing: held until 889ms, due 889ms");
  EXPECT_EQ(story.time(600ms, 30ms), "nothing: held until 889ms, due 889ms");
}

TEST(HoldFsm, TellsHowLateARenewalIsAgainstItsPlan) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.fsm().lateness(at(200ms)), 0ms);
  EXPECT_EQ(story.fsm().lateness(at(340ms)), 40ms);
  story.time(340ms);
  EXPECT_EQ(story.fsm().lateness(at(340ms)), 40ms);
  story.renewed(341ms, 340ms);
  EXPECT_EQ(story.fsm().lateness(at(640ms)), 0ms);
  EXPECT_EQ(story.fsm().lateness(at(650ms)), 10ms);
}

TEST(HoldFsm, TellsHowLateARetryIsAgainstTheRetrysPlan) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.unanswered(450ms);
  EXPECT_EQ(story.fsm().lateness(at(495ms)), 0ms);
  EXPECT_EQ(story.fsm().lateness(at(500ms)), 5ms);
}

// --- fixed leases ---

TEST(HoldFsm, OfAFixedLeaseIsNeverRenewedAndEndsWithIt) {
  HoldStory story(kFixed);
  EXPECT_EQ(story.now(), "held: held until 889ms, due 889ms");
  EXPECT_EQ(story.time(300ms), "nothing: held until 889ms, due 889ms");
  EXPECT_EQ(story.time(888ms, 30ms), "nothing: held until 889ms, due 889ms");
  EXPECT_EQ(story.time(889ms), "lost: lost, expired");
  EXPECT_EQ(story.time(890ms), "nothing: lost, expired");
}

TEST(HoldFsm, OfAFixedLeaseIsNotRenewedAfterAReconnect) {
  HoldStory story(kFixed);
  EXPECT_EQ(story.reconnect(100ms), "done: held until 889ms, due 889ms");
  EXPECT_EQ(story.time(100ms), "nothing: held until 889ms, due 889ms");
}

// --- trouble ---

TEST(HoldFsm, IsSuspectAfterAnUnansweredRenewalAndHeldAgainAfterTheNext) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.unanswered(450ms), "suspect: suspect until 889ms, due 495ms");
  EXPECT_EQ(story.time(494ms), "nothing: suspect until 889ms, due 495ms");
  EXPECT_EQ(story.time(495ms), "renew: suspect until 889ms, due 889ms");
  EXPECT_EQ(story.renewed(500ms, 495ms), "none: held until 1384ms, due 795ms");
}

TEST(HoldFsm, IsExtendedByNothingWhenTheOutcomeOfARenewalIsUnknown) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.unanswered(450ms);
  EXPECT_EQ(story.fsm().deadline(), at(889ms));
  EXPECT_EQ(story.fsm().valid_for(at(450ms)), 439ms);
}

TEST(HoldFsm, TriesAgainAndAgainThenIsLostAtTheDeadline) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.time(300ms), "renew: held until 889ms, due 889ms");
  EXPECT_EQ(story.unanswered(450ms), "suspect: suspect until 889ms, due 495ms");
  EXPECT_EQ(story.time(495ms), "renew: suspect until 889ms, due 889ms");
  EXPECT_EQ(story.unanswered(645ms), "none: suspect until 889ms, due 690ms");
  EXPECT_EQ(story.time(690ms), "renew: suspect until 889ms, due 889ms");
  EXPECT_EQ(story.unanswered(840ms), "none: suspect until 889ms, due 885ms");
  EXPECT_EQ(story.time(885ms), "renew: suspect until 889ms, due 889ms");
  EXPECT_EQ(story.unanswered(886ms), "none: suspect until 889ms, due 889ms");
  EXPECT_EQ(story.time(889ms), "lost: lost, expired");
  EXPECT_EQ(story.fsm().valid_for(at(889ms)), 0ms);
}

TEST(HoldFsm, TellsOfEachSpellOfTroubleOnce) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.unanswered(310ms), "suspect: suspect until 889ms, due 355ms");
  story.time(355ms);
  EXPECT_EQ(story.unanswered(365ms), "none: suspect until 889ms, due 410ms");
  story.time(410ms);
  EXPECT_EQ(story.renewed(411ms, 410ms), "none: held until 1299ms, due 710ms");
  story.time(710ms);
  EXPECT_EQ(story.unanswered(720ms), "suspect: suspect until 1299ms, due 765ms");
}

TEST(HoldFsm, IsLostWhenTheTroubleIsNoticedOnlyAfterTheDeadline) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.unanswered(889ms), "lost: lost, expired");
}

TEST(HoldFsm, IsLostWhenNobodyLookedInTime) {
  HoldStory story(kRenewed);
  // The process was frozen: nothing is sent that could take the lock back from somebody else.
  EXPECT_EQ(story.time(5s), "lost: lost, expired");
}

TEST(HoldFsm, IsLostAtTheDeadlineWhileARenewalIsUnderWay) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.time(889ms), "lost: lost, expired");
}

TEST(HoldFsm, IsLostWhenTheServerSaysSo) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.gone(310ms), "lost: lost, taken");
  EXPECT_EQ(story.fsm().valid_for(at(310ms)), 0ms);
}

TEST(HoldFsm, IsLostWhenTheServerSaysSoToAHoldInTrouble) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.unanswered(450ms);
  story.time(495ms);
  EXPECT_EQ(story.gone(500ms), "lost: lost, taken");
}

// --- replies that come late ---

TEST(HoldFsm, IsLostWhenTheRenewalsReplyComesAfterTheDeadline) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.renewed(889ms, 305ms), "lost: lost, expired");
}

TEST(HoldFsm, StaysLostWhateverComesAfterwards) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.time(889ms);
  EXPECT_EQ(story.renewed(890ms, 305ms), "none: lost, expired");
  EXPECT_EQ(story.gone(891ms), "none: lost, expired");
  EXPECT_EQ(story.unanswered(892ms), "none: lost, expired");
  EXPECT_EQ(story.closed(893ms), "none: lost, expired");
  EXPECT_EQ(story.reconnect(894ms), "done: lost, expired");
  EXPECT_EQ(story.time(895ms), "nothing: lost, expired");
}

TEST(HoldFsm, StaysReleasedWhateverComesAfterwards) {
  HoldStory story(kRenewed);
  story.time(300ms);
  EXPECT_EQ(story.release(305ms), "begun: released");
  EXPECT_EQ(story.fsm().valid_for(at(305ms)), 0ms);
  EXPECT_EQ(story.renewed(306ms, 300ms), "none: released");
  EXPECT_EQ(story.gone(307ms), "none: released");
  EXPECT_EQ(story.unanswered(308ms), "none: released");
  EXPECT_EQ(story.closed(309ms), "none: released");
  EXPECT_EQ(story.reconnect(310ms), "done: released");
  EXPECT_EQ(story.time(2s), "nothing: released");
}

TEST(HoldFsm, IsNotExtendedAgainByAnOlderRenewal) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.reconnect(310ms);
  story.time(310ms);
  EXPECT_EQ(story.renewed(320ms, 312ms), "none: held until 1201ms, due 612ms");
  EXPECT_EQ(story.renewed(321ms, 300ms), "none: held until 1201ms, due 612ms");
}

TEST(HoldFsm, TakesALateAnswerAsGoodNewsWhileItIsStillCertain) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.reconnect(400ms);
  EXPECT_EQ(story.time(400ms), "renew: held until 889ms, due 889ms");
  story.unanswered(410ms);
  EXPECT_EQ(story.renewed(420ms, 300ms), "none: held until 1189ms, due 600ms");
}

// --- reconnects ---

TEST(HoldFsm, IsAskedForAtOnceAfterAReconnect) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.reconnect(100ms), "done: held until 889ms, due 100ms");
  EXPECT_EQ(story.fsm().lateness(at(100ms)), 0ms);
  EXPECT_EQ(story.time(100ms), "renew: held until 889ms, due 889ms");
}

TEST(HoldFsm, IsAskedForAfterAReconnectThoughARenewalWasUnderWay) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.reconnect(320ms);
  EXPECT_EQ(story.time(320ms), "renew: held until 889ms, due 889ms");
}

TEST(HoldFsm, CountsHowLateItIsAskedForFromTheReconnect) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.reconnect(500ms);
  EXPECT_EQ(story.fsm().lateness(at(510ms)), 10ms);
}

TEST(HoldFsm, StaysSuspectThroughAReconnectUntilTheServerAnswers) {
  HoldStory story(kRenewed);
  story.time(300ms);
  story.unanswered(310ms);
  EXPECT_EQ(story.reconnect(320ms), "done: suspect until 889ms, due 320ms");
  story.time(320ms);
  EXPECT_EQ(story.renewed(330ms, 321ms), "none: held until 1210ms, due 621ms");
}

TEST(HoldFsm, IsLostWhenTheReconnectComesAfterTheDeadline) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.reconnect(900ms), "done: held until 889ms, due 889ms");
  EXPECT_EQ(story.time(900ms), "lost: lost, expired");
}

// --- a cap on the hold ---

TEST(HoldFsm, WithACapIsRenewedUntilTheLeaseOutlivesTheCapAndThenLost) {
  HoldStory story(capped(1300ms));
  EXPECT_EQ(story.now(), "held: held until 889ms, due 300ms");
  EXPECT_EQ(story.time(300ms), "renew: held until 889ms, due 889ms");
  EXPECT_EQ(story.renewed(301ms, 300ms), "none: held until 1189ms, due 600ms");
  EXPECT_EQ(story.time(600ms), "renew: held until 1189ms, due 1189ms");
  EXPECT_EQ(story.renewed(601ms, 600ms), "none: held until 1300ms, due 1300ms");
  // The lease reaches to 1489 ms: nothing is gained by asking again.
  EXPECT_EQ(story.time(900ms), "nothing: held until 1300ms, due 1300ms");
  EXPECT_EQ(story.time(1299ms), "nothing: held until 1300ms, due 1300ms");
  EXPECT_EQ(story.time(1300ms), "lost: lost, max_hold");
}

TEST(HoldFsm, WithACapShorterThanTheLeaseIsLostAtTheCap) {
  HoldStory story(capped(100ms));
  EXPECT_EQ(story.now(), "held: held until 100ms, due 100ms");
  EXPECT_EQ(story.time(99ms), "nothing: held until 100ms, due 100ms");
  EXPECT_EQ(story.time(100ms), "lost: lost, max_hold");
}

TEST(HoldFsm, WithACapThatItsLeaseJustReachesIsNotRenewed) {
  HoldStory story(capped(889ms));
  EXPECT_EQ(story.time(300ms), "nothing: held until 889ms, due 889ms");
}

TEST(HoldFsm, WithACapIsExpiredWhenTheLeaseEndsFirst) {
  HoldStory story(capped(1300ms));
  EXPECT_EQ(story.time(889ms), "lost: lost, expired");
}

TEST(HoldFsm, WithACapCountsTheCapFromTheGrantNotFromRenewals) {
  HoldStory story(capped(1300ms));
  story.time(300ms);
  story.renewed(888ms, 850ms);
  EXPECT_EQ(story.fsm().deadline(), at(1300ms));
}

// --- the end ---

TEST(HoldFsm, IsLostWhenTheClientIsClosed) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.closed(100ms), "lost: lost, closed");
  EXPECT_EQ(story.closed(101ms), "none: lost, closed");
}

TEST(HoldFsm, IsDurableOnlyWithAcksOfTheEraThatIsNow) {
  LeaseTerms terms = kRenewed;
  terms.acks = Acks::all();
  HoldFsm fsm(at(0ms), terms, at(0ms));
  EXPECT_EQ(fsm.durable_for(at(100ms), 3), Duration{}) << "nobody has confirmed it";
  fsm.on_renewed(at(0ms), at(50ms), 3);
  EXPECT_EQ(fsm.durable_for(at(100ms), 3), fsm.valid_for(at(100ms)));
  EXPECT_EQ(fsm.durable_for(at(100ms), 4), Duration{}) << "the primary may be another one";
  EXPECT_GT(fsm.valid_for(at(100ms)), Duration{});
  fsm.on_renewed(at(0ms), at(140ms));
  EXPECT_EQ(fsm.durable_for(at(145ms), 1), Duration{}) << "a renewal without acks is of no era";
  fsm.on_renewed(at(0ms), at(150ms), 4);
  EXPECT_EQ(fsm.durable_for(at(889ms), 4), Duration{}) << "it is lost";
}

TEST(HoldFsm, ThatAReleaseDidNotFindWasLost) {
  HoldFsm taken(at(0ms), kRenewed, at(0ms));
  taken.begin_release();
  taken.on_release_found_none(at(888ms));
  EXPECT_TRUE(taken.was_lost());
  EXPECT_EQ(taken.reason(), LossReason::taken);
  EXPECT_EQ(taken.state(), HoldState::released);

  HoldFsm expired(at(0ms), kRenewed, at(0ms));
  expired.begin_release();
  expired.on_release_found_none(at(889ms));
  EXPECT_EQ(expired.reason(), LossReason::expired);

  HoldFsm closed(at(0ms), kRenewed, at(0ms));
  closed.on_closed();
  closed.begin_release();
  closed.on_release_found_none(at(1s));
  EXPECT_EQ(closed.reason(), LossReason::closed) << "as it was told";
}

TEST(HoldFsm, FitsWhoeverWantsTheSameForHalfOfItsLease) {
  LeaseTerms terms = kRenewed;
  const HoldFsm plain(at(0ms), terms, at(0ms));
  EXPECT_TRUE(plain.fits(terms, at(443ms), 3));
  EXPECT_FALSE(plain.fits(terms, at(443500us), 3)) << "450 ms less their margin";
  EXPECT_FALSE(plain.fits(kFixed, at(0ms), 3));
  terms.acks = Acks::all();
  EXPECT_FALSE(plain.fits(terms, at(0ms), 0));
  const HoldFsm acked(at(0ms), terms, at(0ms), 3);
  EXPECT_TRUE(acked.fits(terms, at(0ms), 3));
  EXPECT_FALSE(acked.fits(terms, at(0ms), 4)) << "the primary may be another one";
}

TEST(HoldFsm, IsEndlessIfItIsRenewedWithoutACap) {
  EXPECT_TRUE(HoldFsm(at(0ms), kRenewed, at(0ms)).endless());
  EXPECT_FALSE(HoldFsm(at(0ms), capped(1s), at(0ms)).endless());
  EXPECT_FALSE(HoldFsm(at(0ms), kFixed, at(0ms)).endless());
}

TEST(HoldFsm, CanBeReleasedOnce) {
  HoldStory story(kRenewed);
  EXPECT_EQ(story.release(100ms), "begun: released");
  EXPECT_EQ(story.release(101ms), "begun before: released");
}

TEST(HoldFsm, CanBeReleasedWhileSuspectOrAfterItWasLost) {
  HoldStory suspect(kRenewed);
  suspect.time(300ms);
  suspect.unanswered(310ms);
  EXPECT_EQ(suspect.release(311ms), "begun: released");

  HoldStory lost(kRenewed);
  lost.time(889ms);
  EXPECT_EQ(lost.release(890ms), "begun: lost, expired");
  EXPECT_EQ(lost.fsm().reason(), LossReason::expired);
}

}  // namespace
}  // namespace holdfast::engine::hold_fsm_test
