// SPDX-License-Identifier: Apache-2.0
// Who shares which WAIT, and what each hears of it: told with literal times, without a server.
#include "lock/decide/group_commit.hpp"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <holdfast/error.hpp>

#include "kinds/kinds.hpp"

namespace holdfast::engine::group_commit_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimePoint at(Duration time) { return TimePoint{} + 1h + time; }

class GroupCommitTest : public testing::Test {
 protected:
  GroupCommit& commit(Acks acks, std::size_t most_locks = 100) { return commit_.emplace(acks, most_locks, 4500ms); }

  /// One lock, whose replicas have a second, and whose caller three.
  static Confirm confirm(const std::string& owner, Duration now, Duration acks = 1s, Duration until = 3s) {
    Confirm confirm;
    confirm.renewals = {{"key of " + owner, owner}};
    confirm.plan = &kinds::kLock;
    confirm.lease = 30s;
    confirm.asked_at = at(now);
    confirm.acks_until = at(now + acks);
    confirm.until = at(now + until);
    return confirm;
  }
  void add(const std::string& owner, Duration now) { commit_->add(confirm(owner, now)); }

  /// What is sent next, in words.
  std::string next(Duration now) {
    const std::optional<GroupCommit::Batch> batch = commit_->next(at(now), replicas_);
    if (!batch) return "nothing";
    std::string text;
    number_ = batch->number;
    locks_.clear();
    for (const auto& command : batch->commands) {
      locks_.push_back(command.locks);
      text += "renew";
      for (const Confirm* part : command.parts) text += " " + part->renewals.front().owner;
      text += "; ";
    }
    if (batch->ask_replicas) text += "info; ";
    return text + "wait for " + std::to_string(batch->acks) + ", " + std::to_string(batch->wait.count()) + " ms";
  }

  CommitReply acked(long long acks, std::optional<int> replicas = {}) const {
    CommitReply reply;
    reply.batch = number_;
    reply.kind = CommitReply::Kind::answered;
    for (const std::size_t locks : locks_) reply.commands.push_back({std::vector<bool>(locks, true), {}});
    reply.replicas = replicas;
    reply.acks = acks;
    return reply;
  }
  CommitReply refused(Errc error, bool for_good, std::string cause) const {
    CommitReply reply = acked(0);
    reply.acks.reset();
    reply.refused = {error, for_good, std::move(cause)};
    return reply;
  }
  static CommitReply lost(std::string cause) {
    CommitReply reply;
    reply.kind = CommitReply::Kind::unknown;
    reply.cause = std::move(cause);
    return reply;
  }
  static CommitReply not_sent(std::string cause) {
    CommitReply reply;
    reply.cause = std::move(cause);
    return reply;
  }

  static std::vector<std::string> told(const Confirms& decided) {
    std::vector<std::string> told;
    for (const Confirm& each : decided) {
      const std::string what = each.found.acked    ? "acked"
                               : each.found.gone() ? "gone"
                                                   : each.found.error.message() + ": " + each.found.cause;
      told.push_back(each.renewals.front().owner + " " + what + (each.found.for_good ? ", for good" : ""));
    }
    return told;
  }
  std::vector<std::string> reply(Duration now, CommitReply reply) {
    reply.batch = number_;
    return told(commit_->on_reply(at(now), reply, replicas_));
  }
  std::vector<std::string> time(Duration now) { return told(commit_->on_time(at(now))); }

  std::optional<GroupCommit> commit_;
  ReplicaCount replicas_;
  std::uint64_t number_ = 0;        // of the batch that was sent last
  std::vector<std::size_t> locks_;  // of each of its commands
};

const std::string kNotMet = make_error_code(Errc::durability_not_met).message() + ": ";

