// What comes of a look at a connection that has ended meanwhile: nothing.
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "redis/connection/health.hpp"
#include "support/running_schedule.hpp"

namespace holdfast::redis::health_watch_test {
namespace {

using namespace std::chrono_literals;

class HealthWatchTest : public testing::Test {
 protected:
  const base::TimePoint made_at_ = base::Clock::now();
  boost::asio::io_context context_;
  test::RunningSchedule schedule_{context_};
  const std::shared_ptr<int> alive_ = std::make_shared<int>();
  const Lifeline lifeline_{alive_, alive_};
  int pings_ = 0, looks_ = 0;
  HealthWatch watch_{schedule_,
                     5ms,
                     lifeline_,
                     {.heard = [this] { return ++looks_ == 0; }, .ping = [this] { ++pings_; }, .dead = [](auto) {}}};

  /// Runs this when the time of the look is over as well, but before the look; and then the look. What is due rings in
  /// the order of its times, and these two alone, however long all this takes.
  void just_before_the_look(const std::function<void()>& what) {
    bool before = false;
    timing::Alarm alarm(schedule_, [&] {
      before = true;
      what();
    });
    alarm.set(made_at_);
    std::this_thread::sleep_for(10ms);
    while (!before) context_.run_one();
  }
};

TEST_F(HealthWatchTest, LooksAndPings) {
  watch_.start();
  just_before_the_look([] {});
  EXPECT_EQ(looks_, 1);
  EXPECT_EQ(pings_, 1);
}

/// A PING then would be the next session's first word, and its reply that to the login.
TEST_F(HealthWatchTest, DoesNothingMoreOnceItIsStopped) {
  watch_.start();
  just_before_the_look([this] { watch_.stop(); });
  EXPECT_EQ(looks_, 0);
  EXPECT_EQ(pings_, 0);
}

TEST_F(HealthWatchTest, LooksOnlyOnceIfItIsStartedAnew) {
  watch_.start();
  just_before_the_look([this] {
    watch_.stop();
    watch_.start();
  });
  EXPECT_EQ(looks_, 0) << "an interval from then on";
}

}  // namespace
}  // namespace holdfast::redis::health_watch_test
