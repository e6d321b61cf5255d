// The watch over deadlines that the loop cannot hold up.
#include "engine/hold/watchdog.hpp"

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
  gone->on_gone(base::Clock::now());
  ASSERT_EQ(lost(), 1U);
  for (const auto& each : {gone, late}) client_.watchdog.arm(each);
  ASSERT_LE(gone->scheduled, late->scheduled);
  client_.watchdog.look_at_deadlines();
  EXPECT_EQ(lost(), 2U);
  for (const auto& each : {gone, late}) client_.watchdog.disarm(*each);
}

}  // namespace
}  // namespace holdfast::engine::watchdog_test