TEST_F(GroupCommitTest, WhatComesWhileABatchIsUnderWaySharesTheNextWait) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  EXPECT_EQ(next(0ms), "renew a; wait for 1, 1000 ms");
  add("b", 1ms);
  EXPECT_EQ(next(1ms), "nothing");
  add("c", 2ms);
  EXPECT_THAT(reply(3ms, acked(1)), ElementsAre("a acked"));
  EXPECT_EQ(next(3ms), "renew b c; wait for 1, 998 ms");
  EXPECT_THAT(reply(4ms, acked(2)), ElementsAre("b acked", "c acked"));
  EXPECT_EQ(next(4ms), "nothing");
}

TEST_F(GroupCommitTest, OneCommandIsForOneKindAndOneLeaseAndSoManyLocks) {
  commit(Acks::replicas(1), 2);
  add("a", 0ms);
  Confirm other_kind = confirm("simple", 0ms);
  other_kind.plan = &kinds::kSimpleLock;
  commit_->add(std::move(other_kind));
  add("b", 0ms);
  Confirm other_lease = confirm("short", 0ms);
  other_lease.lease = 5s;
  commit_->add(std::move(other_lease));
  add("c", 0ms);
  EXPECT_EQ(next(0ms), "renew a b; renew simple; renew short; renew c; wait for 1, 1000 ms");
  EXPECT_THAT(reply(1ms, acked(1)), ElementsAre("a acked", "b acked", "simple acked", "short acked", "c acked"));
}

TEST_F(GroupCommitTest, ABatchHasSoManyCommandsAndTheRestWaits) {
  commit(Acks::replicas(1), 1);
  for (std::size_t i = 0; i <= GroupCommit::kMostCommands; ++i) add(std::to_string(i), 0ms);
  next(0ms);
  EXPECT_EQ(locks_.size(), GroupCommit::kMostCommands);
  EXPECT_EQ(reply(1ms, acked(1)).size(), GroupCommit::kMostCommands);
  EXPECT_EQ(next(1ms), "renew 256; wait for 1, 999 ms");
}

TEST_F(GroupCommitTest, TheMostImpatientSetsTheTimeAndTheOthersGoOn) {
  commit(Acks::replicas(2));
  add("patient", 0ms);
  commit_->add(confirm("hasty", 0ms, 200ms, 250ms));
  EXPECT_EQ(next(0ms), "renew patient hasty; wait for 2, 200 ms");
  EXPECT_THAT(reply(201ms, acked(1)),
              ElementsAre("hasty " + kNotMet + "1 of 2 replicas have confirmed it within 200 ms"));
  EXPECT_EQ(next(201ms), "renew patient; wait for 2, 799 ms");
  EXPECT_THAT(reply(1000ms, acked(1)),
              ElementsAre("patient " + kNotMet + "1 of 2 replicas have confirmed it within 1000 ms"));
}

TEST_F(GroupCommitTest, NoWaitIsEndlessOrLongerThanAConnectionIsSilent) {
  commit(Acks::replicas(1));
  commit_->add(confirm("a", 0ms, 60s, 60s));
  EXPECT_EQ(next(0ms), "renew a; wait for 1, 4500 ms");
  reply(4500ms, acked(0));
  EXPECT_EQ(next(60s), "renew a; wait for 1, 1 ms");
}

TEST_F(GroupCommitTest, AllIsAsManyAsThePrimaryHasWhichIsAskedInTheSameWrite) {
  commit(Acks::all());
  add("a", 0ms);
  EXPECT_EQ(next(0ms), "renew a; info; wait for 0, 1000 ms") << "nobody knows yet how many";
  EXPECT_THAT(reply(1ms, acked(1, 2)), IsEmpty());
  EXPECT_EQ(next(1ms), "renew a; wait for 2, 999 ms");
  EXPECT_THAT(reply(2ms, acked(2)), ElementsAre("a acked"));
  add("b", 1100ms);
  EXPECT_EQ(next(1100ms), "renew b; info; wait for 2, 1000 ms") << "there may be more by now";
  EXPECT_THAT(reply(1101ms, acked(2, 3)), IsEmpty());
  EXPECT_EQ(next(1101ms), "renew b; wait for 3, 999 ms");
}

