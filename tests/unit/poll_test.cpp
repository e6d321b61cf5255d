// SPDX-License-Identifier: Apache-2.0
// How long a waiter sleeps between two attempts if it may not be told of a release.
#include <chrono>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lock/decide/acquire_fsm.hpp"

namespace holdfast::engine::poll_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using testing::ElementsAre;

std::vector<long long> sleeps(PollTerms terms, double chance, int count) {
  Poll poll;
  std::vector<long long> all;
  for (int i = 0; i < count; ++i)
    all.push_back(std::chrono::duration_cast<microseconds>(poll.next(terms, chance)).count());
  return all;
}

constexpr PollTerms kSpin{1ms, 128ms, 2, PollTerms::Spread::added};

TEST(Poll, HalfOfEachSleepIsByChance) {
  EXPECT_THAT(sleeps({10ms, 80ms}, 0, 5), ElementsAre(5000, 10000, 20000, 40000, 40000));
  EXPECT_THAT(sleeps({10ms, 80ms}, 0.5, 5), ElementsAre(7500, 15000, 30000, 60000, 60000));
}

TEST(Poll, ASpinLocksSleepsAreRedissons) {
  EXPECT_THAT(sleeps(kSpin, 0, 9), ElementsAre(1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 128000));
  // Redisson adds a whole number below k to the k-th: none to the second, up to 1 ms to the third, ...
  EXPECT_THAT(sleeps(kSpin, 0.5, 5), ElementsAre(1000, 2000, 4500, 10000, 21500));
}

TEST(Poll, ChanceNeverMakesOneLongerThanTheLongest) {
  for (const long long each : sleeps(kSpin, 0.999, 40)) EXPECT_LE(each, 128000);
}

TEST(Poll, IsConstantWhereFirstAndLongestAreTheSame) {
  EXPECT_THAT(sleeps({64ms, 64ms, 2, PollTerms::Spread::added}, 0.9, 4), ElementsAre(64000, 64000, 64000, 64000));
}

TEST(Poll, GrowsByItsMultiplier) {
  EXPECT_THAT(sleeps({1ms, 50ms, 10, PollTerms::Spread::added}, 0, 4), ElementsAre(1000, 10000, 50000, 50000));
  EXPECT_THAT(sleeps({5ms, 7ms, 1, PollTerms::Spread::added}, 0, 3), ElementsAre(5000, 5000, 5000));
}

TEST(Poll, DoesNotOverflow) {
  EXPECT_THAT(
      sleeps({std::chrono::hours(24 * 3650), std::chrono::hours(24 * 3650), 1000, PollTerms::Spread::added}, 0.9, 3),
      testing::Each(testing::Eq(315'360'000'000'000LL)));
}

}  // namespace
}  // namespace holdfast::engine::poll_test
