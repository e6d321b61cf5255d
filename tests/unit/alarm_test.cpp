// SPDX-License-Identifier: Apache-2.0
// Alarms: when they ring, in which order, and what becomes of them when something throws, is cancelled or ends.
#include "loop/alarm.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::timing::alarm_test {
namespace {

using namespace std::chrono_literals;
using base::Clock;
using base::TimePoint;
using testing::ElementsAre;
using testing::IsEmpty;

class AlarmTest : public testing::Test {
 protected:
  AlarmTest() { schedule_.start({}); }

  /// One that notes that it has rung.
  std::unique_ptr<Alarm> noting(int number, Alarm::AtClose at_close = Alarm::AtClose::stays) {
    return std::make_unique<Alarm>(schedule_, [this, number] { rung_.push_back(number); }, at_close);
  }
  /// What is due by now, and nothing that comes later.
  void run_what_is_due() {
    bool done = false;
    Alarm last(schedule_, [&] { done = true; });
    last.set(now_);
    while (!done) context_.run_one();
  }
  /// Until no alarm is set any more.
  void run_out() {
    schedule_.close();
    context_.run();
  }

  const TimePoint now_ = Clock::now();
  boost::asio::io_context context_;
  Schedule schedule_{context_.get_executor()};
  std::vector<int> rung_;
};

TEST_F(AlarmTest, RingInTheOrderOfTheirTimes) {
  const auto last = noting(3), first = noting(1), second = noting(2);
  last->set(now_ + 3ms);
  first->set(now_ + 1ms);
  second->set(now_ + 2ms);
  EXPECT_EQ(schedule_.next(), now_ + 1ms);
  run_out();
  EXPECT_THAT(rung_, ElementsAre(1, 2, 3));
  EXPECT_EQ(schedule_.next(), TimePoint::max());
}

TEST_F(AlarmTest, RingsOnceAndNotBeforeItsTime) {
  TimePoint rang_at{};
  Alarm alarm(schedule_, [&] {
    rung_.push_back(1);
    rang_at = Clock::now();
  });
  alarm.set(now_ + 20ms);
  run_out();
  EXPECT_THAT(rung_, ElementsAre(1));
  EXPECT_GE(rang_at, now_ + 20ms);
  EXPECT_FALSE(alarm.is_set());
}

TEST_F(AlarmTest, AnEarlierTimeOrALaterOneReplacesTheOneBefore) {
  const auto sooner = noting(1), later = noting(2), between = noting(3);
  sooner->set(now_ + 1h);
  sooner->set(now_ + 1ms);
  later->set(now_ + 1ms);
  later->set(now_ + 4ms);
  between->set(now_ + 2ms);
  run_out();
  EXPECT_THAT(rung_, ElementsAre(1, 3, 2));
}

TEST_F(AlarmTest, SetByKeepsTheEarlierTime) {
  const auto kept = noting(1), moved = noting(2);
  kept->set_by(now_ + 1ms);
  kept->set_by(now_ + 1h);
  moved->set_by(now_ + 1h);
  moved->set_by(now_ + 2ms);
  run_out();
  EXPECT_THAT(rung_, ElementsAre(1, 2));
}

TEST_F(AlarmTest, SetToNoTimeIsNotSet) {
  const auto alarm = noting(1);
  alarm->set_by(TimePoint::max());
  EXPECT_FALSE(alarm->is_set());
  alarm->set(now_);
  alarm->set(TimePoint::max());
  EXPECT_FALSE(alarm->is_set());
  run_out();
  EXPECT_THAT(rung_, IsEmpty());
}

TEST_F(AlarmTest, DoesNotRingOnceCancelledThoughItsTimeIsOver) {
  const auto other = noting(2);
  Alarm first(schedule_, [&] { other->cancel(); });
  first.set(now_);
  other->set(now_);
  run_out();
  EXPECT_THAT(rung_, IsEmpty());
}

TEST_F(AlarmTest, DoesNotRingOnceDestroyedThoughItsTimeIsOver) {
  auto other = noting(2);
  Alarm first(schedule_, [&] { other.reset(); });
  first.set(now_);
  other->set(now_);
  run_out();
  EXPECT_THAT(rung_, IsEmpty());
}

/// One that always wants to ring at once lets the others, and the rest of the loop, have their turns.
TEST_F(AlarmTest, SetAnewWhileItRingsItRingsTheNextTime) {
  int rings = 0;
  std::optional<int> rings_before_the_rest;
  Alarm greedy(schedule_, [&] {
    if (++rings == 1) boost::asio::post(context_, [&] { rings_before_the_rest = rings; });
    if (rings < 1000) greedy.set(TimePoint{});
  });
  const auto other = noting(1);
  greedy.set(now_);
  other->set(now_);
  run_out();
  EXPECT_EQ(rings, 1000);
  EXPECT_LT(rings_before_the_rest.value_or(1000), 10);
  EXPECT_THAT(rung_, ElementsAre(1));
}

TEST_F(AlarmTest, ThatThrowsDoesNotKeepOthersFromRinging) {
  Alarm bad(schedule_, [] { throw std::runtime_error("as a handler may"); });
  const auto due = noting(1), later = noting(2);
  bad.set(now_);
  due->set(now_ + 1ns);
  later->set(Clock::now() + 5ms);
  std::this_thread::sleep_for(1ms);
  EXPECT_THROW(run_out(), std::runtime_error);
  context_.restart();
  context_.run();
  EXPECT_THAT(rung_, ElementsAre(1, 2));
}

TEST_F(AlarmTest, KeepsWhatItIsToKeepUntilItHasRungOrWasCancelled) {
  auto kept = std::make_shared<int>();
  const std::weak_ptr<int> weak = kept;
  bool alive = false;
  Alarm rings(schedule_, [&] { alive = !weak.expired(); });
  rings.set(now_, std::move(kept));
  run_what_is_due();
  EXPECT_TRUE(alive);
  EXPECT_TRUE(weak.expired());

  auto another = std::make_shared<int>();
  const std::weak_ptr<int> weak_too = another;
  rings.set(now_ + 1h, std::move(another));
  rings.set_by(now_ + 1min);
  EXPECT_FALSE(weak_too.expired()) << "whoever moves it keeps what it keeps";
  rings.cancel();
  EXPECT_TRUE(weak_too.expired());
}

TEST_F(AlarmTest, OfWhatIsClosedRingsAtOnceWhereThatWasAskedFor) {
  const auto stays = noting(1), rings = noting(2, Alarm::AtClose::rings), too = noting(3, Alarm::AtClose::rings);
  stays->set(now_ + 1h);
  rings->set(now_ + 1h);
  too->set(now_ + 2h);
  schedule_.close();
  schedule_.close();
  run_what_is_due();
  EXPECT_THAT(rung_, ElementsAre(2, 3));
  EXPECT_TRUE(stays->is_set());
  rings->set(now_ + 1h);
  run_what_is_due();
  EXPECT_THAT(rung_, ElementsAre(2, 3, 2)) << "and whenever it is set from then on";
}

TEST_F(AlarmTest, LetsTheLoopRunOutOfWorkOnceItIsClosed) {
  const auto alarm = noting(1);
  alarm->set(now_ + 1h);
  schedule_.close();
  alarm->cancel();
  context_.run();
  EXPECT_LT(Clock::now(), now_ + 1h);
  context_.restart();
  alarm->set(now_);
  context_.run();
  EXPECT_THAT(rung_, ElementsAre(1));
}

TEST_F(AlarmTest, DroppedRingsNoMore) {
  const auto kept = std::make_shared<int>();
  const auto alarm = noting(1, Alarm::AtClose::rings);
  alarm->set(now_, kept);
  schedule_.drop_all();
  EXPECT_EQ(kept.use_count(), 1);
  run_out();
  EXPECT_THAT(rung_, IsEmpty());
}

/// As on a guest, whose handlers may come when the client is gone.
TEST(AlarmsOfAGuest, DoNotRingOnceTheirOwnerIsGone) {
  boost::asio::io_context context;
  auto owner = std::make_shared<int>();
  auto schedule = std::make_unique<Schedule>(context.get_executor());
  bool rang = false, alive = false;
  const std::weak_ptr<int> weak = owner;
  {
    Alarm alarm(*schedule, [&] {
      rang = true;
      alive = !weak.expired();
    });
    schedule->start(owner);
    alarm.set(Clock::now());
    while (!rang) context.run_one();
    EXPECT_TRUE(alive);
    rang = false;
    alarm.set(Clock::now());
    owner.reset();
    context.poll();
    EXPECT_FALSE(rang);
  }
  schedule.reset();
  context.run();
}

}  // namespace
}  // namespace holdfast::timing::alarm_test
