// What is retained inside a client, and who may take it.
#include "engine/hold/handoff.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace holdfast::engine::handoff_test {
namespace {

using namespace std::chrono_literals;
using From = Handoff::From;

class HandoffTest : public testing::Test {
 protected:
  void retain() { handoff_.retained.emplace(wire::Owner{"client:1"}, now_, 10s, acks_, 7U, Pending::Token()); }
  bool offers(From from, TimePoint at) const { return handoff_.offer(terms_, from, at, era_) != nullptr; }

  const TimePoint now_ = TimePoint{} + 1h;
  Acks acks_;
  std::uint32_t era_ = 7;
  LeaseTerms terms_{.length = 10s, .renewed = true, .max_hold = {}};
  Handoff handoff_{2ms};
};

TEST_F(HandoffTest, OffersNothingUntilSomethingIsRetained) {
  EXPECT_FALSE(offers(From::queue, now_));
  retain();
  EXPECT_TRUE(offers(From::queue, now_));
  EXPECT_EQ(handoff_.take(From::queue, now_).owner.text, "client:1");
  EXPECT_FALSE(offers(From::queue, now_));
}

TEST_F(HandoffTest, OffersItOnlyForTheSameRenewedLeaseOfWhichEnoughIsLeft) {
  retain();
  EXPECT_TRUE(offers(From::queue, now_ + 4s));
  EXPECT_FALSE(offers(From::queue, now_ + 5s));
  terms_.length = 9s;
  EXPECT_FALSE(offers(From::queue, now_));
  terms_ = {.length = 10s, .renewed = false, .max_hold = {}};
  EXPECT_FALSE(offers(From::queue, now_));
  EXPECT_TRUE(handoff_.take_unfit().has_value());
  EXPECT_FALSE(handoff_.take_unfit().has_value());
}

TEST_F(HandoffTest, OffersItOnlyForTheSameAcksAndOnlyWhileTheyCount) {
  acks_ = Acks::all();
  retain();
  EXPECT_FALSE(offers(From::queue, now_)) << "somebody who wants none gives it back as what it is";
  terms_.acks = Acks::majority();
  EXPECT_FALSE(offers(From::queue, now_));
  terms_.acks = Acks::all();
  EXPECT_TRUE(offers(From::queue, now_));
  era_ = 8;
  EXPECT_FALSE(offers(From::queue, now_)) << "it was confirmed by replicas of a primary that may be gone";
}

TEST_F(HandoffTest, LetsNewcomersOvertakeForAMillisecondAfterTheQueueWasServed) {
  retain();
  EXPECT_FALSE(offers(From::newcomer, now_));
  handoff_.take(From::queue, now_);
  retain();
  EXPECT_TRUE(offers(From::newcomer, now_));
  EXPECT_FALSE(offers(From::newcomer, now_ + 1ms));
  handoff_.take(From::newcomer, now_);
  retain();
  EXPECT_FALSE(offers(From::newcomer, now_ + 1ms)) << "that was not the queue's turn";
}

}  // namespace
}  // namespace holdfast::engine::handoff_test
