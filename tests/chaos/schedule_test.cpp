// SPDX-License-Identifier: Apache-2.0
#include "chaos/schedule.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::test::chaos::schedule_test {
namespace {

using namespace std::chrono_literals;

std::vector<Fault> every_fault() {
  std::vector<Fault> faults;
  for (const FaultTraits& each : all_faults()) faults.push_back(each.fault);
  return faults;
}

TEST(Schedule, IsTheSameForTheSameSeed) {
  const std::vector<Fault> faults = every_fault();
  EXPECT_EQ(schedule(faults, 7, 60s, 2s), schedule(faults, 7, 60s, 2s));
  EXPECT_NE(schedule(faults, 7, 60s, 2s), schedule(faults, 8, 60s, 2s));
}

TEST(Schedule, IsTheSameOnEveryMachine) {
  Dice dice(1);
  EXPECT_EQ(dice.next(), 0x910a2dec89025cc1U);
  EXPECT_EQ(dice.next(), 0xbeeb8da1658eec67U);
}

TEST(Schedule, OfEachShapeHasASeedOfItsOwn) {
  EXPECT_EQ(seed_of(1, "one"), seed_of(1, "one"));
  EXPECT_NE(seed_of(1, "one"), seed_of(1, "cluster"));
  EXPECT_NE(seed_of(1, "one"), seed_of(2, "one"));
}

TEST(Schedule, HasAllFaultsBeforeAnyStrikesThreeTimes) {
  const std::vector<Fault> faults = every_fault();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::map<Fault, int> times;
    for (const Planned& each : schedule(faults, seed, 600s, 2s)) {
      if (++times[each.fault] < 3) continue;
      for (const FaultTraits& other : all_faults()) {
        if (other.track != traits(each.fault).track) continue;
        EXPECT_GE(times[other.fault], 1) << other.name;
      }
    }
    EXPECT_EQ(times.size(), faults.size()) << "seed " << seed;
  }
}

TEST(Schedule, OfASwarmHasAFewFaultsOfEachTrackAndAllOfThemWithSomeSeed) {
  const std::vector<Fault> faults = every_fault();
  std::set<Fault> seen;
  std::set<std::set<Fault>> choices;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<Fault> few = few_of(faults, seed);
    const std::set<Fault> chosen(few.begin(), few.end());
    EXPECT_EQ(chosen.size(), few.size()) << "one is there twice";
    EXPECT_LE(few.size(), faults.size() / 4 + 2);
    for (const Track track : {Track::clients, Track::servers}) {
      EXPECT_TRUE(std::ranges::any_of(few, [track](Fault each) { return traits(each).track == track; }));
    }
    seen.insert(few.begin(), few.end());
    choices.insert(chosen);
  }
  EXPECT_EQ(seen.size(), faults.size());
  EXPECT_GT(choices.size(), 90U);
}

TEST(Schedule, StaysWithinTheRunAndOneFaultOfATrackEndsBeforeTheNext) {
  const std::vector<Fault> faults = every_fault();
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::map<Track, Milliseconds> over;
    Milliseconds latest{0};
    for (const Planned& each : schedule(faults, seed, 30s, 2s)) {
      EXPECT_GE(each.at, latest);
      latest = each.at;
      Milliseconds& before = over[traits(each.fault).track];
      EXPECT_GT(each.at, before);
      before = each.at + each.duration;
      EXPECT_LE(before, 30s);
    }
  }
}

TEST(Schedule, LetsFaultsLastAsLongAsTheyMay) {
  const Milliseconds lease = 2s;
  for (const Planned& each : schedule(every_fault(), 5, 600s, lease)) {
    EXPECT_GE(each.duration, lease * traits(each.fault).least / 100) << to_string(each.fault);
    EXPECT_LE(each.duration, lease * traits(each.fault).most / 100) << to_string(each.fault);
  }
}

TEST(Faults, HaveTraitsAndANameOfTheirOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Fault::node_added); ++i) {
    EXPECT_TRUE(names.insert(to_string(static_cast<Fault>(i))).second) << i;
  }
  EXPECT_GE(names.size(), 20U);
}

TEST(Promises, OfExclusionDependOnTheFaultAndOnAcks) {
  EXPECT_TRUE(promise(Fault::process_stopped_past_lease, 2s, false).exclusion);
  EXPECT_TRUE(promise(Fault::slots_moved, 2s, false).exclusion);
  EXPECT_FALSE(promise(Fault::failed_over, 2s, false).exclusion);
  EXPECT_TRUE(promise(Fault::failed_over, 2s, true).exclusion);
  EXPECT_FALSE(promise(Fault::flushed, 2s, true).exclusion);
  EXPECT_EQ(promise(Fault::flushed, 2s, true).counted_for, 2s);
}

TEST(Promises, OfTokensAreBrokenOnlyByServersThatForget) {
  EXPECT_TRUE(promise(Fault::forced, 2s, false).tokens);
  EXPECT_TRUE(promise(Fault::clock_back, 2s, false).tokens);
  EXPECT_TRUE(promise(Fault::server_killed, 2s, false).tokens);
  EXPECT_FALSE(promise(Fault::server_emptied, 2s, true).tokens);
  EXPECT_FALSE(promise(Fault::primary_killed, 2s, false).tokens);
  EXPECT_TRUE(promise(Fault::primary_killed, 2s, true).tokens);
}

}  // namespace
}  // namespace holdfast::test::chaos::schedule_test
