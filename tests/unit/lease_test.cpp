// SPDX-License-Identifier: Apache-2.0
// The arithmetic on leases: the margin, and what follows from a length.
#include "lock/decide/lease.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::engine::lease_test {
namespace {

using namespace std::chrono_literals;

/// From the shortest to the longest lease, closer together than any round number.
std::vector<milliseconds> lengths() {
  std::vector<milliseconds> out;
  for (milliseconds length = kShortestLease; length < kLongestLease; length += length / 7 + 1ms) out.push_back(length);
  out.push_back(kLongestLease);
  return out;
}

TEST(Lease, IsBelievedOnePercentAndTwoMillisecondsLessThanItsLength) {
  EXPECT_EQ(margin(10ms), 2100us);
  EXPECT_EQ(margin(1s), 12ms);
  EXPECT_EQ(margin(30s), 302ms);
}

TEST(Lease, EndsAMarginBeforeTheServerCountedFromTheSend) {
  EXPECT_EQ(text(lease_end(at(0ms), 30s)), "29698ms");
  EXPECT_EQ(text(lease_end(at(500ms), 10ms)), "507.9ms");
}

TEST(Lease, IsRenewedEveryThirdOfItsLength) {
  EXPECT_EQ(renew_after(30s), 10s);
  EXPECT_EQ(renew_after(900ms), 300ms);
}

TEST(Lease, PausesAfterAFailedRenewalATwentiethOfItsLengthWithinBounds) {
  EXPECT_EQ(retry_after(10ms), 5ms);
  EXPECT_EQ(retry_after(100ms), 5ms);
  EXPECT_EQ(retry_after(30s), 1500ms);
  EXPECT_EQ(retry_after(40s), 2s);
  EXPECT_EQ(retry_after(1h), 2s);
}

TEST(Lease, WaitsForARenewalsReplyASixthOfItsLengthWithinBounds) {
  EXPECT_EQ(renewal_timeout(10ms, 3s), 10ms);
  EXPECT_EQ(renewal_timeout(60ms, 3s), 10ms);
  EXPECT_EQ(renewal_timeout(6s, 3s), 1s);
  EXPECT_EQ(renewal_timeout(30s, 3s), 3s);
}

TEST(Lease, NeverWaitsLongerForAReplyThanTheClientsTimeLimit) {
  for (const milliseconds length : lengths()) EXPECT_EQ(renewal_timeout(length, 1ms), 1ms) << length.count();
}

TEST(Lease, IsSentAgainUntilTimeIsUpAndThenForOneCommandsTime) {
  EXPECT_EQ(repeated_for(10s, 3s), 13s);
  EXPECT_EQ(repeated_for(-1s, 3s), 3s);
  EXPECT_EQ(repeated_for(1us, 0s), 1ms) << "never less than the time that it is";
  // In trouble, the last attempt, and the undo.
  EXPECT_EQ(undone_for(15s, 3s), 15s + 3s + 3s);
  EXPECT_EQ(undone_for(0s, 1ms), kShortestLease);
  EXPECT_EQ(undone_for(kLongestLease, 3s), kLongestLease);
}

TEST(Lease, IsCertainlyGoneAMarginAfterItsLength) { EXPECT_EQ(text(gone_by(at(500ms), 30s)), "30802ms"); }

TEST(Lease, SharesACommandOfItsSlotWithWhatIsDueWithinHalfOfItsPeriod) { EXPECT_EQ(slot_window(30s), 5s); }

TEST(Lease, SharesCommandsWithWhatIsDueWithinATenthOfItsPeriod) {
  EXPECT_EQ(batching_window(30s), 1s);
  EXPECT_EQ(batching_window(300ms), 10ms);
}

TEST(Lease, OfAnyLengthIsRenewedBeforeItEnds) {
  for (const milliseconds length : lengths()) {
    EXPECT_LT(margin(length), Duration(length)) << length.count();
    EXPECT_LT(renew_after(length), lease_end(at(0ms), length) - kStart) << length.count();
    EXPECT_LT(batching_window(length), renew_after(length)) << length.count();
  }
}

TEST(Lease, LeavesRoomForThreeTriesWhenNoRenewalIsAnswered) {
  for (const milliseconds length : lengths()) {
    if (length < 100ms) continue;
    const Duration one_try = renewal_timeout(length, 3s) + retry_after(length);
    EXPECT_LT(renew_after(length) + 2 * one_try, lease_end(at(0ms), length) - kStart) << length.count();
  }
}

TEST(Lease, NeverEndsAfterTheServersWhateverItsLength) {
  // A clock that runs 1 % slow, and a server that rounds down to its millisecond.
  for (const milliseconds length : lengths()) {
    const Duration servers = Duration(length) - 1ms;
    const Duration ours = lease_end(at(0ms), length) - kStart;
    EXPECT_LE(ours + Duration(length) / 100, servers) << length.count();
  }
}

TEST(Lease, OfWhatIsASixthOrASecondOldIsWatched) {
  EXPECT_EQ(watch_after(600ms), 100ms);
  EXPECT_EQ(watch_after(6s), 1s);
  EXPECT_EQ(watch_after(30s), 1s);
}

TEST(Look, IsOverOnceItIsAnsweredAndTwoPausesHavePassed) {
  Look look;
  EXPECT_EQ(look.on_changed(at(0ms), 30s), at(0ms));
  look.on_asked(at(0ms));
  EXPECT_FALSE(look.is_over(at(1h))) << "not answered";
  look.on_ours();
  EXPECT_FALSE(look.is_over(at(40ms)));
  EXPECT_TRUE(look.is_over(at(41ms)));
}

}  // namespace
}  // namespace holdfast::engine::lease_test
