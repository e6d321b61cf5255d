// SPDX-License-Identifier: Apache-2.0
// Where a waiter stands in a crowd, and when it asks.
#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "lock/decide/acquire_fsm.hpp"

namespace holdfast::engine::place_test {
namespace {

using namespace std::chrono_literals;

constexpr Duration kTurn = 2ms;
constexpr int kNoLimit = Place::kNoLimit;
constexpr TimePoint at(Duration since) { return TimePoint(1h + since); }

/// So many were ahead, and so many turns have passed since, 3 ms each.
Place place(std::int64_t ahead, int turns = 0, double chance = 0) {
  Place place(kTurn, chance);
  place.found(ahead);
  for (int i = 0; i < turns; ++i) place.on_release(at(i * 3ms));
  return place;
}

Duration delay(std::int64_t ahead, int turns, double chance, int limit = kNoLimit) {
  return place(ahead, turns, chance).delay(limit, false);
}

TEST(PlaceTest, OfOneWhoIsAloneAsksAtOnce) {
  EXPECT_EQ(delay(0, 0, 0.5), 0ns);
  EXPECT_EQ(delay(-1, 0, 0.5), 0ns) << "neither the holder nor the waiter itself is ahead";
  EXPECT_EQ(Place(kTurn, 0.5).delay(kNoLimit, false), 0ns) << "nothing is known of others";
}

TEST(PlaceTest, WaitingLongerNeverMeansAskingLater) {
  std::minstd_rand random(1);
  for (int i = 0; i < 20000; ++i) {
    const double chance = static_cast<double>(random() % 1000) / 1000;
    const int ahead = static_cast<int>(random() % 200);
    const int turns = static_cast<int>(random() % 100);
    const int limit = random() % 2 == 0 ? kNoLimit : static_cast<int>(random() % 50);
    const Duration now = delay(ahead, turns, chance, limit);
    EXPECT_LE(delay(ahead, turns + 1, chance, limit), now) << ahead << " ahead, " << turns << " turns";
    if (ahead != Place::kCrowd) {  // where it becomes a crowd, fewer are near
      EXPECT_LE(delay(std::max(ahead - 1, 0), turns, chance, limit), now) << ahead << " ahead, " << turns << " turns";
    }
    EXPECT_LE(now, Place::kLongest);
  }
}

TEST(PlaceTest, GivesThoseAheadTimeToAsk) {
  for (const double chance : {0.0, 0.3, 0.99}) {
    for (int ahead = 1; ahead < Place::kNear; ++ahead) {
      EXPECT_GE(delay(ahead + 1, 0, chance) - delay(ahead, 0, 0), 250us);
    }
    EXPECT_LE(delay(3, 3, chance), 100us) << "who is due";
    EXPECT_EQ(delay(3, 7, chance), 0us) << "who is overdue";
  }
}

TEST(PlaceTest, GivesThoseAheadMoreTimeIfTheyMayBeOfAnotherLibrary) {
  for (int ahead = 1; ahead <= Place::kNear; ++ahead) {
    EXPECT_GE(place(ahead).delay(kNoLimit, true), ahead * Place::kStrangersStep);
  }
  EXPECT_LE(place(3, 3).delay(kNoLimit, true), 100us) << "who is due";
  EXPECT_LE(place(1000).delay(kNoLimit, true), Place::longest(1000));
}

TEST(PlaceTest, FarBackIsLeftAloneAsLongAsTheReleasesGoOn) {
  Place far(kTurn, 0.5);
  far.found(40);
  EXPECT_GE(far.delay(kNoLimit, false), Place::kLongestPause) << "nothing is known of their pace";
  far.on_release(at(0ms));
  far.on_release(at(5ms));
  EXPECT_GE(far.delay(kNoLimit, false), 10ms) << "two releases are missing";
  EXPECT_LE(far.delay(kNoLimit, false), 20ms);
  far.on_release(at(10s));
  EXPECT_LE(far.delay(kNoLimit, false), Place::kLongest);
}

TEST(PlaceTest, CountsAReleaseAtTheEndOfATurnAsTheNext) {
  Place place(kTurn, 0);
  place.found(10);
  place.on_release(at(0ms));
  place.on_release(at(2ms));
  EXPECT_EQ(place.turns(), 2);
}

TEST(PlaceTest, OfOneWhoIsAloneStaysSoWhenOthersCome) {
  Place place(kTurn, 0);
  place.found(0);
  place.found(5);
  EXPECT_EQ(place.ahead(), 0);
}

TEST(PlaceTest, HasHadNoTurnsWhenItIsFound) {
  Place place(kTurn, 0);
  for (int i = 0; i < 3; ++i) place.on_release(at(i * 3ms));
  place.found(10);
  EXPECT_EQ(place.turns(), 0);
  EXPECT_EQ(place.ahead(), 10);
}

TEST(PlaceTest, ThatIsGuessedDelaysByTwoStepsAtMostInTheEnd) {
  for (const double chance : {0.0, 0.2, 0.38, 0.9}) {
    Place place(kTurn, chance);
    place.guess();
    EXPECT_LE(place.delay(kNoLimit, false), Place::kNear * Place::kStep);
    for (int i = 0; i < 20; ++i) place.on_release(at(i * 3ms));
    for (int i = 0; i < 8; ++i) EXPECT_LE(place.delay(kNoLimit, false), 2 * Place::kStep);
  }
}

TEST(PlaceTest, DelaysByItsStepAndAPartOfASmallOne) {
  for (const double chance : {0.0, 0.3, 0.99}) {
    EXPECT_GE(delay(3, 3, chance), Place::kOverdue * Place::kSmallStep) << "who is due";
    EXPECT_LE(delay(3, 3, chance), (Place::kOverdue + 1) * Place::kSmallStep);
    EXPECT_GE(delay(Place::kNear, 0, chance), Place::kNear * Place::kStep);
    EXPECT_LE(delay(Place::kNear, 0, chance), Place::kNear * Place::kStep + Place::kSmallStep) << "the last one near";
  }
}

TEST(PlaceTest, IsFarBackUntilItsTurnIsNear) {
  EXPECT_TRUE(place(40).far(kNoLimit));
  EXPECT_TRUE(place(40, 36).far(kNoLimit));
  EXPECT_FALSE(place(40, 37).far(kNoLimit));
  EXPECT_FALSE(place(40).far(3)) << "not every listener wants it";
  EXPECT_FALSE(place(15).far(kNoLimit)) << "no crowd";
}

TEST(PlaceTest, CountsReleasesOfOneTenureAsOneTurn) {
  Place place(kTurn, 0);
  place.found(10);
  for (const Duration release : {0us, 300us, 1900us, 2000us, 2300us}) place.on_release(at(release));
  EXPECT_EQ(place.turns(), 2);
}

TEST(PlaceTest, CannotBeBehindMoreThanThereAre) {
  Place place = place_test::place(30, 5);
  place.found(40);
  EXPECT_EQ(place.ahead(), 30) << "those have come later";
  place.found(10);
  EXPECT_EQ(place.ahead() - place.turns(), 10) << "others have gone without a turn";
}

TEST(PlaceTest, IsLeftToChanceWhereNobodyCanTell) {
  std::vector<Duration> delays;
  for (int i = 0; i < 64; ++i) {
    Place place(kTurn, i / 64.0);
    place.guess();
    delays.push_back(place.delay(kNoLimit, false));
  }
  std::sort(delays.begin(), delays.end());
  EXPECT_LE(delays.front(), 100us) << "the lock does not lie idle";
  EXPECT_GE(delays.back(), 2ms) << "not all ask at once";
  EXPECT_LE(delays.back(), Place::kNear * Place::kStep);
  EXPECT_EQ(std::adjacent_find(delays.begin(), delays.end()), delays.end());
}

/// A wait in which so many of those who listened came first.
void live_through(PlaceLimit& limit, int listeners, int came_first) { limit.on_end(place(listeners, came_first + 1)); }

TEST(PlaceLimitTest, LearnsThatThoseWhoListenDoNotWantTheLock) {
  PlaceLimit limit;
  EXPECT_EQ(limit.limit(), kNoLimit);
  live_through(limit, 60, 0);
  EXPECT_EQ(limit.limit(), 32);
  for (int i = 0; i < 2; ++i) live_through(limit, 60, 0);
  EXPECT_EQ(limit.limit(), 2);
  EXPECT_LE(delay(60, 0, 0.5, limit.limit()), 1ms);
}

TEST(PlaceLimitTest, IsNotMisledByOneTurnThatCameByLuck) {
  PlaceLimit limit;
  live_through(limit, 60, 60);
  live_through(limit, 60, 3);
  EXPECT_GE(limit.limit(), 32);
}

TEST(PlaceLimitTest, FindsACrowdThatHasGrown) {
  PlaceLimit limit;
  for (int i = 0; i < 8; ++i) live_through(limit, 60, 0);
  int waits = 0;
  for (int turns = 2; limit.limit() < 60; turns = std::min(limit.limit(), 60)) {
    live_through(limit, 60, turns);
    ASSERT_LE(++waits, 6);
  }
}

}  // namespace
}  // namespace holdfast::engine::place_test
