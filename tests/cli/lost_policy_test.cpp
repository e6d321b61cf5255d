// SPDX-License-Identifier: Apache-2.0
// The decisions of `holdfast run` about a command whose lock is in danger, as transcripts: no clock, no process.
#include "cli/run/lost_policy.hpp"

#include <ostream>

#include <gtest/gtest.h>

namespace holdfast::cli {

void PrintTo(LostAction action, std::ostream* out) {
  static constexpr const char* kNames[] = {"none", "warn", "term", "kill"};
  *out << kNames[static_cast<int>(action)];
}

namespace lost_policy_test {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr milliseconds kNever{-1};

/// A policy with a clock that is moved by hand.
class Transcript {
 public:
  Transcript(OnLost on_lost, milliseconds kill_after, milliseconds margin) : policy_(on_lost, kill_after, margin) {}

  /// Moves the clock to this time since the start.
  Transcript& at(milliseconds time) {
    now_ = base::TimePoint(1h) + time;
    return *this;
  }
  LostAction look(milliseconds valid_for) { return take(policy_.look(now_, valid_for, false)); }
  LostAction look_lost() { return take(policy_.look(now_, 0ms, true)); }

  /// Since the start; kNever if it is not to be looked at again.
  milliseconds next_look() const { return since_start(next_look_); }
  milliseconds must_end_by() const { return since_start(policy_.must_end_by()); }
  bool acted() const { return policy_.acted(); }
  bool told_early() const { return policy_.told_early(); }

 private:
  LostAction take(const LostDecision& decision) {
    next_look_ = decision.look_again;
    return decision.action;
  }
  static milliseconds since_start(std::optional<base::TimePoint> time) {
    return time ? std::chrono::duration_cast<milliseconds>(*time - base::TimePoint(1h)) : kNever;
  }

  LostPolicy policy_;
  base::TimePoint now_{1h};
  std::optional<base::TimePoint> next_look_;
};

TEST(LostPolicyTerm, SleepsUntilTheGraceMustBegin) {
  Transcript t(OnLost::term, 5s, 100ms);
  EXPECT_EQ(t.at(0ms).look(30s), LostAction::none);
  EXPECT_EQ(t.next_look(), 25s);
  EXPECT_EQ(t.must_end_by(), 30s);
}

TEST(LostPolicyTerm, DoesNothingAsLongAsRenewalsComeThrough) {
  Transcript t(OnLost::term, 5s, 100ms);
  for (milliseconds now = 0s; now < 1000s; now += 10s) {
    ASSERT_EQ(t.at(now).look(30s), LostAction::none);
    ASSERT_EQ(t.next_look(), now + 25s);
  }
  EXPECT_FALSE(t.acted());
}

TEST(LostPolicyTerm, DoesNothingWhenTheRenewalComesJustBeforeTheGrace) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(24999ms).look(5001ms), LostAction::none);
  EXPECT_EQ(t.at(25s).look(30s), LostAction::none);
  EXPECT_EQ(t.next_look(), 50s);
  EXPECT_FALSE(t.acted());
}

TEST(LostPolicyTerm, SendsTermWithTheGraceLeftAndKillBeforeTheLockEnds) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(25s).look(5s), LostAction::term);
  EXPECT_EQ(t.next_look(), 29900ms);
  EXPECT_EQ(t.must_end_by(), 29900ms);
  EXPECT_TRUE(t.acted());
  EXPECT_EQ(t.at(29899ms).look(101ms), LostAction::none);
  EXPECT_EQ(t.at(29900ms).look(100ms), LostAction::kill);
  EXPECT_EQ(t.next_look(), kNever);
}

TEST(LostPolicyTerm, SendsEachSignalOnlyOnce) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(25s).look(5s), LostAction::term);
  EXPECT_EQ(t.at(26s).look(4s), LostAction::none);
  EXPECT_EQ(t.at(30s).look_lost(), LostAction::kill);
  EXPECT_EQ(t.at(31s).look_lost(), LostAction::none);
}

TEST(LostPolicyTerm, DoesNotTakeTermBackWhenARenewalComesLate) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(25s).look(5s), LostAction::term);
  EXPECT_EQ(t.at(26s).look(30s), LostAction::none);
  EXPECT_EQ(t.next_look(), 29900ms);
  EXPECT_EQ(t.at(29900ms).look(26s), LostAction::kill);
}

TEST(LostPolicyTerm, GivesTheGraceAfterTheLossWhenTheLockIsBroken) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(10s).look_lost(), LostAction::term);
  EXPECT_EQ(t.must_end_by(), 15s);
  EXPECT_EQ(t.at(14999ms).look_lost(), LostAction::none);
  EXPECT_EQ(t.next_look(), 15s);
  EXPECT_EQ(t.at(15s).look_lost(), LostAction::kill);
}

TEST(LostPolicyTerm, KillsAtOnceWhenItWakesAfterTheDeadline) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(30s).look_lost(), LostAction::kill);
  EXPECT_TRUE(t.acted());
}