TEST_F(GroupCommitTest, AReplicaThatIsAwayStillCounts) {
  commit(Acks::all());
  replicas_.on_told(2, at(0ms));
  add("a", 2s);
  EXPECT_EQ(next(2s), "renew a; info; wait for 2, 1000 ms");
  EXPECT_THAT(reply(3s, acked(1, 1)), ElementsAre("a " + kNotMet + "1 of 2 replicas have confirmed it within 1000 ms"));
}

TEST_F(GroupCommitTest, MajorityCountsThePrimary) {
  EXPECT_EQ(acks_needed(Acks::majority(), 1), 1);  // both of two
  EXPECT_EQ(acks_needed(Acks::majority(), 2), 1);  // two of three
  EXPECT_EQ(acks_needed(Acks::majority(), 3), 2);  // three of four
  EXPECT_EQ(acks_needed(Acks::majority(), 4), 2);  // three of five
}

TEST_F(GroupCommitTest, WithoutReplicasTheLevelsThatCountThemAreNotMet) {
  commit(Acks::majority());
  add("a", 0ms);
  EXPECT_EQ(next(0ms), "renew a; info; wait for 0, 1000 ms");
  EXPECT_THAT(reply(1ms, acked(0, 0)), ElementsAre("a " + kNotMet + "the primary has no replicas"));
  add("b", 10ms);
  EXPECT_EQ(next(10ms), "renew b; info; wait for 0, 1000 ms") << "asked again, as it was not met";
  EXPECT_THAT(reply(11ms, acked(1, 1)), ElementsAre("b acked"));
}

TEST_F(GroupCommitTest, AofWantsThePrimarysFile) {
  commit(Acks::aof());
  add("a", 0ms);
  EXPECT_EQ(next(0ms), "renew a; wait for 0, 1000 ms");
  EXPECT_THAT(reply(1ms, acked(1)), ElementsAre("a acked"));
  add("b", 10ms);
  next(10ms);
  EXPECT_THAT(reply(1010ms, acked(0)),
              ElementsAre("b " + kNotMet + "the primary's append-only file was not on disk within 1000 ms"));
}

TEST_F(GroupCommitTest, WhatIsGoneIsToldWhateverTheAcksSay) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  add("b", 0ms);
  next(0ms);
  CommitReply half = acked(0);
  half.commands.front().extended = {false, true};
  EXPECT_THAT(reply(1ms, half), ElementsAre("a gone"));
  EXPECT_EQ(next(1ms), "renew b; wait for 1, 999 ms");
}

TEST_F(GroupCommitTest, ARefusedWaitIsToldAtOnce) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  EXPECT_THAT(reply(1ms, refused(Errc::unsupported_by_server, true, "ERR unknown command 'WAIT'")),
              ElementsAre("a " + make_error_code(Errc::unsupported_by_server).message() +
                          ": ERR unknown command 'WAIT', for good"));
  add("b", 2ms);
  next(2ms);
  EXPECT_THAT(reply(3ms, refused(Errc::server_error, false, "UNBLOCKED")),
              ElementsAre("b " + make_error_code(Errc::server_error).message() + ": UNBLOCKED"));
}

TEST_F(GroupCommitTest, OneKeyThatIsRefusedDoesNotCostTheOthersTheirs) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  add("b", 0ms);
  next(0ms);
  CommitReply denied = acked(1);
  denied.commands = {{{}, {Errc::denied, true, "NOPERM"}}};
  EXPECT_THAT(reply(1ms, denied), IsEmpty());
  EXPECT_EQ(next(1ms), "renew a; renew b; wait for 1, 999 ms");
  denied.commands = {{{true}, {}}, {{}, {Errc::denied, true, "NOPERM"}}};
  EXPECT_THAT(reply(2ms, denied),
              ElementsAre("a acked", "b " + make_error_code(Errc::denied).message() + ": NOPERM, for good"));
}

