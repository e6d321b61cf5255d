// SPDX-License-Identifier: Apache-2.0
// How long one client keeps a lock among its own callers, and when it pauses for others.
#include "lock/decide/tenure.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace holdfast::engine::tenure_test {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint at(Duration since) { return TimePoint(1h + since); }
constexpr bool kOthers = true;
constexpr bool kNobody = false;

TEST(TenureTest, PassesOnWithinItsLengthFromTheGrant) {
  Tenure tenure(2ms);
  EXPECT_FALSE(tenure.may_pass(at(0ms))) << "nothing was granted yet";
  tenure.on_granted(at(0ms));
  EXPECT_TRUE(tenure.may_pass(at(1999us)));
  EXPECT_FALSE(tenure.may_pass(at(2ms)));
}

TEST(TenureTest, OfNoLengthNeverPassesOnAndNeverPauses) {
  Tenure tenure(0ms);
  tenure.on_granted(at(0ms));
  EXPECT_FALSE(tenure.may_pass(at(0ms)));
  tenure.on_released(at(1ms), kOthers);
  EXPECT_FALSE(tenure.may_pass(at(1ms)));
  EXPECT_LE(tenure.pause_until(), at(1ms));
}

TEST(TenureTest, IsNotMadeLongerByTakingTheLockAgainAtOnce) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(1ms), kOthers);
  tenure.on_granted(at(1100us));
  EXPECT_TRUE(tenure.may_pass(at(1900us)));
  EXPECT_FALSE(tenure.may_pass(at(2100us)));
}

TEST(TenureTest, BeginsAnewWhenOthersHadTime) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(1ms), kOthers);
  tenure.on_granted(at(10ms));
  EXPECT_TRUE(tenure.may_pass(at(11ms)));
}

TEST(TenureTest, BeginsAnewWhenOthersHadIt) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(1ms), kOthers);
  tenure.on_other();
  tenure.on_granted(at(1900us));
  EXPECT_TRUE(tenure.may_pass(at(3800us)));
}

TEST(TenureTest, IsFollowedByAPauseIfOthersListen) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(1ms), kOthers);
  EXPECT_LE(tenure.pause_until(), at(1ms)) << "not over yet";
  tenure.on_granted(at(1100us));
  tenure.on_released(at(5ms), kOthers);
  EXPECT_EQ(tenure.pause_until(), at(8ms));
}

TEST(TenureTest, IsNotFollowedByAPauseIfNobodyListens) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(5ms), kNobody);
  EXPECT_LE(tenure.pause_until(), at(5ms));
  tenure.on_granted(at(5100us));
  EXPECT_TRUE(tenure.may_pass(at(7ms)));
}

TEST(TenureTest, PausesNoLongerOnceSomebodyCame) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(5ms), kOthers);
  tenure.on_other();
  EXPECT_LE(tenure.pause_until(), at(5ms));
}

TEST(TenureTest, PausesNoLongerOnceSomebodyHereGotIt) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(5ms), kOthers);
  tenure.on_granted(at(6ms));  // one who tries only once does not pause
  EXPECT_LE(tenure.pause_until(), at(6ms));
}

TEST(TenureTest, AsksAfterTheReleaseOnlyIfOthersWereThereLastTime) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  EXPECT_FALSE(tenure.must_ask_after_release(at(5ms))) << "not known yet";
  tenure.on_released(at(5ms), kOthers);
  tenure.on_other();
  tenure.on_granted(at(6ms));
  EXPECT_FALSE(tenure.must_ask_after_release(at(7ms))) << "the tenure is not over";
  EXPECT_TRUE(tenure.must_ask_after_release(at(9ms)));
  tenure.on_released(at(9ms), kNobody);
  tenure.on_granted(at(10ms));
  EXPECT_FALSE(tenure.must_ask_after_release(at(20ms)));
}

