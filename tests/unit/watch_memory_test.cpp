// SPDX-License-Identifier: Apache-2.0
// What `holdfast watch` concludes from two looks at a lock, told without a server.
#include "cli/watch_memory.hpp"

#include <array>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::cli::watch_memory_test {
namespace {

using namespace std::chrono_literals;
using engine::at;
using std::chrono::milliseconds;
using Mode = LockHolder::Mode;

LockHolder owner(std::string name, std::optional<milliseconds> left = 30s, Mode mode = Mode::exclusive) {
  return {.owner = std::move(name), .mode = mode, .count = 1, .remaining = left};
}

FoundLock lock(std::vector<LockHolder> holders, const std::string& name = "job", LockKind kind = LockKind::lock) {
  FoundLock found{kind, {.name = name, .owner = holders.front().owner}};
  found.lock.holders = std::move(holders);
  return found;
}

/// `taken A`, `released A`, `changed A B`; late ones with a `?`.
std::string text(const std::vector<WatchEvent>& events) {
  constexpr std::array kNames{"held", "taken", "released", "expired", "ended", "changed"};
  std::string all;
  for (const WatchEvent& each : events) {
    if (!all.empty()) all += ", ";
    all += kNames.at(static_cast<std::size_t>(each.what));
    if (each.before) all += " " + each.before->owner;
    all += " " + each.holder.owner + (each.late ? "?" : "");
  }
  return all;
}

class WatchMemoryTest : public testing::Test {
 protected:
  /// It has looked once, and nothing was held.
  WatchMemoryTest() { EXPECT_EQ(whole({}, 0s), ""); }

  std::string look(const std::optional<FoundLock>& found, base::Duration asked, bool late = false) {
    return told(found, asked, asked, late);
  }
  std::string told(const std::optional<FoundLock>& found, base::Duration asked, base::Duration told,
                   bool late = false) {
    return text(memory_.take("job", found ? &*found : nullptr, {at(asked), at(told), late}));
  }
  std::string whole(const std::vector<FoundLock>& found, base::Duration asked, bool late = false,
                    const std::string& apart = "") {
    return text(
        memory_.take_all(found, {at(asked), at(asked), late}, [&](const std::string& name) { return name == apart; }));
  }

