// SPDX-License-Identifier: Apache-2.0
// Who shares which command of a WAIT in a cluster, and who asks elsewhere: told with literal times, without a server.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "kinds/kinds.hpp"
#include "lock/decide/group_commit.hpp"

namespace holdfast::engine::group_commit_slots_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimePoint at(Duration time) { return TimePoint{} + 1h + time; }

/// Its callers have three seconds.
class GroupCommitSlotsTest : public testing::Test {
 protected:
  static Confirm confirm(const std::string& owner, std::uint16_t slot) {
    Confirm confirm;
    confirm.renewals = {{"key of " + owner, owner}};
    confirm.plan = &kinds::kLock;
    confirm.lease = 30s;
    confirm.slot = slot;
    confirm.asked_at = at(0ms);
    confirm.acks_until = at(1s);
    confirm.until = at(3s);
    return confirm;
  }
  void add(const std::string& owner, std::uint16_t slot) { commit_.add(confirm(owner, slot)); }
  /// What is sent next: `slot: owners` of each command.
  std::string next(Duration now) {
    const std::optional<GroupCommit::Batch> batch = commit_.next(at(now), replicas_);
    if (!batch) return "nothing";
    std::string text;
    number_ = batch->number;
    locks_.clear();
    for (const auto& command : batch->commands) {
      locks_.push_back(command.locks);
      text += (text.empty() ? "" : "; ") + std::to_string(command.slot) + ":";
      for (const Confirm* part : command.parts) text += " " + part->renewals.front().owner;
    }
    return text;
  }
  CommitReply acked() const {
    CommitReply reply;
    reply.batch = number_;
    reply.kind = CommitReply::Kind::answered;
    for (const std::size_t locks : locks_) reply.commands.push_back({std::vector<bool>(locks, true), {}, 7});
    reply.acks = 1;
    return reply;
  }
  static CommitReply::Renewal refused(const std::string& cause) {
    const bool elsewhere = cause.starts_with("MOVED") || cause.starts_with("ASK");
    return {{}, {Errc::server_error, false, cause, cause.starts_with("TRYAGAIN"), elsewhere}, 7};
  }
  static std::vector<std::string> told(const Confirms& decided) {
    std::vector<std::string> told;
    for (const Confirm& each : decided) {
      if (each.taken) continue;
      told.push_back(each.renewals.front().owner + (each.found.acked ? " acked in " + std::to_string(each.found.era)
                                                    : each.found.elsewhere ? " goes elsewhere: " + each.found.cause
                                                                           : " refused: " + each.found.cause));
    }
    return told;
  }
  std::vector<std::string> reply(Duration now, CommitReply reply) {
    reply.batch = number_;
    return told(commit_.on_reply(at(now), reply, replicas_));
  }

  GroupCommit commit_{Acks::replicas(1), 100, 4500ms};
  ReplicaCount replicas_;
  std::uint64_t number_ = 0;        // of the batch that was sent last
  std::vector<std::size_t> locks_;  // of each of its commands
};

TEST_F(GroupCommitSlotsTest, ACommandIsForOneSlotAndAllShareTheWait) {
  add("a", 1);
  add("b", 2);
  add("c", 1);
  EXPECT_EQ(next(0ms), "1: a c; 2: b");
  CommitReply eras = acked();
  eras.commands[1].era = 8;
  EXPECT_THAT(reply(1ms, eras), ElementsAre("a acked in 7", "c acked in 7", "b acked in 8")) << "each slot has its own";
}

TEST_F(GroupCommitSlotsTest, WhatHasMovedIsToldAtOnceWithWhereToAsk) {
  add("a", 1);
  add("b", 1);
  add("c", 2);
  next(0ms);
  CommitReply moved = acked();
  moved.commands[0] = refused("MOVED 1 127.0.0.1:7001");
  EXPECT_THAT(reply(1ms, moved), ElementsAre("a goes elsewhere: MOVED 1 127.0.0.1:7001",
                                             "b goes elsewhere: MOVED 1 127.0.0.1:7001", "c acked in 7"));
  EXPECT_EQ(next(2ms), "nothing");
}

TEST_F(GroupCommitSlotsTest, ARedirectBehindTheTimeIsAFailure) {
  add("a", 1);
  next(0ms);
  CommitReply moved = acked();
  moved.commands[0] = refused("ASK 1 127.0.0.1:7001");
  EXPECT_THAT(reply(3s, moved), ElementsAre("a refused: ASK 1 127.0.0.1:7001"));
}

TEST_F(GroupCommitSlotsTest, AKeyThatIsUnderWayDoesNotCostTheOthersOfItsSlotTheirs) {
  add("a", 1);
  add("b", 1);
  next(0ms);
  CommitReply later = acked();
  later.commands[0] = refused("TRYAGAIN Multiple keys request during rehashing of slot");
  EXPECT_THAT(reply(1ms, later), IsEmpty());
  EXPECT_EQ(next(1ms), "1: a; 1: b") << "each by itself";
  later = acked();
  later.commands[1] = refused("ASK 1 127.0.0.1:7001");
  EXPECT_THAT(reply(2ms, later), ElementsAre("a acked in 7", "b goes elsewhere: ASK 1 127.0.0.1:7001"));
}

TEST_F(GroupCommitSlotsTest, WhoeverComesBackPausesFirst) {
  Confirm again = confirm("a", 1);
  again.not_before = at(20ms);
  commit_.add(std::move(again));
  EXPECT_EQ(next(0ms), "nothing");
  EXPECT_EQ(commit_.due(), at(20ms));
  add("b", 2);
  EXPECT_EQ(next(19ms), "2: b") << "nobody waits for it";
  EXPECT_EQ(commit_.due(), at(3s)) << "behind that batch";
  EXPECT_THAT(reply(19ms, acked()), ElementsAre("b acked in 7"));
  EXPECT_EQ(commit_.due(), at(20ms));
  EXPECT_EQ(next(20ms), "1: a");
}

TEST_F(GroupCommitSlotsTest, WhatMovesIsTakenOutOfWhatWaitsAndOfTheBatchUnderWay) {
  add("a", 1);
  add("b", 2);
  add("c", 1);
  next(0ms);
  add("d", 1);
  add("e", 2);
  const auto moved = [](std::uint16_t slot) { return slot == 1; };
  EXPECT_THAT(commit_.take_moved(moved).size(), 3U) << "d, a and c";
  EXPECT_THAT(commit_.take_moved(moved), IsEmpty());
  CommitReply cut;
  cut.kind = CommitReply::Kind::unknown;
  EXPECT_THAT(reply(1ms, cut), IsEmpty());
  EXPECT_EQ(next(1ms), "2: b e") << "a and c are asked for elsewhere";
  EXPECT_THAT(reply(2ms, acked()), ElementsAre("b acked in 7", "e acked in 7"));
}

}  // namespace
}  // namespace holdfast::engine::group_commit_slots_test
