// SPDX-License-Identifier: Apache-2.0
// What a limit on waiting that was reached in vain is explained with, as transcripts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lock/decide/attempt.hpp"

namespace holdfast::engine::explanation_test {
namespace {

using namespace std::chrono_literals;

const TimePoint kStart = TimePoint(100s);

Attempt busy(milliseconds rest, bool subscribed = true) {
  Attempt attempt;
  attempt.kind = Attempt::Kind::busy;
  attempt.busy_for = rest;
  attempt.subscribed = subscribed;
  return attempt;
}

LockInfo held_by(Holder::Connection connection) {
  LockInfo info;
  info.owner = "376fe4aa-10ea-8e60-b8ed-a49082e92014:3";
  info.holder.emplace();
  info.holder->kind = Holder::Kind::holdfast;
  info.holder->connection = connection;
  info.holder->host = "web-3";
  info.holder->process = 812;
  info.holder->label = "nightly";
  return info;
}
const std::string kWho = "held by web-3, process 812, label nightly";

class Explained : public testing::Test {
 protected:
  Explanation explanation{kStart, 60s};
};

TEST_F(Explained, TheServerIsAskedOnceShortlyBeforeTheLimit) {
  EXPECT_EQ(explanation.ask_at(), kStart + 59s);
  EXPECT_EQ(Explanation(kStart, 1s).ask_at(), kStart + 500ms);
  explanation.asked();
  EXPECT_EQ(explanation.ask_at(), TimePoint::max());
}

TEST_F(Explained, WithoutAnAnswerThereIsOnlyTheCause) {
  explanation.on_busy(kStart, busy(30s));
  EXPECT_EQ(explanation.text(kStart + 60s, "because"), "because");
  explanation.on_holder(std::nullopt);
  EXPECT_EQ(explanation.text(kStart + 60s, ""), "");
}

TEST_F(Explained, WhoHasItIsNamedBehindTheCause) {
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart, ""), kWho);
  EXPECT_EQ(explanation.text(kStart, "because"), "because; " + kWho);
}

TEST_F(Explained, TheTimeCountsFromTheFirstReplyAfterWhichAReleaseWouldHaveBeenHeard) {
  explanation.on_busy(kStart, busy(30s, false));
  explanation.on_busy(kStart + 1s, busy(29s));
  for (auto at = 3s; at < 15s; at += 2s) explanation.on_busy(kStart + at, busy(30s - at));
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart + 15900ms, ""), kWho + ", for at least 14 s");
  EXPECT_EQ(explanation.text(kStart + 1900ms, ""), kWho) << "less than a second is not told";
}

TEST_F(Explained, AReleaseBeginsTheTimeAnew) {
  explanation.on_busy(kStart, busy(30s));
  explanation.on_change();
  explanation.on_busy(kStart + 10s, busy(30s));
  explanation.asked();
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart + 12s, ""), kWho + ", for at least 2 s");
}

TEST_F(Explained, AnAnswerFromBeforeAReleaseIsNotWhoHasItNow) {
  explanation.on_busy(kStart, busy(30s));
  explanation.on_change();
  explanation.asked();
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart + 12s, "because"), "because; " + kWho);
  explanation.on_change();
  explanation.on_busy(kStart + 12s, busy(30s));
  EXPECT_EQ(explanation.text(kStart + 12s, "because"), "because; lately " + kWho);
}

TEST_F(Explained, ALeaseThatMayHaveEndedInBetweenBeginsTheTimeAnew) {
  explanation.on_busy(kStart, busy(3s));
  explanation.on_busy(kStart + 3s, busy(3s));
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart + 5s, ""), kWho + ", for at least 2 s");
}

TEST_F(Explained, TheLongestLeaseThereIsEnds) {
  explanation.on_busy(kStart, busy(kLongestLease, false));
  explanation.on_holder(held_by(Holder::Connection::none));
  EXPECT_THAT(explanation.text(kStart, ""), testing::HasSubstr("; unless it is renewed, its lease ends in "));
}

TEST_F(Explained, ALeaseThatIsJustEndingMayEndInBetween) {
  explanation.on_busy(kStart, busy(0ms));
  explanation.on_busy(kStart + 3s, busy(30s));
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart + 5s, ""), kWho + ", for at least 2 s");
  EXPECT_EQ(explanation.text(kStart + 4s, ""), kWho + ", for at least 1 s");
}

TEST_F(Explained, ALeaseThatIsOverIsNotSaidToEnd) {
  explanation.on_busy(kStart, busy(3s, false));
  explanation.on_holder(held_by(Holder::Connection::none));
  EXPECT_THAT(explanation.text(kStart + 2999ms, ""), testing::HasSubstr("its lease ends in 1 s"));
  EXPECT_THAT(explanation.text(kStart + 3s, ""), testing::Not(testing::HasSubstr("its lease")));
}

TEST_F(Explained, ThatThisProcessHasItIsSaidOnce) {
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart, kHeldByThisProcess), kWho);
}

TEST(AttemptTest, MayStandIfTheServerMayHaveGrantedIt) {
  using Kind = Attempt::Kind;
  for (const Kind kind : {Kind::granted, Kind::failed, Kind::unknown, Kind::not_durable}) {
    EXPECT_TRUE(Attempt{.kind = kind}.may_stand()) << static_cast<int>(kind);
  }
  for (const Kind kind : {Kind::busy, Kind::refused, Kind::transient, Kind::not_sent}) {
    EXPECT_FALSE(Attempt{.kind = kind}.may_stand()) << static_cast<int>(kind);
  }
}

TEST(AttemptTest, HasTheLeaseThatTheServerReports) {
  const LeaseTerms asked{.length = 30s, .renewed = true, .max_hold = {}};
  EXPECT_EQ(as_granted(asked, {}).length, 30s);
  wire::Grant grant;
  grant.lease = 10s;
  EXPECT_EQ(as_granted(asked, grant).length, 10s);
}

TEST_F(Explained, ALockWithoutALeaseCannotEndInBetween) {
  explanation.on_busy(kStart, busy(-1ms));
  explanation.on_busy(kStart + 20s, busy(-1ms));
  explanation.on_holder(held_by(Holder::Connection::open));
  EXPECT_EQ(explanation.text(kStart + 25s, ""), kWho + ", for at least 25 s");
}

TEST_F(Explained, OnesOwnHoldIsNobodyElses) {
  explanation.on_busy(kStart, busy(30s));
  explanation.on_holder(held_by(Holder::Connection::open), true);
  EXPECT_EQ(explanation.text(kStart + 2s, "because"), "because; held by this process, for at least 2 s");
}

TEST_F(Explained, WhoHasNoConnectionIsToldWithTheEndOfTheLease) {
  const std::string gone = "held by a Holdfast client without a connection (a ticket, --at-least, cut off, or dead)";
  explanation.on_holder(held_by(Holder::Connection::none));
  EXPECT_EQ(explanation.text(kStart, ""), gone);
  explanation.on_busy(kStart, busy(30s));
  EXPECT_EQ(explanation.text(kStart + 18500ms, ""), gone + "; unless it is renewed, its lease ends in 12 s");
}

}  // namespace
}  // namespace holdfast::engine::explanation_test
