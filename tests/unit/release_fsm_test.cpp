// SPDX-License-Identifier: Apache-2.0
// A release until its outcome is known, told without a clock, and every reply in every situation as a table.
#include "lock/decide/release_fsm.hpp"

#include <iostream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::engine::release_fsm_test {
namespace {

using namespace std::chrono_literals;
using Kind = ReleaseReply::Kind;

/// The hold was certain until 1 s; by 2 s the server has let it expire.
constexpr Duration kDeadline = 1s;
constexpr Duration kGiveUp = 2s;

const char* name(Kind kind) {
  switch (kind) {
    case Kind::deleted:
      return "deleted";
    case Kind::absent:
      return "absent";
    case Kind::wrong:
      return "wrong";
    case Kind::transient:
      return "transient";
    case Kind::error:
      return "error";
    case Kind::not_sent:
      return "not_sent";
    case Kind::closed:
      return "closed";
    case Kind::unknown:
      return "unknown";
  }
  return "?";
}

/// The machine, told in words. Every reply names its kind as its cause.
class ReleaseStory {
 public:
  ReleaseStory() : fsm_(at(kDeadline), at(kGiveUp)) {}
  ReleaseStory(const ReleaseStory&) = delete;
  ReleaseStory& operator=(const ReleaseStory&) = delete;
  ~ReleaseStory() {
    if (testing::Test::HasFailure()) std::cerr << "The whole story:\n" << told_;
  }

  std::string start() { return tell(0ms, "start", fsm_.start()); }
  std::string time(Duration now) { return tell(now, "time", fsm_.on_time()); }
  std::string reply(Duration now, Kind kind) {
    return tell(now, name(kind), fsm_.on_reply(at(now), {kind, name(kind)}));
  }

 private:
  std::string tell(Duration now, const std::string& event, const ReleaseAction& action) {
    told_ += "  " + text(now) + "  " + event + "  ->  " + text(action) + "\n";
    return text(action);
  }

