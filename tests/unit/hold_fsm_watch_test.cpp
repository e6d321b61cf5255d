// SPDX-License-Identifier: Apache-2.0
// From when on a hold is watched, who decides a doubt, and what a new server means, told without a clock.
#include <gtest/gtest.h>

#include "fsm_text.hpp"
#include "lock/decide/hold_fsm.hpp"

namespace holdfast::engine::hold_fsm_watch_test {
namespace {

using namespace std::chrono_literals;

/// A lease of 6 s is watched from the age of 1 s on, or from half of that if others are looked at.
HoldFsm lasting(LeaseTerms terms = {.length = 6s, .renewed = true, .max_hold = {}}) {
  return {at(0ms), terms, at(100ms), 0, HoldFsm::Watched::yes};
}

TEST(HoldFsmWatch, BeginsOnceWhenItHasLasted) {
  HoldFsm hold = lasting();
  EXPECT_EQ(hold.due(), at(1100ms)) << "counted from the grant";
  EXPECT_FALSE(hold.begin_watch(at(1099ms), 0ms));
  EXPECT_EQ(hold.on_time(at(1100ms)), HoldFsm::Todo::nothing) << "no renewal comes any earlier for it";
  EXPECT_TRUE(hold.begin_watch(at(1100ms), 0ms));
  EXPECT_FALSE(hold.begin_watch(at(1101ms), 0ms));
  EXPECT_EQ(hold.due(), at(2000ms)) << "the renewal";
}

TEST(HoldFsmWatch, IsTakenAlongFromHalfOfThatOn) {
  HoldFsm hold = lasting();
  EXPECT_FALSE(hold.begin_watch(at(599ms), 10s));
  EXPECT_TRUE(hold.begin_watch(at(600ms), 10s));
  HoldFsm other = lasting();
  EXPECT_FALSE(other.begin_watch(at(899ms), 200ms));
  EXPECT_TRUE(other.begin_watch(at(900ms), 200ms));
}

TEST(HoldFsmWatch, ComesBeforeTheFirstRenewal) {
  HoldFsm hold = lasting({.length = 300ms, .renewed = true, .max_hold = {}});
  EXPECT_EQ(hold.due(), at(100ms));
  HoldFsm fixed = lasting({.length = 600ms, .renewed = false, .max_hold = {}});
  EXPECT_EQ(fixed.due(), at(200ms));
}

TEST(HoldFsmWatch, IsNotForShorterLeasesOrWhereNobodyWantsIt) {
  HoldFsm shorter = lasting({.length = 299ms, .renewed = false, .max_hold = {}});
  EXPECT_EQ(shorter.due(), shorter.deadline());
  EXPECT_FALSE(shorter.begin_watch(at(200ms), 0ms));
  HoldFsm shortest = lasting({.length = 300ms, .renewed = false, .max_hold = {}});
  EXPECT_TRUE(shortest.begin_watch(at(200ms), 0ms));
  HoldFsm unwanted(at(0ms), {.length = 6s, .renewed = true, .max_hold = {}}, at(0ms));
  EXPECT_EQ(unwanted.due(), at(2000ms));
  EXPECT_FALSE(unwanted.begin_watch(at(5000ms), 0ms));
}

TEST(HoldFsmWatch, IsRenewedThereFromItsBeginOnUnlessItIsInDoubt) {
  HoldFsm hold = lasting();
  EXPECT_FALSE(hold.steady());
  EXPECT_TRUE(hold.begin_watch(at(1100ms), 0ms));
  EXPECT_TRUE(hold.steady());
  hold.on_time(at(2000ms));
  hold.on_unanswered(at(3000ms));
  EXPECT_FALSE(hold.steady()) << "suspect";
  hold.on_renewed(at(3500ms), at(3600ms));
  EXPECT_TRUE(hold.steady());
  hold.begin_release();
  EXPECT_FALSE(hold.steady());
  EXPECT_FALSE(lasting({.length = 299ms, .renewed = true, .max_hold = {}}).steady());
}

TEST(HoldFsmWatch, IsNotForWhatHasEnded) {
  HoldFsm released = lasting();
  released.begin_release();
  EXPECT_FALSE(released.begin_watch(at(2000ms), 0ms));
  HoldFsm late = lasting();
  EXPECT_FALSE(late.begin_watch(late.deadline(), 0ms));
}

TEST(HoldFsmWatch, ADoubtIsForARenewalToDecide) {
  HoldFsm hold = lasting();
  EXPECT_TRUE(hold.on_doubt(at(500ms)));
  EXPECT_EQ(hold.due(), at(500ms));
  EXPECT_EQ(hold.on_time(at(500ms)), HoldFsm::Todo::renew);
  EXPECT_TRUE(hold.on_doubt(at(510ms))) << "also with one under way: that may have been sent before";
  EXPECT_EQ(hold.on_time(at(510ms)), HoldFsm::Todo::renew);
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST(HoldFsmWatch, ADoubtIsForAQuestionWhereNoRenewalIsToCome) {
  HoldFsm fixed = lasting({.length = 6s, .renewed = false, .max_hold = {}});
  EXPECT_FALSE(fixed.on_doubt(at(500ms)));
  HoldFsm capped = lasting({.length = 6s, .renewed = true, .max_hold = 5s});
  EXPECT_FALSE(capped.on_doubt(at(500ms))) << "its lease outlives the cap";
  HoldFsm ended = lasting();
  ended.begin_release();
  EXPECT_FALSE(ended.on_doubt(at(500ms)));
}

TEST(HoldFsmMoved, IsSuspectUntilItsNewServerHasAnswered) {
  HoldFsm hold = lasting();
  EXPECT_EQ(hold.on_moved(at(500ms)), HoldFsm::Change::suspect);
  EXPECT_EQ(hold.state(), HoldState::suspect);
  EXPECT_EQ(hold.due(), at(500ms));
  EXPECT_EQ(hold.on_moved(at(510ms)), HoldFsm::Change::none) << "told once";
  EXPECT_EQ(hold.on_time(at(510ms)), HoldFsm::Todo::renew);
  EXPECT_EQ(hold.on_renewed(at(510ms), at(520ms)), HoldFsm::Change::none);
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST(HoldFsmMoved, IsAskedForAgainAlthoughARenewalIsUnderWay) {
  HoldFsm hold = lasting();
  EXPECT_EQ(hold.on_time(at(2s)), HoldFsm::Todo::renew);
  EXPECT_EQ(hold.on_moved(at(2001ms)), HoldFsm::Change::suspect);
  EXPECT_EQ(hold.on_time(at(2001ms)), HoldFsm::Todo::renew);
  EXPECT_EQ(hold.on_gone(), HoldFsm::Change::lost);
}

TEST(HoldFsmMoved, StaysAsItIsWhereNoRenewalWouldTell) {
  HoldFsm fixed = lasting({.length = 6s, .renewed = false, .max_hold = {}});
  EXPECT_EQ(fixed.on_moved(at(500ms)), HoldFsm::Change::none);
  EXPECT_EQ(fixed.state(), HoldState::held);
  HoldFsm capped = lasting({.length = 6s, .renewed = true, .max_hold = 2s});
  EXPECT_EQ(capped.on_moved(at(500ms)), HoldFsm::Change::none);
  HoldFsm ended = lasting();
  ended.begin_release();
  EXPECT_EQ(ended.on_moved(at(500ms)), HoldFsm::Change::none);
}

}  // namespace
}  // namespace holdfast::engine::hold_fsm_watch_test
