// That the judge sees what the failover cases ask it for: histories with planted faults.
#include "support/judge.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Believed in from `granted` to `released`, with no end of its lease in between.
HeldOnce held(const std::string& owner, Microseconds granted, Microseconds released, const std::string& name = "x") {
  HeldOnce hold;
  hold.client = owner.substr(0, 1);
  hold.name = name;
  hold.owner = owner;
  hold.called = granted - 10;
  hold.granted = granted;
  hold.released = released;
  hold.ended = released + 10;
  hold.outcome = "released";
  hold.reason = "-";
  return hold;
}

TEST(Judge, HoldsOneAfterAnotherDoNotOverlap) {
  EXPECT_THAT(overlaps({held("b", 300, 400), held("a", 100, 300), held("c", 400, 500)}), IsEmpty());
}

TEST(Judge, AHoldThatBeginsInsideAnotherOverlaps) {
  const std::vector<Overlap> found = overlaps({held("b", 299, 400), held("a", 100, 300)});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].first.owner, "a");
  EXPECT_EQ(found[0].second.owner, "b");
  EXPECT_EQ(found[0].lasted(), 1);
}

TEST(Judge, ALongHoldOverlapsWithAllThatBeginInsideIt) {
  EXPECT_THAT(overlaps({held("a", 100, 900), held("b", 200, 300), held("c", 400, 500), held("d", 900, 999)}),
              SizeIs(2));
}

TEST(Judge, HoldsOfOneOwnerOverlapToo) { EXPECT_THAT(overlaps({held("a", 100, 300), held("a", 200, 400)}), SizeIs(1)); }

TEST(Judge, NamesAreApart) { EXPECT_THAT(overlaps({held("a", 100, 300), held("b", 200, 400, "y")}), IsEmpty()); }

TEST(Judge, WhoIsToldBelievesNoLonger) {
  HeldOnce told = held("a", 100, 500);
  told.told = 250;
  EXPECT_THAT(overlaps({told, held("b", 250, 400)}), IsEmpty());
  EXPECT_THAT(overlaps({told, held("b", 249, 400)}), SizeIs(1));
}

TEST(Judge, NobodyBelievesInALeaseThatIsOver) {
  HeldOnce over = held("a", 100, 500);
  over.deadline = 250;
  over.told = 270;
  EXPECT_THAT(overlaps({over, held("b", 250, 400)}), IsEmpty());
  EXPECT_THAT(overlaps({over, held("b", 249, 400)}), SizeIs(1));
}

TEST(Judge, WhatTheServerTookIsForgottenAndWhatEndedByItselfIsNot) {
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

TEST(Judge, ANoticeIsMeasuredFromTheConnectionBeforeIt) {
  EXPECT_THAT(notice_delays(told_at(700'000)), ElementsAre(100'000));
}

TEST(Judge, AConnectionThatIsRecordedALittleLateCounts) {
  EXPECT_THAT(notice_delays(told_at(580'000)), ElementsAre(0));
}

TEST(Judge, ANoticeWithoutAConnectionIsMeasuredFromTheGrant) {
  History history = told_at(700'000);
  history.connections.clear();
  EXPECT_THAT(notice_delays(history), ElementsAre(600'000));
}

TEST(Judge, ALossThatOnlyTheReleaseFindsIsLearnedAtItsEnd) {
  History history = told_at(0);
  history.holds[0].released = 700'000;
  history.holds[0].ended = 710'000;
  EXPECT_THAT(notice_delays(history), ElementsAre(110'000));
}

TEST(Judge, AnOutageEndsWithTheGrantAfterTheLongestPause) {
  // The last grants of the old primary come after the fault.
  const std::vector<HeldOnce> holds{held("a", 90, 95), held("a", 105, 106), held("b", 900, 901), held("b", 910, 920),
                                    held("c", 5000, 5001)};
  const Outage found = outage(holds, 100, 4000);
  EXPECT_TRUE(found.ended);
  EXPECT_EQ(found.until_next, 800);
  EXPECT_EQ(found.pause, 795);
}

TEST(Judge, AnOutageThatDoesNotEndIsSeen) { EXPECT_FALSE(outage({held("a", 90, 95)}, 100, 4000).ended); }

TEST(Judge, TheLongestCallsCountThoseThatFail) {
  History history;
  history.holds = {held("a", 100, 200)};
  EXPECT_EQ(longest_calls(history).acquire, 10);
  EXPECT_EQ(longest_calls(history).release, 10);
  history.failures = {{"a", "x", 300, 900, "timed_out"}};
  EXPECT_EQ(longest_calls(history).acquire, 600);
}

TEST(Judge, UpdatesThatTheFileDoesNotShowAreLost) {
  HeldOnce first = held("a", 1, 2), second = held("b", 3, 4);
  first.number = second.number = 1;
  EXPECT_EQ(lost_updates({first, second, held("c", 5, 6)}, 1), 1);
  second.number = 2;
  EXPECT_EQ(lost_updates({first, second}, 2), 0);
}

TEST(Judge, TheMiddleAndTheWorst) {
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

}  // namespace
}  // namespace holdfast::test
