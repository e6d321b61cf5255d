// A fixed lease that is set anew by its holder's hand.
#include <gtest/gtest.h>

#include "engine/decide/hold_fsm.hpp"
#include "fsm_text.hpp"

namespace holdfast::engine::hold_fsm_extension_test {
namespace {

using namespace std::chrono_literals;

constexpr LeaseTerms kFixed{.length = 900ms, .renewed = false, .max_hold = {}};  // certain until 889 ms

HoldFsm fixed_hold() { return {at(0ms), kFixed, at(0ms)}; }

TEST(HoldFsmExtension, CountsOnceItIsAnswered) {
  HoldFsm hold = fixed_hold();
  hold.begin_extension(at(500ms), 2000ms);
  EXPECT_EQ(hold.deadline(), at(889ms));
  EXPECT_EQ(hold.on_extended(at(510ms), at(520ms), 2000ms, 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(2488ms)) << "from its send";
  EXPECT_EQ(hold.due(), at(2488ms));
  EXPECT_EQ(hold.lease(), 2000ms);
  EXPECT_EQ(hold.on_time(at(2487ms)), HoldFsm::Todo::nothing);
  EXPECT_EQ(hold.on_time(at(2488ms)), HoldFsm::Todo::lost);
}

TEST(HoldFsmExtension, ToLessCountsAtOnce) {
  HoldFsm hold = fixed_hold();
  hold.begin_extension(at(100ms), 400ms);
  EXPECT_EQ(hold.deadline(), at(494ms)) << "the server may do it, and not answer";
  EXPECT_EQ(hold.due(), at(494ms));
  EXPECT_EQ(hold.on_extended(at(110ms), at(120ms), 400ms, 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(504ms));
}

TEST(HoldFsmExtension, ThatIsAnsweredTooLateIsALoss) {
  HoldFsm hold = fixed_hold();
  hold.begin_extension(at(800ms), 2000ms);
  EXPECT_EQ(hold.on_extended(at(810ms), at(889ms), 2000ms, 0), HoldFsm::Change::lost);
  EXPECT_EQ(hold.reason(), LossReason::expired);
}

TEST(HoldFsmExtension, OfWhatHasEndedIsNothing) {
  HoldFsm hold = fixed_hold();
  EXPECT_TRUE(hold.begin_release());
  hold.begin_extension(at(10ms), 100ms);
  EXPECT_EQ(hold.on_extended(at(10ms), at(20ms), 100ms, 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.state(), HoldState::released);
  EXPECT_EQ(hold.lease(), 900ms);
}

TEST(HoldFsmExtension, LeavesTheCapWhereItIs) {
  HoldFsm hold(at(0ms), {.length = 900ms, .renewed = false, .max_hold = 1000ms}, at(0ms));
  hold.begin_extension(at(100ms), 2000ms);
  hold.on_extended(at(100ms), at(110ms), 2000ms, 0);
  EXPECT_EQ(hold.deadline(), at(1000ms));
  EXPECT_EQ(hold.on_time(at(1000ms)), HoldFsm::Todo::lost);
  EXPECT_EQ(hold.reason(), LossReason::max_hold);
}

}  // namespace
}  // namespace holdfast::engine::hold_fsm_extension_test