TEST_F(GroupCommitTest, ARenewalThatRanBehindTheWaitIsNotCoveredByIt) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  CommitReply resent = acked(1);
  resent.resent = true;
  EXPECT_THAT(reply(1ms, resent), IsEmpty());
  EXPECT_EQ(next(1ms), "renew a; wait for 1, 999 ms");
}

TEST_F(GroupCommitTest, WhatWasCutIsNoAckAndIsAskedForAgainAsLongAsThereIsTime) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  EXPECT_THAT(reply(100ms, lost("the connection was lost")), IsEmpty());
  EXPECT_EQ(next(100ms), "renew a; wait for 1, 900 ms");
  EXPECT_THAT(reply(3s, lost("no reply within 2900 ms")),
              ElementsAre("a " + kNotMet + "no acks came: no reply within 2900 ms"));
}

TEST_F(GroupCommitTest, WhatWasNotSentIsToldAtOnce) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  EXPECT_THAT(reply(1ms, not_sent("connection refused")),
              ElementsAre("a " + kNotMet + "acks could not be asked for: connection refused"));
}

TEST_F(GroupCommitTest, WhoeverWaitsForABatchToEndHearsInTime) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  EXPECT_EQ(commit_->due(), TimePoint::max()) << "the time of what is under way is its lane's affair";
  commit_->add(confirm("hasty", 10ms, 50ms, 100ms));
  EXPECT_EQ(commit_->due(), at(110ms));
  EXPECT_THAT(time(109ms), IsEmpty());
  EXPECT_THAT(time(110ms), ElementsAre("hasty " + kNotMet + "acks could not be asked for within 100 ms"));
  EXPECT_EQ(commit_->due(), TimePoint::max());
  EXPECT_THAT(reply(120ms, acked(1)), ElementsAre("a acked"));
}

TEST_F(GroupCommitTest, AReplyToWhatWasTakenBackMeansNothing) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  add("b", 1ms);
  EXPECT_EQ(commit_->take_all().size(), 2U);
  EXPECT_THAT(reply(2ms, acked(1)), IsEmpty());
}

TEST_F(GroupCommitTest, AReplyToWhatWasTakenBackIsNoneToTheNextBatch) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  const CommitReply late = acked(1);
  commit_->take_all();
  add("b", 1ms);
  add("c", 1ms);
  EXPECT_EQ(next(1ms), "renew b c; wait for 1, 1000 ms");
  EXPECT_THAT(told(commit_->on_reply(at(2ms), late, replicas_)), IsEmpty());
  EXPECT_EQ(next(2ms), "nothing") << "it is still under way";
  EXPECT_THAT(reply(3ms, acked(1)), ElementsAre("b acked", "c acked"));
}

TEST(ReplicaCountTest, WhoKnowsHowManyAreConfiguredKnowsBest) {
  ReplicaCount replicas;
  EXPECT_EQ(replicas.count(), std::nullopt);
  replicas.on_told(3, at(0ms));
  replicas.on_told(1, at(1ms));
  EXPECT_EQ(replicas.count(), 3) << "the most that were ever seen";
  replicas.set_configured(2);
  EXPECT_EQ(replicas.count(), 2);
  replicas.on_told(4, at(2ms));
  EXPECT_EQ(replicas.count(), 4) << "they have not heard of it yet";
}

TEST(ReplicaCountTest, WhatAnotherSourceHasSeenCountsAsWell) {
  ReplicaCount replicas;
  replicas.on_seen(2);
  EXPECT_EQ(replicas.count(), 2);
  replicas.on_told(1, at(0ms));
  EXPECT_EQ(replicas.count(), 2) << "the other may come back";
  replicas.on_seen(3);
  EXPECT_EQ(replicas.count(), 3);
  replicas.on_seen(1);
  EXPECT_EQ(replicas.count(), 3);
}