TEST(TenureTest, IsNotBegunAnewByAnAttemptInOneWriteWithTheRelease) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(3ms), kOthers);
  tenure.on_granted(at(1500us));  // when nobody else could have come
  EXPECT_FALSE(tenure.may_pass(at(3100us)));
  EXPECT_TRUE(tenure.must_ask_after_release(at(3100us)));
  tenure.on_released(at(4ms), kOthers);
  EXPECT_EQ(tenure.pause_until(), at(7ms)) << "and the earlier pause was not in vain: there was none";
}

TEST(TenureTest, IsNotBegunAnewByTheAttemptAfterThatEither) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(3ms), kOthers);
  tenure.on_granted(at(1500us));
  tenure.on_granted(at(3500us));
  EXPECT_FALSE(tenure.may_pass(at(3600us)));
}

TEST(TenureTest, BeginsAnewThreeMillisecondsAfterARelease) {
  using Case = std::pair<Duration, bool>;
  for (const auto& [granted, anew] : {Case(3999us, false), Case(4ms, true)}) {
    Tenure tenure(2ms);
    tenure.on_granted(at(0ms));
    tenure.on_released(at(1ms), kOthers);
    tenure.on_granted(at(granted));
    EXPECT_EQ(tenure.may_pass(at(5ms)), anew);
  }
}

TEST(TenureTest, IsNotBegunAnewByAReleaseThatNobodyHeardWhereStrangersWere) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_stranger(at(0ms));
  tenure.on_released(at(1ms), kNobody);
  tenure.on_granted(at(1100us));
  EXPECT_FALSE(tenure.may_pass(at(2500us)));
}

TEST(TenureTest, HoldsNewSharersBackForATenthOfASecond) {
  Tenure tenure(2ms);
  tenure.on_granted(at(1ms));
  EXPECT_EQ(tenure.hold_back_until(), at(103ms));
}

TEST(TenureTest, BeginsAnewWithAnAttemptInOneWriteWithTheReleaseIfNobodyListens) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(3ms), kNobody);
  tenure.on_granted(at(2900us));
  EXPECT_TRUE(tenure.may_pass(at(4800us)));
}

TEST(TenureTest, BeginsAnewIfOthersCameBetweenTheReleaseAndAnAttemptInOneWriteWithIt) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(3ms), kOthers);
  tenure.on_other();
  tenure.on_granted(at(1500us));
  EXPECT_TRUE(tenure.may_pass(at(3400us)));
}

TEST(TenureTest, PausesLongerForThoseWhoMayBeSlow) {
  Tenure tenure(2ms);
  TimePoint now = at(0ms);
  for (const Duration pause : {3ms, 6ms, 12ms, 24ms}) {
    tenure.on_granted(now);
    now += 3ms;
    tenure.on_released(now, kOthers);
    EXPECT_EQ(tenure.pause_until() - now, pause);
    now = tenure.pause_until();
  }
  tenure.on_other();
  tenure.on_granted(now);
  tenure.on_released(now + 3ms, kOthers);
  EXPECT_EQ(tenure.pause_until() - now, 27ms) << "and goes on so, since now they come";
}

TEST(TenureTest, IsOverWithEachReleaseWhereClientsOfAnotherLibraryWantItToo) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_stranger(at(0ms));
  EXPECT_TRUE(tenure.may_pass(at(1ms))) << "inside the client nothing changes";
  tenure.on_released(at(1ms), kOthers);
  EXPECT_EQ(tenure.pause_until(), at(4ms));
  tenure.on_other();
  tenure.on_granted(at(5ms));
  EXPECT_TRUE(tenure.must_ask_after_release(at(6ms)));
  tenure.on_released(at(6ms), kNobody);
  EXPECT_LE(tenure.pause_until(), at(6ms)) << "they have gone";
}

TEST(TenureTest, ForgetsClientsOfAnotherLibraryThatWereNotSeenForLong) {
  Tenure tenure(2ms);
  tenure.on_stranger(at(0s));
  EXPECT_TRUE(tenure.strangers(at(9s)));
  EXPECT_FALSE(tenure.strangers(at(10s)));
  tenure.on_granted(at(20s));
  tenure.on_released(at(20s + 1ms), kOthers);
  EXPECT_LE(tenure.pause_until(), at(20s));
}

