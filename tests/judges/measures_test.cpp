// SPDX-License-Identifier: Apache-2.0
// That what the failover cases ask for is measured right: histories with planted faults.
#include "judges/measures.hpp"

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judges/made_story.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test::measures_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Measures, HoldsOneAfterAnotherDoNotOverlap) {
  EXPECT_THAT(overlaps({held("b", 300, 400), held("a", 100, 300), held("c", 400, 500)}), IsEmpty());
}

TEST(Measures, AHoldThatBeginsInsideAnotherOverlaps) {
  const std::vector<Overlap> found = overlaps({held("b", 299, 400), held("a", 100, 300)});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].first.owner, "a");
  EXPECT_EQ(found[0].second.owner, "b");
  EXPECT_EQ(found[0].lasted(), 1);
}

TEST(Measures, ALongHoldOverlapsWithAllThatBeginInsideIt) {
  EXPECT_THAT(overlaps({held("a", 100, 900), held("b", 200, 300), held("c", 400, 500), held("d", 900, 999)}),
              SizeIs(2));
}

TEST(Measures, HoldsOfOneOwnerOverlapToo) {
  EXPECT_THAT(overlaps({held("a", 100, 300), held("a", 200, 400)}), SizeIs(1));
}

TEST(Measures, NamesAreApart) { EXPECT_THAT(overlaps({held("a", 100, 300), held("b", 200, 400, "y")}), IsEmpty()); }

TEST(Measures, WhoIsToldBelievesNoLonger) {
  HeldOnce told = held("a", 100, 500);
  told.told = 250;
  EXPECT_THAT(overlaps({told, held("b", 250, 400)}), IsEmpty());
  EXPECT_THAT(overlaps({told, held("b", 249, 400)}), SizeIs(1));
}

TEST(Measures, NobodyBelievesInALeaseThatIsOver) {
  HeldOnce over = held("a", 100, 500);
  over.deadline = 250;
  over.told = 270;
  EXPECT_THAT(overlaps({over, held("b", 250, 400)}), IsEmpty());
  EXPECT_THAT(overlaps({over, held("b", 249, 400)}), SizeIs(1));
}

TEST(Measures, WhatTheServerTookIsForgottenAndWhatEndedByItselfIsNot) {
  HeldOnce taken = held("a", 1, 2), at_release = held("b", 3, 4), expired = held("c", 5, 6);
  taken.reason = "taken";
  at_release.outcome = "was_lost";  // as Redisson finds it
  expired.outcome = "was_lost";
  expired.reason = "expired";
  EXPECT_THAT(forgotten({taken, at_release, expired, held("d", 7, 8)}), SizeIs(2));
}