TEST(AsConfirmedTest, AGrantCountsOnlyWithAcksOfItsEra) {
  const Attempt granted{.kind = Attempt::Kind::granted};
  Confirmed confirmed{.extended = {true}, .acked = true, .era = 4};
  EXPECT_EQ(as_confirmed(granted, confirmed, 4).kind, Attempt::Kind::granted);
  EXPECT_EQ(as_confirmed(granted, confirmed, 4).acks_era, 4U);
  EXPECT_EQ(as_confirmed(granted, confirmed, 5).kind, Attempt::Kind::unknown);
  confirmed.extended = {false};
  const Attempt gone = as_confirmed(granted, confirmed, 4);
  EXPECT_EQ(gone.kind, Attempt::Kind::unknown) << "perhaps a failover";
  EXPECT_EQ(gone.cause, "the grant was gone again when its acks were asked for");
  const Attempt missed =
      as_confirmed(granted, {.extended = {true}, .error = Errc::durability_not_met, .cause = "1 of 2"}, 4);
  EXPECT_EQ(missed.kind, Attempt::Kind::not_durable);
  EXPECT_EQ(missed.cause, "1 of 2");
  EXPECT_EQ(as_confirmed(granted, {.extended = {true}, .for_good = true, .error = Errc::denied}, 4).kind,
            Attempt::Kind::failed);
}

TEST(AsConfirmedTest, AGrantThatIsNotConfirmedSaysWhy) {
  const Attempt granted{.kind = Attempt::Kind::granted};
  EXPECT_EQ(as_confirmed(granted, {.extended = {true}, .acked = true, .era = 4}, 5).cause,
            "the connection was lost while acks were asked for");
  const Attempt refused =
      as_confirmed(granted, {.extended = {true}, .for_good = true, .error = Errc::denied, .cause = "no"}, 4);
  EXPECT_EQ(refused.error, Errc::denied);
  EXPECT_EQ(refused.cause, "no");
  EXPECT_EQ(refused.may_pass, false);
}

TEST(ReplicaCountTest, IsAskedForAgainAfterASecond) {
  ReplicaCount replicas;
  EXPECT_TRUE(replicas.to_be_asked(at(0ms)));
  replicas.on_told(1, at(0ms));
  EXPECT_FALSE(replicas.to_be_asked(at(999ms)));
  EXPECT_TRUE(replicas.to_be_asked(at(1s)));
}

/// As replies to attempts are: it has to be called, and a copy does not count.
struct MustAnswer {
  explicit MustAnswer(int& its_unanswered) : unanswered(&its_unanswered) {}
  MustAnswer(const MustAnswer&) {}
  MustAnswer(MustAnswer&& other) noexcept : unanswered(std::exchange(other.unanswered, nullptr)) {}
  ~MustAnswer() {
    if (unanswered != nullptr) ++*unanswered;
  }
  void operator()(const Confirmed&) { unanswered = nullptr; }
  int* unanswered = nullptr;
};

TEST_F(GroupCommitTest, ARefusalOfOneByItselfIsItsAnswer) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  CommitReply no = acked(0);
  no.commands.front() = {.extended = {}, .refused = {.error = Errc::denied, .cause = "no", .for_one = true}};
  const Confirms decided = commit_->on_reply(at(1ms), no, replicas_);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_TRUE(decided.front().found.for_one);
  EXPECT_EQ(decided.front().found.error, Errc::denied);
}

TEST_F(GroupCommitTest, ARefusalOfSeveralIsTheirAnswerOnceNoTimeIsLeft) {
  commit(Acks::replicas(1));
  for (const char* owner : {"a", "b"}) add(owner, 0ms);
  next(0ms);
  CommitReply no = acked(0);
  no.commands.front() = {.extended = {}, .refused = {.error = Errc::denied, .cause = "no"}};
  EXPECT_EQ(reply(3s, no).size(), 2U);
}

