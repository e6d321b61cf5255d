// What a crowd of waiters costs, and that the lock is not idle for long whoever of it is frozen or dead.
#include "sim/crowd.hpp"

#include <chrono>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace holdfast::test::crowd_test {
namespace {

using namespace std::chrono_literals;
using engine::Place;
using Setting = CrowdSetting;
using Found = CrowdFound;

/// The figures are a part of what fails.
std::string told(const Setting& setting, const Found& found) {
  std::ostringstream out;
  const double grants = std::max(found.grants, 1);
  out << found.grants << " grants, " << found.scripts_each() << " scripts each, "
      << found.polls / (setting.time / 2 / 1.0s) << " polls a second; idle " << found.idle_in_all / 1.0ms / grants
      << " ms each, at most " << found.longest_idle / 1.0ms << " ms; inverted "
      << 100.0 * found.inversions / std::max(found.pairs, 1) << " %";
  return out.str();
}

class Crowds : public testing::TestWithParam<Setting> {};

TEST_P(Crowds, CostAFewScriptsAGrantAndLeaveTheLockIdleForMomentsOnly) {
  const Found found = play(GetParam());
  SCOPED_TRACE(told(GetParam(), found));
  EXPECT_LE(found.scripts_each(), GetParam().scripts);
  EXPECT_LE(found.polls / (GetParam().time / 2 / 1.0s), 120);
  EXPECT_LE(found.longest_idle, Place::longest(GetParam().clients) + 10ms);
  EXPECT_GT(found.grants, 20);
}

INSTANTIATE_TEST_SUITE_P(
    OfAllSizes, Crowds,
    testing::Values(Setting{.clients = 100, .time = 4s, .live = 100}, Setting{.clients = 500, .time = 4s, .live = 500},
                    Setting{.clients = 500, .hold = 100ms, .time = 20s, .live = 500},
                    // While a crowd comes, newcomers overtake others, who then ask each time until it is their turn.
                    Setting{.hold = 1ms, .time = 1s, .scripts = 80}, Setting{.hold = 10ms, .time = 4s, .scripts = 50},
                    Setting{.hold = 100ms, .time = 10s}, Setting{.hold = 1s, .time = 60s},
                    Setting{.clients = 10'000, .hold = 100ms, .time = 8s, .live = 10'000, .scripts = 40}));

INSTANTIATE_TEST_SUITE_P(
    InTrouble, Crowds,
    testing::Values(
        Setting{.hold = 100ms, .time = 20s, .live = 10},
        Setting{.hold = 100ms, .time = 10s, .lost = 0.3, .scripts = 150},
        Setting{.hold = 100ms, .time = 60s, .killed = 0.2, .lease = 1s},
        Setting{.hold = 100ms, .time = 20s, .far = 40ms, .scripts = 90},
        Setting{
            .clients = 10'000, .hold = 100ms, .time = 20s, .live = 100, .killed = 0.1, .lease = 1s, .scripts = 45}));

TEST(CrowdThatHearsNothing, PollsAHundredTimesASecondAllTogether) {
  const Setting setting{.hold = 100ms, .time = 60s, .lost = 1};
  const Found found = play(setting);
  SCOPED_TRACE(told(setting, found));
  EXPECT_LE(found.polls / (setting.time / 2 / 1.0s), 120);
  EXPECT_LE(found.longest_idle, 500ms);
  EXPECT_GT(found.grants, 200);
}

/// What the others see: without the messages that it is busy, everyone asks.
TEST(CrowdThatHearsNothing, AsksTheMoreIfNobodySaysThatItIsBusy) {
  const Setting setting{.clients = 500, .hold = 100ms, .time = 8s, .live = 500, .said = false};
  EXPECT_GE(play(setting).scripts_each(), 100);
}

}  // namespace
}  // namespace holdfast::test::crowd_test
