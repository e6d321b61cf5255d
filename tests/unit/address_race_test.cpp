// SPDX-License-Identifier: Apache-2.0
// Which of a server's addresses are tried when: transcripts.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "redis/connection/dialer.hpp"

namespace holdfast::redis::address_race_test {
namespace {

using namespace std::chrono_literals;
using base::TimePoint;

constexpr TimePoint kBegin{};

/// `dial 0, look at 250 ms` and so on.
std::string text(const AddressRace::Step& step) {
  std::string out = step.lost ? "lost" : step.dial ? "dial " + std::to_string(*step.dial) : "wait";
  if (step.look) {
    const auto at = std::chrono::duration_cast<std::chrono::milliseconds>(*step.look - kBegin);
    out += ", look at " + std::to_string(at.count()) + " ms";
  }
  return out;
}

TEST(AddressRace, OneAddressHasAllTheTime) {
  AddressRace race(1, 5s);
  EXPECT_EQ(text(race.start(kBegin)), "dial 0");
  EXPECT_EQ(text(race.on_refused(kBegin + 1s)), "lost");
}

TEST(AddressRace, TheNextIsTriedAQuarterOfASecondLaterAndTheFirstGoesOn) {
  AddressRace race(3, 5s);
  EXPECT_EQ(text(race.start(kBegin)), "dial 0, look at 250 ms");
  EXPECT_EQ(text(race.on_time(kBegin + 250ms)), "dial 1, look at 500 ms");
  EXPECT_EQ(text(race.on_time(kBegin + 510ms)), "dial 2");
  EXPECT_EQ(text(race.on_refused(kBegin + 1s)), "wait");
  EXPECT_EQ(text(race.on_refused(kBegin + 2s)), "wait");
  EXPECT_EQ(text(race.on_refused(kBegin + 3s)), "lost") << "only now is none left";
}

TEST(AddressRace, ARefusalBringsTheNextAtOnce) {
  AddressRace race(3, 5s);
  EXPECT_EQ(text(race.start(kBegin)), "dial 0, look at 250 ms");
  EXPECT_EQ(text(race.on_refused(kBegin + 1ms)), "dial 1, look at 251 ms");
  EXPECT_EQ(text(race.on_refused(kBegin + 2ms)), "dial 2");
  EXPECT_EQ(text(race.on_refused(kBegin + 3ms)), "lost");
}

TEST(AddressRace, AllAreTriedInTheFirstHalfOfAShortTime) {
  AddressRace race(4, 400ms);
  EXPECT_EQ(text(race.start(kBegin)), "dial 0, look at 50 ms");
  EXPECT_EQ(text(race.on_time(kBegin + 50ms)), "dial 1, look at 100 ms");
}

TEST(AddressRace, NoAddressIsLostAtOnce) { EXPECT_EQ(text(AddressRace(0, 5s).start(kBegin)), "lost"); }

// --- the order ---

std::string order(const std::vector<std::string>& addresses, const std::optional<std::string>& last = {}) {
  std::string out;
  for (const std::string& each : in_turn(addresses, [](const std::string& a) { return a.front(); }, last)) {
    out += (out.empty() ? "" : " ") + each;
  }
  return out;
}

TEST(AddressRace, TheOrderIsTheNameServersButFamiliesTakeTurns) {
  EXPECT_EQ(order({"6a", "6b", "6c", "4a"}), "6a 4a 6b 6c");
  EXPECT_EQ(order({"4a", "4b", "6a", "6b"}), "4a 6a 4b 6b");
  EXPECT_EQ(order({"4a", "4b"}), "4a 4b");
  EXPECT_EQ(order({}), "");
}

TEST(AddressRace, WhatWasOfNoUseLatelyComesLast) {
  EXPECT_EQ(order({"4a", "4b", "4c"}, "4a"), "4b 4c 4a");
  EXPECT_EQ(order({"6a", "4a"}, "6a"), "4a 6a");
  EXPECT_EQ(order({"4a"}, "4a"), "4a");
  EXPECT_EQ(order({"4a", "4b"}, "gone"), "4a 4b") << "the name has other addresses now";
}

}  // namespace
}  // namespace holdfast::redis::address_race_test