TEST_F(GroupCommitTest, AcksThatMayStillComeAreWaitedForUntilTheLastMillisecond) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  EXPECT_THAT(reply(998ms, acked(0)), IsEmpty());
  next(998ms);
  EXPECT_THAT(reply(999ms, acked(0)), ElementsAre("a " + kNotMet + "0 of 1 replica has confirmed it within 1000 ms"));
}

TEST_F(GroupCommitTest, WhereNobodySaysHowManyReplicasThereAreNoNumberIsEnough) {
  commit(Acks::majority());
  add("a", 0ms);
  next(0ms);
  EXPECT_THAT(reply(1ms, acked(9)), ElementsAre("a " + kNotMet + "the primary does not say how many replicas it has"));
}

TEST_F(GroupCommitTest, OneAckOfTheFileOnDiskIsEnoughAndNoneIsNot) {
  commit(Acks::aof());
  add("a", 0ms);
  next(0ms);
  const Confirms decided = commit_->on_reply(at(999ms), acked(1), replicas_);
  ASSERT_EQ(decided.size(), 1U);
  EXPECT_TRUE(decided.front().found.acked);
  EXPECT_FALSE(decided.front().found.error);
  add("b", 1s);
  next(1s);
  CommitReply silent = acked(0);
  silent.acks.reset();
  EXPECT_THAT(reply(1001ms, silent), IsEmpty());
}

TEST_F(GroupCommitTest, WhatOneReplyHasSaidIsForgottenWithTheNextAndWithAMove) {
  commit(Acks::replicas(1));
  for (const char* owner : {"a", "b"}) add(owner, 0ms);
  EXPECT_EQ(next(0ms), "renew a b; wait for 1, 1000 ms");
  CommitReply no = acked(0);
  no.commands.front() = {.extended = {}, .refused = {.error = Errc::denied, .cause = "no", .for_one = true}};
  EXPECT_THAT(reply(1ms, no), IsEmpty()) << "each is tried alone";
  EXPECT_EQ(next(2ms), "renew a; renew b; wait for 1, 998 ms");
  const Confirms decided = commit_->on_reply(at(3ms), acked(1), replicas_);
  ASSERT_EQ(decided.size(), 2U);
  EXPECT_FALSE(decided.front().found.for_one);

  for (const char* owner : {"c", "d"}) add(owner, 10ms);
  EXPECT_EQ(next(10ms), "renew c d; wait for 1, 1000 ms");
  EXPECT_THAT(reply(11ms, no), IsEmpty());
  const Confirms moved = commit_->take_moved([](std::uint16_t) { return true; });
  ASSERT_EQ(moved.size(), 2U);
  EXPECT_FALSE(moved.front().found.for_one);
  EXPECT_FALSE(moved.front().alone);
}

TEST_F(GroupCommitTest, WhatHasMovedTakesAlongWhoeverWaitsForIt) {
  commit(Acks::replicas(1));
  int unanswered = 0;
  Confirm waits = confirm("a", 0s);
  waits.done = MustAnswer(unanswered);
  commit_->add(std::move(waits));
  EXPECT_EQ(next(0s), "renew a; wait for 1, 1000 ms");
  Confirms taken = commit_->take_moved([](std::uint16_t) { return true; });
  ASSERT_EQ(taken.size(), 1U);
  commit_->on_reply(at(10ms), acked(1), replicas_);  // its place in the batch goes
  EXPECT_EQ(unanswered, 0);
  taken.front().done({});
  taken.clear();
  EXPECT_EQ(unanswered, 0);
}

TEST_F(GroupCommitTest, WhatHasMovedIsNotAskedForAgainHere) {
  commit(Acks::replicas(1));
  add("a", 0ms);
  next(0ms);
  EXPECT_EQ(commit_->take_moved([](std::uint16_t) { return true; }).size(), 1U);
  commit_->on_reply(at(10ms), acked(0), replicas_);
  EXPECT_EQ(next(20ms), "nothing");
}

}  // namespace
}  // namespace holdfast::engine::group_commit_test
