// SPDX-License-Identifier: Apache-2.0
// When a watched key is looked at again, told without a clock.
#include <string>

#include <gtest/gtest.h>

#include "fsm_text.hpp"
#include "lock/decide/lease.hpp"

namespace holdfast::engine::look_test {
namespace {

using namespace std::chrono_literals;

/// Of a hold whose lease is 12 s: renewed every 4 s, looked at every second at least in a storm.
class LookTest : public testing::Test {
 protected:
  /// When it is looked at, as the moments of changes come.
  std::string changed(Duration now) {
    const auto when = look_.on_changed(at(now), 12s);
    return when ? text(*when) : "no other";
  }
  std::string open(Duration now) { return text(look_.on_open(at(now), 12s)); }
  void ours(Duration sent_at) {
    look_.on_asked(at(sent_at));
    look_.on_ours();
  }

  Look look_;
};

TEST_F(LookTest, ComesAtOnceAfterAQuietTime) {
  EXPECT_EQ(changed(0ms), "0ms") << "the first";
  ours(0ms);
  EXPECT_EQ(changed(4000ms), "4000ms") << "a renewal";
  ours(4000ms);
  EXPECT_EQ(changed(8000ms), "8000ms");
  ours(8000ms);
  EXPECT_EQ(changed(8030ms), "8030ms");
}

TEST_F(LookTest, SeesWhateverChangesBeforeItIsAnswered) {
  changed(0ms);
  EXPECT_EQ(changed(1ms), "no other") << "it is to come";
  look_.on_asked(at(2ms));
  EXPECT_EQ(changed(3ms), "no other") << "it is under way, and the change was told before its answer";
  look_.on_ours();
  EXPECT_EQ(changed(50ms), "50ms") << "the next change";
}

TEST_F(LookTest, IsSpacedOutInAStorm) {
  changed(0ms);
  ours(0ms);
  EXPECT_EQ(changed(1ms), "20ms");
  ours(20ms);
  EXPECT_EQ(changed(21ms), "60ms");
  ours(60ms);
  EXPECT_EQ(changed(61ms), "140ms");
  ours(140ms);
  EXPECT_EQ(changed(141ms), "300ms");
  ours(300ms);
  EXPECT_EQ(changed(301ms), "620ms");
  ours(620ms);
  EXPECT_EQ(changed(621ms), "1260ms");
  ours(1260ms);
  EXPECT_EQ(changed(1261ms), "2260ms") << "a quarter of what lies between two renewals, and no more";
  ours(2260ms);
  EXPECT_EQ(changed(2261ms), "3260ms");
  ours(3260ms);
  EXPECT_EQ(changed(5261ms), "5261ms") << "quiet again";
  ours(5261ms);
  EXPECT_EQ(changed(5262ms), "5281ms");
}

TEST_F(LookTest, ComesAgainWhenThereWasNoAnswer) {
  changed(0ms);
  look_.on_asked(at(0ms));
  EXPECT_EQ(open(10ms), "30ms");
  EXPECT_EQ(changed(11ms), "no other");
  look_.on_asked(at(30ms));
  EXPECT_EQ(open(40ms), "80ms");
}

TEST_F(LookTest, IsSpacedByTheLengthOfTheLease) {
  EXPECT_EQ(Look::longest_pause(300ms), 25ms);
  EXPECT_EQ(Look::longest_pause(12s), 1s);
  EXPECT_EQ(Look::longest_pause(24h), 10s);
  EXPECT_EQ(Look::longest_pause(0ms), Look::kShortestPause) << "never without a pause";
}

TEST(LookOfAnyLease, IsAtOnceAfterItsOwnRenewals) {
  for (milliseconds lease = kShortestWatched; lease < 1h; lease = lease * 3 / 2) {
    const Duration quiet = renew_after(lease) - batching_window(lease);
    EXPECT_GT(quiet, 2 * Look::longest_pause(lease)) << lease.count();
  }
}

TEST_F(LookTest, ThatIsToBeRepeatedIsTheOnlyOne) {
  EXPECT_EQ(open(0ms), "20ms");
  EXPECT_EQ(changed(1ms), "no other");
}

TEST_F(LookTest, TwoPausesLaterTheStormIsNotQuiteOver) {
  changed(0ms);
  ours(0ms);
  EXPECT_EQ(changed(1ms), "20ms");
  ours(20ms);  // the pause is 40 ms now
  EXPECT_EQ(changed(100ms), "100ms");
  ours(100ms);
  EXPECT_EQ(changed(101ms), "180ms") << "it has grown, so the storm went on";
}

}  // namespace
}  // namespace holdfast::engine::look_test