/// Learned of by the signal at `told`, after connections of its client and of another one.
History told_at(Microseconds told) {
  History history;
  HeldOnce lost = held("a1", 100'000, 900'000);
  lost.reason = "taken";
  lost.told = told;
  history.holds = {lost};
  history.connections = {{"a", 50'000, "s", true},   {"a", 400'000, "s", true}, {"a", 600'000, "s", true},
                         {"a", 650'000, "s", false}, {"b", 690'000, "s", true}, {"a", 800'000, "s", true}};
  return history;
}

TEST(Measures, ANoticeIsMeasuredFromTheConnectionBeforeIt) {
  EXPECT_THAT(notice_delays(told_at(700'000)), ElementsAre(100'000));
}

TEST(Measures, AConnectionThatIsRecordedALittleLateCounts) {
  EXPECT_THAT(notice_delays(told_at(580'000)), ElementsAre(0));
}

TEST(Measures, ANoticeWithoutAConnectionIsMeasuredFromTheGrant) {
  History history = told_at(700'000);
  history.connections.clear();
  EXPECT_THAT(notice_delays(history), ElementsAre(600'000));
}

TEST(Measures, ALossThatOnlyTheReleaseFindsIsLearnedAtItsEnd) {
  History history = told_at(0);
  history.holds[0].released = 700'000;
  history.holds[0].ended = 710'000;
  EXPECT_THAT(notice_delays(history), ElementsAre(110'000));
}

TEST(Measures, AnOutageEndsWithTheGrantAfterTheLongestPause) {
  // The last grants of the old primary come after the fault.
  const std::vector<HeldOnce> holds{held("a", 90, 95), held("a", 105, 106), held("b", 900, 901), held("b", 910, 920),
                                    held("c", 5000, 5001)};
  const Outage found = outage(holds, 100, 4000);
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.until_next, 800);
  EXPECT_EQ(found.pause, 795);
}

TEST(Measures, AnOutageThatDoesNotEndIsSeen) { EXPECT_FALSE(outage({held("a", 90, 95)}, 100, 4000).ended); }

TEST(Measures, TheLongestCallsCountThoseThatFail) {
  History history;
  history.holds = {held("a", 100, 200)};
  EXPECT_EQ(longest_calls(history).acquire, 10);
  EXPECT_EQ(longest_calls(history).release, 10);
  history.failures = {{"a", "x", 300, 900, "timed_out", {}}};
  EXPECT_EQ(longest_calls(history).acquire, 600);
}

TEST(Measures, UpdatesThatTheFileDoesNotShowAreLost) {
  HeldOnce first = held("a", 1, 2), second = held("b", 3, 4);
  first.number = second.number = 1;
  EXPECT_EQ(lost_updates({first, second, held("c", 5, 6)}, 1), 1);
  second.number = 2;
  EXPECT_EQ(lost_updates({first, second}, 2), 0);
}

TEST(Measures, TheMiddleAndTheWorst) {
  EXPECT_EQ(spread({5, 1, 9}).median, 5);
  EXPECT_EQ(spread({5, 1, 9}).worst, 9);
  EXPECT_EQ(spread({}).worst, 0);
}

TEST(Record, LinesOfARecordAreRead) {
  History history;
  history.add("a", "hold x u:1 1 2 3 4 5 6 was_lost taken 7");
  history.add("a", "fail x 1 2 timed%20out");
  history.add("a", "connected 5 127.0.0.1:1 ");
  history.add("a", "disconnected 6 127.0.0.1:1 closed");
  ASSERT_THAT(history.holds, SizeIs(1));
  const HeldOnce& hold = history.holds[0];
  EXPECT_EQ(hold.owner, "u:1");
  EXPECT_EQ(hold.called, 1);
  EXPECT_EQ(hold.ended, 6);
  EXPECT_EQ(hold.reason, "taken");
  EXPECT_EQ(hold.number, 7);
  EXPECT_EQ(history.failures.at(0).cause, "timed out");
  EXPECT_TRUE(history.connections.at(0).connected);
  EXPECT_FALSE(history.connections.at(1).connected);
  EXPECT_THROW(history.add("a", "hold x"), std::invalid_argument);
}

TEST(Record, WhatFollowsALineIsRead) {
  History history;
  history.add("a", "hold x u:1 1 2 3 4 5 6 released - 7 wait=30 checked=no token=9 waits=no");
  history.add("a", "fail x 1 2 held%20by wait=-1 word=timed_out");
  history.add("a", "op 3 x acquire 4 5 granted");
  history.add("a", "force x 1 2 yes");
  const HeldOnce& hold = history.holds.at(0);
  EXPECT_EQ(hold.wait, 30'000);
  EXPECT_EQ(hold.token, 9);
  EXPECT_FALSE(hold.checked);
  EXPECT_FALSE(hold.waits);
  EXPECT_EQ(history.failures.at(0).word, "timed_out");
  EXPECT_EQ(history.failures.at(0).wait, HeldOnce::kNoWait);
  EXPECT_EQ(history.operations.at(0).thread, 3);
  EXPECT_TRUE(history.operations.at(0).acquire);
  EXPECT_EQ(history.forced.at(0).answer, "yes");
}

// A process that is killed writes no more; a line of which a part was written is none.
TEST(Record, WhatWasGrantedAndDidNotEndIsOpen) {
  const TempDir folder;
  std::ofstream(folder.file("a.1.record")) << "grant x u:1 1 2 30 7\n"
                                              "hold x u:1 1 2 31 0 5 6 released - 7\n"
                                              "grant x u:2 8 9 40 8\n"
                                              "release x u:2 9 11\n"
                                              "hold x u:2 8 9 4";
  const History history = History::read(folder.path().string());
  ASSERT_THAT(history.holds, SizeIs(2));
  EXPECT_FALSE(history.holds[0].open);
  EXPECT_EQ(history.holds[0].deadline, 31);
  EXPECT_TRUE(history.holds[1].open);
  EXPECT_EQ(history.holds[1].believed_until(), 11);
  EXPECT_EQ(history.holds[1].number, 8);
}

TEST(Record, OwnersAreWrittenAsTheyWereRead) {
  for (const std::string text : {"u:1", "u:01", "u:", "u", "", "a:b:7", "u:123456789012345678901", "u:-1", "u:1x"}) {
    EXPECT_EQ(Owner(text).str(), text);
  }
  EXPECT_NE(Owner("u:1"), Owner("v:1"));
  EXPECT_NE(Owner("u:1"), Owner("u:01"));
}

}  // namespace
}  // namespace holdfast::test::measures_test