  WatchMemory memory_;
};

TEST_F(WatchMemoryTest, WhatIsThereAtTheFirstLookIsHeldAndWhatComesIsTaken) {
  memory_ = {};
  EXPECT_EQ(whole({lock({owner("A")}, "a"), lock({owner("B")}, "b")}, 0s), "held A, held B");
  EXPECT_EQ(whole({lock({owner("A")}, "a"), lock({owner("B")}, "b"), lock({owner("C")}, "c")}, 1s), "taken C");
}

TEST_F(WatchMemoryTest, BeforeItsTimeItIsReleasedAndThenItHasExpired) {
  EXPECT_EQ(look(lock({owner("A", 10s)}), 1s), "taken A");
  EXPECT_EQ(look({}, 10s), "released A");
  EXPECT_EQ(look(lock({owner("A", 10s)}), 11s), "taken A");
  EXPECT_EQ(look({}, 21s), "expired A");
  EXPECT_EQ(look({}, 22s), "");
}

TEST_F(WatchMemoryTest, WhenItWasToldCountsAndNotWhenItWasLookedAt) {
  look(lock({owner("A", 10s)}), 1s);
  EXPECT_EQ(told({}, 12s, 10s), "released A");
}

TEST_F(WatchMemoryTest, ARenewalIsNoEventAndPutsTheEndOff) {
  look(lock({owner("A", 10s)}), 1s);
  EXPECT_EQ(*memory_.next_end(), at(11s));
  EXPECT_EQ(look(lock({owner("A", 10s)}), 5s), "");
  EXPECT_EQ(*memory_.next_end(), at(15s));
  EXPECT_TRUE(memory_.ended_by(at(14s)).empty());
  EXPECT_EQ(memory_.ended_by(at(15s)), std::vector<std::string>{"job"});
  EXPECT_EQ(look({}, 12s), "released A");
  EXPECT_FALSE(memory_.next_end());
}

TEST_F(WatchMemoryTest, WithoutAnExpiryItIsReleased) {
  look(lock({owner("A", {})}), 1s);
  EXPECT_FALSE(memory_.next_end());
  EXPECT_EQ(look({}, 1000h), "released A");
}

TEST_F(WatchMemoryTest, AnotherOwnerMeansThatItChangedHands) {
  look(lock({owner("A")}), 1s);
  EXPECT_EQ(look(lock({owner("B")}), 2s), "changed A B");
  EXPECT_EQ(look(lock({owner("B")}), 3s), "");
}

TEST_F(WatchMemoryTest, ReadersComeAndGoEachByItself) {
  const auto readers = [](std::vector<LockHolder> all) { return lock(std::move(all), "job", LockKind::write); };
  const auto reader = [](const char* name, milliseconds left = 30s) { return owner(name, left, Mode::shared); };
  EXPECT_EQ(look(readers({reader("A", 5s)}), 1s), "taken A");
  EXPECT_EQ(look(readers({reader("A", 5s), reader("B")}), 1s), "taken B");
  EXPECT_EQ(*memory_.next_end(), at(6s)) << "of the one that ends first";
  EXPECT_EQ(look(readers({reader("B"), reader("C")}), 6s), "expired A, taken C");
  EXPECT_EQ(look(readers({owner("C"), reader("C")}), 7s), "released B, taken C") << "as a writer, too";
  EXPECT_EQ(look(readers({owner("D")}), 8s), "released C, released C, taken D");
  EXPECT_EQ(look(readers({owner("E")}), 9s), "changed D E");
}

TEST_F(WatchMemoryTest, WhatHappenedWhileNobodyLookedHasEndedInOneWayOrTheOther) {
  look(lock({owner("A")}), 1s);
  EXPECT_EQ(look({}, 2s, true), "ended A?");
  EXPECT_EQ(look(lock({owner("A")}), 3s, true), "taken A?");
  EXPECT_EQ(look(lock({owner("B")}), 4s, true), "changed A B?");
}

TEST_F(WatchMemoryTest, ALookAtAllLeavesThoseApartOfWhichThereIsMoreToSee) {
  whole({lock({owner("A")}, "a"), lock({owner("B")}, "b")}, 1s);
  EXPECT_EQ(whole({lock({owner("C")}, "c")}, 2s, false, "a"), "released B, taken C");
  EXPECT_EQ(whole({lock({owner("C")}, "c"), lock({owner("D")}, "d")}, 3s, false, "d"), "released A");
  EXPECT_EQ(whole({lock({owner("C")}, "c"), lock({owner("D")}, "d")}, 4s), "taken D");
}

TEST_F(WatchMemoryTest, AKeyThatASearchNamesTwiceIsOneLock) {
  EXPECT_EQ(whole({lock({owner("A")}), lock({owner("B")})}, 1s), "taken B");
}

TEST_F(WatchMemoryTest, WhoItIsIsKeptWhenALookAtTimesDoesNotSay) {
  FoundLock named = lock({owner("A")});
  named.lock.holders[0].holder.emplace().label = "nightly";
  look(named, 1s);
  look(lock({owner("A")}), 2s);
  const std::vector<WatchEvent> events = memory_.take("job", nullptr, {at(3s), at(3s), false});
  ASSERT_EQ(events.size(), 1U);
  ASSERT_TRUE(events[0].holder.holder);
  EXPECT_EQ(events[0].holder.holder->label, "nightly");
}

TEST_F(WatchMemoryTest, KnowsWhomItHasSeen) {
  EXPECT_FALSE(memory_.knows(lock({owner("A")})));
  look(lock({owner("A")}), 1s);
  EXPECT_TRUE(memory_.knows(lock({owner("A")})));
  EXPECT_FALSE(memory_.knows(lock({owner("B")})));
}

/// A server names a thousand, and not always the same.
TEST_F(WatchMemoryTest, OfMoreHoldersThanAServerNamesNobodyCanTellWhoHasGone) {
  std::vector<LockHolder> crowd;
  for (std::size_t i = 0; i < WatchMemory::kMostHolders; ++i) {
    crowd.push_back(owner(std::to_string(i), 30s, Mode::shared));
  }
  const auto permits = [](std::vector<LockHolder> all) { return lock(std::move(all), "job", LockKind::permit); };
  EXPECT_EQ(look(permits(crowd), 1s), "");
  crowd.front().owner = "another";
  EXPECT_EQ(look(permits(crowd), 2s), "");
  crowd.pop_back();
  EXPECT_EQ(look(permits(crowd), 3s), "");
  crowd.pop_back();
  EXPECT_EQ(look(permits(crowd), 4s), "released 998");
}

TEST(WatchPattern, MatchesAsTheServerDoes) {
  struct Row {
    const char* pattern;
    const char* name;
    bool matches;
  };
  for (const Row& row : std::vector<Row>{
           {"*", "", true},          {"*", "job", true},         {"job", "job", true},     {"job", "jobs", false},
           {"jobs", "job", false},   {"job*", "job", true},      {"*b", "job", true},      {"*o*", "job", true},
           {"*x*", "job", false},    {"j?b", "job", true},       {"j?b", "jb", false},     {"job?", "job", false},
           {"j[no]b", "job", true},  {"j[^no]b", "job", false},  {"j[^no]b", "jab", true}, {"j[a-o]b", "job", true},
           {"j[o-a]b", "job", true}, {"j[p-z]b", "job", false},  {"j[o", "jo", true},      {"j[\\]]b", "j]b", true},
           {"j\\*b", "j*b", true},   {"j\\*b", "job", false},    {"job\\", "job\\", true}, {"**a**b", "xaxxb", true},
           {"*ab", "aab", true},     {"*a*b*c", "aXbXd", false}, {"[^a]", "", false},      {"a[]b", "ab", false},
       }) {
    EXPECT_EQ(matches(row.pattern, row.name), row.matches) << row.pattern << " " << row.name;
  }
  EXPECT_FALSE(matches(std::string(60, '*') + "x", std::string(10'000, 'a'))) << "in no time";
  EXPECT_FALSE(matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(300, 'a'))) << "in no time";
}

TEST(WatchPattern, BeginsAsEachNameThatMatches) {
  EXPECT_EQ(beginning_of("*"), "");
  EXPECT_EQ(beginning_of("job"), "job");
  EXPECT_EQ(beginning_of("job:*"), "job:");
  EXPECT_EQ(beginning_of("j?b"), "j");
  EXPECT_EQ(beginning_of("j[ab]"), "j");
  EXPECT_EQ(beginning_of("j\\*b"), "j");
}

}  // namespace
}  // namespace holdfast::cli::watch_memory_test
