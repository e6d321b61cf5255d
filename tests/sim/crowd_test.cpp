// SPDX-License-Identifier: Apache-2.0
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

INSTANTIATE_TEST_SUITE_P(
    ForAnyOfSeveral, Crowds,
    testing::Values(Setting{.clients = 12, .time = 4s, .live = 12, .names = 3},
                    Setting{.clients = 100, .hold = 10ms, .time = 4s, .live = 100, .names = 10},
                    Setting{.clients = 500, .hold = 10ms, .time = 4s, .live = 500, .names = 10},
                    Setting{.hold = 10ms, .time = 1s, .names = 10, .scripts = 45},  // they have just come
                    Setting{.hold = 100ms, .time = 8s, .names = 10, .scripts = 30},
                    // Nobody says that all are busy, so many have asked after 100 ms.
                    Setting{.hold = 1s, .time = 20s, .names = 10, .scripts = 220},
                    Setting{.clients = 500, .hold = 100ms, .time = 8s, .live = 30, .names = 10}));

class FairCrowds : public testing::TestWithParam<Setting> {};

// A script to come, one of the next, and one to subscribe; and none is served before one that came earlier.
TEST_P(FairCrowds, CostThreeScriptsAGrantAndKeepTheOrder) {
  const Found found = play(GetParam());
  SCOPED_TRACE(told(GetParam(), found));
  EXPECT_LE(found.scripts_each(), GetParam().scripts);
  EXPECT_LE(found.polls / (GetParam().time / 2 / 1.0s), 120);
  EXPECT_LE(found.longest_idle, 20ms);
  EXPECT_EQ(found.inversions, 0);
  EXPECT_GT(found.grants, 20);
}

INSTANTIATE_TEST_SUITE_P(
    OfAllSizes, FairCrowds,
    testing::Values(Setting{.clients = 60, .time = 4s, .live = 60, .fair = true, .scripts = 3.2},
                    Setting{.clients = 150, .time = 3s, .live = 150, .fair = true, .scripts = 3.2},
                    Setting{.clients = 400, .hold = 50ms, .time = 16s, .live = 400, .fair = true, .scripts = 3.5},
                    Setting{.clients = 1500, .hold = 1s, .time = 44s, .live = 1500, .fair = true, .scripts = 4}));

struct Trouble {
  Setting setting;
  std::chrono::milliseconds idle;  // at most
};
void PrintTo(const Trouble& trouble, std::ostream* out) { PrintTo(trouble.setting, out); }
class FairCrowdsInTrouble : public testing::TestWithParam<Trouble> {};

TEST_P(FairCrowdsInTrouble, GoOnAsSoonAsTheirPlacesEnd) {
  const Found found = play(GetParam().setting);
  SCOPED_TRACE(told(GetParam().setting, found));
  EXPECT_LE(found.longest_idle, GetParam().idle);
  EXPECT_GT(found.grants, 100);
}

// Each frozen waiter has a turn, so a hundred of them at most until all are past their deadlines.
INSTANTIATE_TEST_SUITE_P(
    OfAllKinds, FairCrowdsInTrouble,
    testing::Values(Trouble{{.clients = 40, .hold = 100ms, .time = 100s, .live = 10, .lease = 1s, .fair = true}, 36s},
                    Trouble{{.clients = 200, .hold = 200ms, .time = 280s, .live = 10, .lease = 1s, .fair = true}, 115s},
                    // It is told again when a quarter of its turn is over and somebody asks.
                    Trouble{{.clients = 300, .hold = 50ms, .time = 20s, .live = 300, .lost = 0.1, .fair = true},
                            1100ms}));

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