/// Listeners that never come: how long the pause after each of `rounds` tenures is.
std::vector<Duration> pauses_after(Tenure& tenure, int rounds, TimePoint now) {
  std::vector<Duration> pauses;
  for (int i = 0; i < rounds; ++i) {
    tenure.on_granted(now);
    now += 3ms;
    tenure.on_released(now, kOthers);
    pauses.push_back(std::max(tenure.pause_until() - now, Duration{}));
    now += pauses.back();
  }
  return pauses;
}
/// How many of them there are.
std::ptrdiff_t pauses_in_vain(Tenure& tenure, int rounds, TimePoint now) {
  return rounds - std::ranges::count(pauses_after(tenure, rounds, now), Duration{});
}

TEST(TenureTest, PausesLessAndLessForThoseWhoListenButDoNotCome) {
  Tenure tenure(2ms);
  EXPECT_LE(pauses_in_vain(tenure, 200, at(0s)), 13) << "four, each longer, then after 1, 2, 4, ... 64, 64 tenures";
  EXPECT_GE(pauses_in_vain(tenure, 200, at(100s)), 3) << "but never quite stops";
}

TEST(TenureTest, PausesNoLongerThanTwentyFourMillisecondsAndLeavesOutTwiceAsManyEachTime) {
  Tenure tenure(2ms);
  std::string pauses;
  for (const Duration pause : pauses_after(tenure, 24, at(0s))) pauses += std::to_string(pause / 1ms) + " ";
  EXPECT_EQ(pauses, "3 6 12 24 0 3 0 0 3 0 0 0 0 3 0 0 0 0 0 0 0 0 3 0 ");
}

TEST(TenureTest, PausesForEverybodyAgainOnceSomebodyHasCome) {
  Tenure tenure(2ms);
  pauses_in_vain(tenure, 50, at(0s));
  tenure.on_other();
  tenure.on_granted(at(1h));
  tenure.on_released(at(1h + 5ms), kOthers);
  EXPECT_EQ(tenure.pause_until(), at(1h + 8ms));
}

TEST(TenureTest, LetsNewcomersOvertakeTheQueueForAMillisecond) {
  Tenure tenure(2ms);
  EXPECT_FALSE(tenure.may_overtake(at(0ms)));
  tenure.on_queue_served(at(0ms));
  EXPECT_TRUE(tenure.may_overtake(at(999us)));
  EXPECT_FALSE(tenure.may_overtake(at(1ms)));
}

TEST(TenureTest, BeginsAnewWithAnAttemptSentAtTheMomentOfTheRelease) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_released(at(3ms), kOthers);
  tenure.on_granted(at(3ms));
  EXPECT_TRUE(tenure.may_pass(at(4900us)));
}

TEST(TenureTest, BeginsAnewIfOthersHadItBeforeARelease) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  tenure.on_other();
  tenure.on_released(at(1ms), kOthers);
  tenure.on_granted(at(1100us));
  EXPECT_TRUE(tenure.may_pass(at(3000us)));
}

TEST(TenureTest, TriesLongerPausesAgainOnceSomebodyHasCome) {
  Tenure tenure(2ms);
  pauses_in_vain(tenure, 50, at(0s));
  tenure.on_other();
  EXPECT_GE(pauses_in_vain(tenure, 8, at(1h)), 5) << "as at first";
}

TEST(TenureTest, MustEndOnlyIfItIsOverAndOthersAreThere) {
  Tenure tenure(2ms);
  tenure.on_granted(at(0ms));
  EXPECT_FALSE(tenure.must_end(at(5ms))) << "nobody else is there";
  tenure.on_listeners(1);
  EXPECT_FALSE(tenure.must_end(at(1ms)));
  EXPECT_TRUE(tenure.must_end(at(2ms)));
}

}  // namespace
}  // namespace holdfast::engine::tenure_test
