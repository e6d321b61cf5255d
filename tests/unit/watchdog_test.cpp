// SPDX-License-Identifier: Apache-2.0
// The watch over deadlines that the loop cannot hold up.
#include "lock/renew/watchdog.hpp"

#include <atomic>
#include <thread>

#include "target_fixture.hpp"

namespace holdfast::engine::watchdog_test {
namespace {

class WatchdogTest : public TargetTest {
 protected:
  std::uint64_t lost() const { return client_.runtime->reporter().snapshot().lost; }
};

/// The loop, which would take what has ended out of the schedule, does not come to it.
TEST_F(WatchdogTest, TellsWhoIsLateBehindOthersThatHaveEnded) {
  const std::shared_ptr<Tenancy> gone = hold(30s), late = hold(20s);
  on_gone(*gone, base::Clock::now(), base::Clock::now());
  ASSERT_EQ(lost(), 1U);
  for (const auto& each : {gone, late}) client_.watchdog.arm(each);
  ASSERT_LE(gone->scheduled, late->scheduled);
  client_.watchdog.look_at_deadlines();
  EXPECT_EQ(lost(), 2U);
  for (const auto& each : {gone, late}) client_.watchdog.disarm(*each);
}

TEST_F(WatchdogTest, KeepsNoHoldThatNobodyElseHas) {
  std::shared_ptr<Tenancy> gone = hold();
  const std::shared_ptr<Tenancy> kept = hold();
  for (const auto& each : {gone, kept}) client_.watchdog.arm(each);
  gone.reset();
  ASSERT_EQ(client_.watchdog.holds(), 1U);
  EXPECT_THAT(client_.watchdog.armed(), ElementsAre(kept));
  EXPECT_TRUE(client_.watchdog.disarm(*kept));
  EXPECT_FALSE(client_.watchdog.disarm(*kept));
}

/// The last reference may be one that the look has taken. The sanitizers are the judges.
TEST_F(WatchdogTest, HoldsMayGoWhileItLooksAtThem) {
  std::atomic<bool> over{false};
  std::jthread looking([&] {
    while (!over) {
      client_.watchdog.look_at_deadlines();
      client_.watchdog.lowest_validity();
      client_.watchdog.armed();
    }
  });
  std::uint64_t late = 0;
  for (int i = 0; i < 2000; ++i) {
    const std::shared_ptr<Tenancy> lasting = hold(), expired = hold(30s);
    for (const auto& each : {lasting, expired}) client_.watchdog.arm(each);
    if (i % 100 != 0) continue;
    while (!expired->ended()) std::this_thread::yield();
    ++late;
  }
  over = true;
  looking.join();
  EXPECT_EQ(client_.watchdog.holds(), 0U);
  EXPECT_GE(lost(), late);
}

}  // namespace
}  // namespace holdfast::engine::watchdog_test