  ReleaseFsm fsm_;
  std::string told_;
};

TEST(ReleaseFsm, IsDoneWithOneCommand) {
  ReleaseStory story;
  EXPECT_EQ(story.start(), "send");
  EXPECT_EQ(story.reply(1ms, Kind::deleted), "finish released");
}

TEST(ReleaseFsm, FindsOutThatTheLockWasLost) {
  ReleaseStory story;
  story.start();
  EXPECT_EQ(story.reply(1ms, Kind::absent), "finish was_lost");
}

TEST(ReleaseFsm, TakesAResendThatFindsNothingForTheFirstSendsWork) {
  ReleaseStory story;
  story.start();
  EXPECT_EQ(story.reply(100ms, Kind::unknown), "pause until=105ms (unknown)");
  EXPECT_EQ(story.time(105ms), "send");
  EXPECT_EQ(story.reply(106ms, Kind::absent), "finish released");
}

TEST(ReleaseFsm, CannotTellOnceTheLeaseMayHaveRunOutMeanwhile) {
  ReleaseStory story;
  story.start();
  story.reply(900ms, Kind::unknown);
  story.time(905ms);
  EXPECT_EQ(story.reply(1000ms, Kind::absent), "finish was_lost");
}

TEST(ReleaseFsm, KeepsNoCreditForSendsThatTheServerCannotHaveSeenOrPutOff) {
  ReleaseStory story;
  story.start();
  story.reply(100ms, Kind::not_sent);
  story.time(105ms);
  story.reply(106ms, Kind::transient);
  story.time(116ms);
  EXPECT_EQ(story.reply(117ms, Kind::absent), "finish was_lost");
}

TEST(ReleaseFsm, SendsAgainAfterAnErrorThatMayHaveComeHalfWayThrough) {
  ReleaseStory story;
  story.start();
  EXPECT_EQ(story.reply(10ms, Kind::error), "pause until=15ms (error)");
  EXPECT_EQ(story.time(15ms), "send");
  EXPECT_EQ(story.reply(16ms, Kind::absent), "finish released");
}

TEST(ReleaseFsm, GivesUpAtTheSecondError) {
  ReleaseStory story;
  story.start();
  story.reply(10ms, Kind::error);
  story.time(15ms);
  EXPECT_EQ(story.reply(16ms, Kind::error), "finish unknown (error)");
}

TEST(ReleaseFsm, CountsErrorsThroughOtherTrouble) {
  ReleaseStory story;
  story.start();
  story.reply(10ms, Kind::error);
  story.time(15ms);
  story.reply(16ms, Kind::unknown);
  story.time(26ms);
  EXPECT_EQ(story.reply(27ms, Kind::error), "finish unknown (error)");
}

TEST(ReleaseFsm, PausesLongerFromTryToTryUpToASecond) {
  ReleaseFsm fsm(at(1h), at(1h));
  std::vector<std::string> pauses;
  for (int i = 0; i < 11; ++i) {
    const ReleaseAction action = fsm.on_reply(at(0ms), {Kind::not_sent, ""});
    ASSERT_EQ(action.kind, ReleaseAction::Kind::pause);
    pauses.push_back(text(action.until));
  }
  const std::vector<std::string> expected{"5ms",   "10ms",  "20ms",   "40ms",   "80ms",  "160ms",
                                          "320ms", "640ms", "1000ms", "1000ms", "1000ms"};
  EXPECT_EQ(pauses, expected);
}

TEST(ReleaseFsm, GoesOnUntilTheServerHasCertainlyLetItExpire) {
  ReleaseStory story;
  story.start();
  EXPECT_EQ(story.reply(1999ms, Kind::not_sent), "pause until=2004ms (not_sent)");
  EXPECT_EQ(story.time(2004ms), "send");
  EXPECT_EQ(story.reply(2004ms, Kind::not_sent), "finish unknown (not_sent)");
}

TEST(ReleaseFsm, GivesUpAtTheVeryMomentAtWhichItHasExpired) {
  ReleaseStory story;
  story.start();
  EXPECT_EQ(story.reply(2000ms, Kind::unknown), "finish unknown (unknown)");
}

TEST(ReleaseFsm, EndsWhenTheClientIsClosed) {
  ReleaseStory story;
  story.start();
  EXPECT_EQ(story.reply(1ms, Kind::closed), "finish unknown (closed)");
}

// --- every reply in every situation ---

/// When the reply comes, and what has happened before.
struct Situation {
  const char* words;
  Duration now;
  std::vector<Kind> before;
};
const Situation kSituations[] = {
    {"first, certain", 500ms, {}},
    {"first, past the deadline", 1500ms, {}},
    {"first, past all", 2500ms, {}},
    {"after unknown, certain", 500ms, {Kind::unknown}},
    {"after unknown, past the deadline", 1500ms, {Kind::unknown}},
    {"after unknown, past all", 2500ms, {Kind::unknown}},
    {"after an error, certain", 500ms, {Kind::error}},
    {"after an error, past the deadline", 1500ms, {Kind::error}},
    {"after an error, past all", 2500ms, {Kind::error}},
    {"after not_sent, certain", 500ms, {Kind::not_sent}},
    {"after not_sent, past the deadline", 1500ms, {Kind::not_sent}},
    {"after transient, certain", 500ms, {Kind::transient}},
};

struct Row {
  Kind reply;
  /// One answer per situation, in the order above; P: pause, R: released, L: was_lost, U: unknown.
  const char* answers;
};
const Row kRows[] = {
    {Kind::deleted, "RRR RRR RRR RR R"},    //
    {Kind::absent, "LLL RLL RLL LL L"},     //
    {Kind::wrong, "LLL LLL LLL LL L"},      //
    {Kind::transient, "PPU PPU PPU PP P"},  //
    {Kind::error, "PPU PPU UUU PP P"},      //
    {Kind::not_sent, "PPU PPU PPU PP P"},   //
    {Kind::closed, "UUU UUU UUU UU U"},     //
    {Kind::unknown, "PPU PPU PPU PP P"},    //
};

char letter(const ReleaseAction& action) {
  if (action.kind == ReleaseAction::Kind::pause) return 'P';
  if (action.kind == ReleaseAction::Kind::send) return 'S';
  switch (action.outcome) {
    case ReleaseOutcome::released:
      return 'R';
    case ReleaseOutcome::was_lost:
      return 'L';
    case ReleaseOutcome::unknown:
      return 'U';
    case ReleaseOutcome::left:
      return 'T';
    case ReleaseOutcome::empty:
      return 'E';
  }
  return '?';
}

TEST(ReleaseFsm, AnswersEveryReplyInEverySituationAsTheTableSays) {
  for (const Row& row : kRows) {
    std::string answers = row.answers;
    std::erase(answers, ' ');
    ASSERT_EQ(answers.size(), std::size(kSituations));
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Situation& situation = kSituations[i];
      ReleaseFsm fsm(at(kDeadline), at(kGiveUp));
      for (const Kind before : situation.before) fsm.on_reply(at(1ms), {before, ""});
      const ReleaseAction action = fsm.on_reply(at(situation.now), {row.reply, "why"});
      EXPECT_EQ(letter(action), answers[i]) << name(row.reply) << ", " << situation.words << ": " << text(action);
      const bool pleasant = row.reply == Kind::deleted || row.reply == Kind::absent;
      EXPECT_EQ(action.cause, pleasant ? "" : "why") << name(row.reply);
    }
  }
}

// --- whatever happens ---

TEST(EveryRelease, KeepsItsPromises) {
  for (unsigned seed = 1; seed <= 20000; ++seed) {
    std::mt19937 random(seed);
    ReleaseFsm fsm(at(kDeadline), at(kGiveUp));
    Duration now = 0ms;
    bool maybe_done = false;
    std::string told;
    for (int sends = 0;; ++sends) {
      ASSERT_LT(sends, 2000) << "it never ends\n" << told;
      const auto kind = static_cast<Kind>(random() % 8);
      now += milliseconds(random() % 20);
      const ReleaseAction action = fsm.on_reply(at(now), {kind, ""});
      told += "  " + text(now) + "  " + name(kind) + "  ->  " + text(action) + "\n";
      if (action.kind == ReleaseAction::Kind::finish) {
        if (action.outcome == ReleaseOutcome::released) {
          const bool first_sends_work = kind == Kind::absent && maybe_done && now < kDeadline;
          EXPECT_TRUE(kind == Kind::deleted || first_sends_work) << "seed " << seed << "\n" << told;
        }
        EXPECT_NE(action.outcome, ReleaseOutcome::empty) << told;
        break;
      }
      ASSERT_EQ(action.kind, ReleaseAction::Kind::pause) << told;
      ASSERT_LT(now, kGiveUp) << "seed " << seed << "\n" << told;
      ASSERT_GT(action.until, at(now)) << "seed " << seed << "\n" << told;
      ASSERT_LE(action.until, at(now + 1s)) << "seed " << seed << "\n" << told;
      maybe_done = maybe_done || kind == Kind::unknown || kind == Kind::error;
      now = action.until - kStart;
      ASSERT_EQ(fsm.on_time().kind, ReleaseAction::Kind::send);
    }
  }
}

}  // namespace
}  // namespace holdfast::engine::release_fsm_test
