// SPDX-License-Identifier: Apache-2.0
// A fixed lease that is set anew by its holder's hand.
#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "fsm_text.hpp"
#include "lock/decide/hold_fsm.hpp"

namespace holdfast::engine::hold_fsm_extension_test {
namespace {

using namespace std::chrono_literals;

constexpr LeaseTerms kFixed{.length = 900ms, .renewed = false, .max_hold = {}};  // certain until 889 ms

HoldFsm fixed_hold() { return {at(0ms), kFixed, at(0ms)}; }

TEST(HoldFsmExtension, CountsOnceItIsAnswered) {
  HoldFsm hold = fixed_hold();
  const auto extension = hold.begin_extension(at(500ms), 2000ms);
  EXPECT_EQ(hold.deadline(), at(889ms));
  EXPECT_EQ(hold.longest_lease(), 2000ms) << "the server may do it, and not answer";
  EXPECT_EQ(hold.on_extended(extension, at(510ms), at(520ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(2488ms)) << "from its send";
  EXPECT_EQ(hold.due(), at(2488ms));
  EXPECT_EQ(hold.lease(), 2000ms);
  EXPECT_EQ(hold.on_time(at(2487ms)), HoldFsm::Todo::nothing);
  EXPECT_EQ(hold.on_time(at(2488ms)), HoldFsm::Todo::lost);
}

TEST(HoldFsmExtension, ToLessCountsAtOnce) {
  HoldFsm hold = fixed_hold();
  const auto extension = hold.begin_extension(at(100ms), 400ms);
  EXPECT_EQ(hold.deadline(), at(494ms)) << "the server may do it, and not answer";
  EXPECT_EQ(hold.due(), at(494ms));
  EXPECT_EQ(hold.longest_lease(), 900ms) << "or not do it";
  EXPECT_EQ(hold.on_extended(extension, at(110ms), at(120ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(504ms));
  EXPECT_EQ(hold.longest_lease(), 400ms);
}

TEST(HoldFsmExtension, ThatIsAnsweredTooLateIsALoss) {
  HoldFsm hold = fixed_hold();
  const auto extension = hold.begin_extension(at(800ms), 2000ms);
  EXPECT_EQ(hold.on_extended(extension, at(810ms), at(889ms), 0), HoldFsm::Change::lost);
  EXPECT_EQ(hold.reason(), LossReason::expired);
}

TEST(HoldFsmExtension, EndsADoubt) {
  HoldFsm hold = fixed_hold();
  const auto extension = hold.begin_extension(at(100ms), 2000ms);
  EXPECT_EQ(hold.on_unanswered(at(110ms)), HoldFsm::Change::suspect);
  EXPECT_EQ(hold.on_extended(extension, at(110ms), at(120ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST(HoldFsmExtension, OfWhatHasEndedIsNothing) {
  HoldFsm hold = fixed_hold();
  EXPECT_TRUE(hold.begin_release());
  const auto extension = hold.begin_extension(at(10ms), 100ms);
  EXPECT_EQ(hold.on_extended(extension, at(10ms), at(20ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.state(), HoldState::released);
  EXPECT_EQ(hold.lease(), 900ms);
}

TEST(HoldFsmExtension, LeavesTheCapWhereItIs) {
  HoldFsm hold(at(0ms), {.length = 900ms, .renewed = false, .max_hold = 1000ms}, at(0ms));
  const auto extension = hold.begin_extension(at(100ms), 2000ms);
  hold.on_extended(extension, at(100ms), at(110ms), 0);
  EXPECT_EQ(hold.deadline(), at(1000ms));
  EXPECT_EQ(hold.on_time(at(1000ms)), HoldFsm::Todo::lost);
  EXPECT_EQ(hold.reason(), LossReason::max_hold);
}

// --- a later one is under way, or has been ---

TEST(HoldFsmExtension, IsNoReasonToGoBeyondALaterOneThatIsNotAnswered) {
  HoldFsm hold = fixed_hold();
  const auto longer = hold.begin_extension(at(0ms), 20'000ms);
  hold.begin_extension(at(10ms), 500ms);
  EXPECT_EQ(hold.deadline(), at(503ms));
  EXPECT_EQ(hold.on_extended(longer, at(1ms), at(20ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(503ms)) << "the later one is under way";
  hold.on_extension_unanswered();
  EXPECT_EQ(hold.deadline(), at(503ms)) << "and may have been done";
  EXPECT_EQ(hold.longest_lease(), 20'000ms) << "or not";
  EXPECT_EQ(hold.on_time(at(503ms)), HoldFsm::Todo::lost);
}

TEST(HoldFsmExtension, ThatComesToNothingBeforeAnEarlierOneIsAnsweredStillCounts) {
  HoldFsm hold = fixed_hold();
  const auto longer = hold.begin_extension(at(0ms), 20'000ms);
  hold.begin_extension(at(10ms), 500ms);
  hold.on_extension_unanswered();
  EXPECT_EQ(hold.on_extended(longer, at(1ms), at(20ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(503ms));
}

TEST(HoldFsmExtension, ThatIsTheLastOneBegunSettlesThoseBefore) {
  HoldFsm hold = fixed_hold();
  hold.begin_extension(at(0ms), 500ms);
  hold.on_extension_unanswered();
  const auto longer = hold.begin_extension(at(100ms), 20'000ms);
  EXPECT_EQ(hold.deadline(), at(493ms));
  EXPECT_EQ(hold.on_extended(longer, at(101ms), at(110ms), 0), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(101ms) + 20'000ms - 202ms);
}

TEST(HoldFsmExtension, ThatIsAnsweredBehindALaterOneMayHaveBeenExecutedBehindItToo) {
  HoldFsm hold = fixed_hold();
  const auto shorter = hold.begin_extension(at(0ms), 500ms);
  const auto longer = hold.begin_extension(at(10ms), 20'000ms);
  hold.on_extended(longer, at(11ms), at(20ms), 0);
  EXPECT_EQ(hold.deadline(), at(504ms)) << "no earlier than the other, and for as long as the shorter one";
  hold.on_extended(shorter, at(5ms), at(30ms), 0);
  EXPECT_EQ(hold.deadline(), at(504ms));
}

TEST(HoldFsmExtension, ThatOverlapsTheNextDoesNotKeepItFromGoingOn) {
  HoldFsm hold = fixed_hold();
  auto before = hold.begin_extension(at(0ms), 900ms);
  for (milliseconds now = 100ms; now < 20'000ms; now += 100ms) {
    const auto next = hold.begin_extension(at(now), 900ms);
    hold.on_extended(before, at(now - 90ms), at(now), 0);
    EXPECT_EQ(hold.deadline(), at(now - 90ms + 889ms)) << "since the send of the one that was answered";
    before = next;
  }
}

TEST(HoldFsmExtension, MayComeAsOftenAsItLikes) {
  HoldFsm hold = fixed_hold();
  for (int i = 0; i < 200'000; ++i) {
    const auto extension = hold.begin_extension(at(0ms), 900ms);
    const auto next = hold.begin_extension(at(0ms), 800ms);
    hold.on_extended(extension, at(0ms), at(0ms), 0);
    ASSERT_EQ(hold.deadline(), at(790ms));
    hold.on_extended(next, at(0ms), at(0ms), 0);
    ASSERT_EQ(hold.lease(), 800ms);
  }
}

// --- any number of them, in any order ---

/// A server that executes what is on its way in order, and a connection that is cut now and then: what was under way is
/// executed soon, or never.
class Server {
 public:
  explicit Server(unsigned seed) : random_(seed) {}

  void live() {
    for (int step = 0; step < 200 && hold_.valid_for(now_) > Duration{}; ++step) {
      switch (dice(7)) {
        case 0:
        case 1:
          asked_.push_back({hold_.begin_extension(now_, milliseconds(50 + dice(2000))), now_});
          break;
        case 2:
          execute();
          break;
        case 3:
          answer();
          break;
        case 4:
          give_up();
          break;
        case 5:
          if (dice(8) == 0) cut();
          break;
        default:
          now_ += milliseconds(dice(40));
      }
      if (hold_.valid_for(now_) > Duration{} && now_ + hold_.valid_for(now_) > end_) wrong_ = step;
    }
  }
  std::optional<int> wrong() const { return wrong_; }
  int answered() const { return answered_; }

 private:
  struct Asked {
    HoldFsm::Extension extension;
    TimePoint sent_at;
    bool executed = false;
    bool told = false;  // that it has no answer
  };

  unsigned dice(unsigned sides) { return static_cast<unsigned>(random_() % sides); }
  void execute(Asked& each) {
    each.executed = true;
    if (now_ < end_) end_ = now_ + each.extension.length;
  }
  void execute() {
    const auto next = std::ranges::find(asked_, false, &Asked::executed);
    if (next != asked_.end()) execute(*next);
  }
  void answer() {
    if (asked_.empty() || !asked_.front().executed) return;
    const Asked each = asked_.front();
    asked_.pop_front();
    if (each.told) return;
    hold_.on_extended(each.extension, each.sent_at, now_, 0);
    ++answered_;
  }
  void give_up() {
    if (asked_.empty()) return;
    Asked& each = asked_[dice(static_cast<unsigned>(asked_.size()))];
    if (!std::exchange(each.told, true)) hold_.on_extension_unanswered();
  }
  /// The next login ends what is under way before anything else is sent.
  void cut() {
    for (Asked& each : asked_) {
      if (!each.executed && dice(2) == 0) execute(each);
      if (!each.told) hold_.on_extension_unanswered();
    }
    asked_.clear();
  }

  std::mt19937 random_;
  TimePoint now_ = kStart;
  TimePoint end_ = kStart + kFixed.length;
  HoldFsm hold_ = fixed_hold();
  std::deque<Asked> asked_;
  std::optional<int> wrong_;
  int answered_ = 0;
};

TEST(HoldFsmExtension, IsBelievedForNoLongerThanTheServerHasIt) {
  int answered = 0;
  for (unsigned seed = 1; seed <= 5'000; ++seed) {
    Server server(seed);
    server.live();
    ASSERT_EQ(server.wrong(), std::nullopt) << "seed " << seed;
    answered += server.answered();
  }
  EXPECT_GT(answered, 10'000);
}

TEST(HoldFsmExtension, ThatEndsJustAsLateChangesNothingUntilItIsAnswered) {
  HoldFsm hold = fixed_hold();
  const auto extension = hold.begin_extension(at(99ms), 800ms);
  EXPECT_EQ(hold.deadline(), at(889ms));
  EXPECT_EQ(hold.lease(), 900ms);
  EXPECT_EQ(hold.on_extended(extension, at(99ms), at(110ms), 7), HoldFsm::Change::none);
  EXPECT_EQ(hold.deadline(), at(889ms));
  EXPECT_EQ(hold.lease(), 800ms);
  EXPECT_EQ(hold.durable_for(at(110ms), 7), 779ms);
}

}  // namespace
}  // namespace holdfast::engine::hold_fsm_extension_test