TEST(LostPolicyTerm, KillsAtOnceWhenTheTimeIsOverWithoutALossSignal) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(31s).look(0ms), LostAction::kill);
}

TEST(LostPolicyTerm, ShortensTheGraceWhenItWakesInTheMiddleOfIt) {
  Transcript t(OnLost::term, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(28s).look(2s), LostAction::term);
  EXPECT_EQ(t.next_look(), 29900ms);
}

TEST(LostPolicyTerm, WithoutAGraceSendsBothAtTheMargin) {
  Transcript t(OnLost::term, 0ms, 100ms);
  EXPECT_EQ(t.at(0ms).look(10s), LostAction::none);
  EXPECT_EQ(t.next_look(), 9900ms);
  EXPECT_EQ(t.at(9900ms).look(100ms), LostAction::term);
  EXPECT_EQ(t.next_look(), 9900ms);
  EXPECT_EQ(t.at(9900ms).look(100ms), LostAction::kill);
}

TEST(LostPolicyKill, KillsAtTheMarginBeforeTheEnd) {
  Transcript t(OnLost::kill, 5s, 100ms);
  EXPECT_EQ(t.at(0ms).look(30s), LostAction::none);
  EXPECT_EQ(t.next_look(), 29900ms);
  EXPECT_EQ(t.at(29899ms).look(101ms), LostAction::none);
  EXPECT_EQ(t.at(29900ms).look(100ms), LostAction::kill);
  EXPECT_TRUE(t.acted());
  EXPECT_EQ(t.next_look(), kNever);
}

TEST(LostPolicyKill, DoesNothingWhenARenewalComesThrough) {
  Transcript t(OnLost::kill, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(29899ms).look(30s), LostAction::none);
  EXPECT_EQ(t.next_look(), 59799ms);
  EXPECT_FALSE(t.acted());
}

TEST(LostPolicyKill, KillsAtOnceWhenTheLockIsBroken) {
  Transcript t(OnLost::kill, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(1s).look_lost(), LostAction::kill);
}

TEST(LostPolicyWarn, WarnsOnceAndNeverActs) {
  Transcript t(OnLost::warn, 5s, 100ms);
  EXPECT_EQ(t.at(0ms).look(30s), LostAction::none);
  EXPECT_EQ(t.next_look(), 30s);
  EXPECT_EQ(t.must_end_by(), kNever);
  EXPECT_EQ(t.at(29999ms).look(1ms), LostAction::none);
  EXPECT_EQ(t.at(30s).look_lost(), LostAction::warn);
  EXPECT_EQ(t.next_look(), kNever);
  EXPECT_EQ(t.at(31s).look_lost(), LostAction::none);
  EXPECT_FALSE(t.acted());
}

TEST(LostPolicyWarn, WarnsWhenTheLockIsBroken) {
  Transcript t(OnLost::warn, 5s, 100ms);
  t.at(0ms).look(30s);
  EXPECT_EQ(t.at(3s).look_lost(), LostAction::warn);
  EXPECT_EQ(t.must_end_by(), kNever);
}

/// Whatever the times are, every decision that is not final says when to look again, and never in the past: the loop
/// that follows it neither spins nor sleeps through the end.
TEST(LostPolicyAll, TellsALossBeforeItsTimeFromOneInTime) {
  for (const OnLost on_lost : {OnLost::term, OnLost::kill, OnLost::warn}) {
    Transcript broken(on_lost, 5s, 100ms);
    broken.at(0ms).look(30s);
    EXPECT_FALSE(broken.told_early());
    broken.at(10s).look_lost();
    EXPECT_TRUE(broken.told_early());

    Transcript frozen(on_lost, 5s, 100ms);
    frozen.at(0ms).look(30s);
    frozen.at(31s).look_lost();
    EXPECT_FALSE(frozen.told_early());
  }
}

TEST(LostPolicyAll, AlwaysLookAgainInTimeAndNeverSpin) {
  for (const OnLost on_lost : {OnLost::term, OnLost::kill, OnLost::warn}) {
    for (const milliseconds kill_after : {0ms, 3ms, 250ms, 5000ms}) {
      for (const milliseconds margin : {0ms, 1ms, 100ms}) {
        Transcript t(on_lost, kill_after, margin);
        const milliseconds end = 10s;
        milliseconds now = 0ms;
        int looks = 0;
        LostAction last = LostAction::none;
        do {
          last = now < end ? t.at(now).look(end - now) : t.at(now).look_lost();
          ASSERT_LE(++looks, 4);
          if (t.next_look() == kNever) break;
          ASSERT_GE(t.next_look(), now);
          ASSERT_LE(t.next_look(), end);
          now = t.next_look();
        } while (true);
        EXPECT_EQ(last, on_lost == OnLost::warn ? LostAction::warn : LostAction::kill);
      }
    }
  }
}

}  // namespace
}  // namespace lost_policy_test
}  // namespace holdfast::cli
