// SPDX-License-Identifier: Apache-2.0
// Grants and renewals that replicas must confirm: a real primary and its replicas, one of which stops, or all.
#include "acks.hpp"

#include <mutex>

namespace holdfast::test::acks_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AcksTest : public Replicated {};

TEST_F(AcksTest, AGrantThatReplicasHaveConfirmedIsDurable) {
  add_replicas(2);
  Client client(config());
  for (const Acks acks : {Acks::replicas(1), Acks::replicas(2), Acks::majority(), Acks::all()}) {
    Hold hold = client.lock("orders").acquire({.acks = acks});
    EXPECT_GT(hold.durable_for(), 0ms);
    EXPECT_LE(hold.durable_for(), hold.valid_for() + 1ms);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(client.counters().acks_missed, 0U);
}

TEST_F(AcksTest, NoneIsNeverDurableAndSendsNoWait) {
  add_replicas(1);
  Client client(config());
  const Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(hold.durable_for(), 0ms);
  EXPECT_GT(hold.valid_for(), 0ms);
  EXPECT_EQ(raw.calls("wait"), waits_of_fixture);
}

TEST_F(AcksTest, WithoutEnoughReplicasNothingIsTakenAndTheErrorSaysHowMany) {
  add_replicas(2);
  Client client(config([](Config& c) { c.timing.acks_timeout = 300ms; }));
  warm(client);
  replicas[1].freeze();
  const auto error = error_of([&] { return client.lock("orders").acquire({.wait = 0ms, .acks = Acks::all()}); });
  EXPECT_THAT(error, IsError(Errc::durability_not_met, "orders", client.node(),
                             HasSubstr("1 of 2 replicas have confirmed it within 300 ms")));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); })) << "it is given back";
  EXPECT_GE(client.counters().acks_missed, 1U);
  const Hold hold = client.lock("orders").acquire({.acks = Acks::majority()});
  EXPECT_GT(hold.durable_for(), 0ms) << "two of three have it";
}

TEST_F(AcksTest, APrimaryWithoutReplicasMeetsNoLevelThatCountsThem) {
  Client client(config());
  const Timed timed =
      timed_error_of([&] { return client.lock("orders").acquire({.wait = 0ms, .acks = Acks::majority()}); });
  EXPECT_THAT(timed.error, IsError(Errc::durability_not_met, "orders", client.node(), "the primary has no replicas"));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
}

TEST_F(AcksTest, AReplicaThatIsAwayIsMissed) {
  add_replicas(2);
  Client client(config([](Config& c) { c.timing.acks_timeout = 300ms; }));
  warm(client);
  replicas[0].kill();
  ASSERT_TRUE(eventually([&] { return raw.info("replication", "connected_slaves") == "1"; }));
  EXPECT_EQ(error_of([&] { return client.lock("orders").acquire({.wait = 0ms, .acks = Acks::all()}); })->code(),
            code(Errc::durability_not_met))
      << "it may come back, and be elected";
}

TEST_F(AcksTest, AReplicaThatComesLaterCounts) {
  add_replicas(1);
  Client client(config([](Config& c) { c.timing.acks_timeout = 300ms; }));
  warm(client);
  add_replicas(1);
  std::this_thread::sleep_for(1100ms);  // as long as what was known of replicas is taken as known
  replicas[1].freeze();
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire({.wait = 0ms, .acks = Acks::all()}); })->cause(),
              HasSubstr("1 of 2"));
}

TEST_F(AcksTest, AWaitingAcquireGoesOnWhenTheReplicaIsBack) {
  add_replicas(1);
  Client client(config([](Config& c) { c.timing.acks_timeout = 200ms; }));
  warm(client);
  replicas[0].freeze();
  auto waiting = in_thread([&] { return client.lock("orders").acquire({.acks = Acks::all()}); });
  ASSERT_TRUE(eventually([&] { return client.counters().acks_missed >= 2; }));
  replicas[0].thaw();
  const Hold hold = waiting.get();
  EXPECT_GT(hold.durable_for(), 0ms);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
}

/// What an observer is told of waits.
class WaitsLog final : public Observer {
 public:
  void on_waiting(const WaitingEvent& event) override { add("waiting: " + event.cause); }
  void on_wait_ended(const WaitEndedEvent& event) override { add(to_string(event.outcome)); }
  std::vector<std::string> heard() const {
    const std::scoped_lock guard(mutex_);
    return heard_;
  }

 private:
  void add(std::string what) {
    const std::scoped_lock guard(mutex_);
    heard_.push_back(std::move(what));
  }
  mutable std::mutex mutex_;
  std::vector<std::string> heard_;
};

TEST_F(AcksTest, WhoWaitsForMissingAcksIsToldSo) {
  add_replicas(2);
  const auto waits = std::make_shared<WaitsLog>();
  Client client(config([&](Config& c) {
    c.timing.acks_timeout = 200ms;
    c.observer = waits;
  }));
  warm(client);
  replicas[0].freeze();
  auto waiting = in_thread([&] { return client.lock("orders").acquire({.acks = Acks::all()}); });
  ASSERT_TRUE(eventually([&] { return !waits->heard().empty(); }));
  EXPECT_THAT(waits->heard().front(), AllOf(HasSubstr("waiting: "), HasSubstr("1 of 2")));
  EXPECT_EQ(client.counters().waiting, 1U);
  ASSERT_TRUE(eventually([&] { return client.counters().acks_missed >= 3; }));
  EXPECT_EQ(waits->heard().size(), 1U) << "once for each wait";
  replicas[0].thaw();
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(eventually([&] { return waits->heard().size() == 2; }));
  EXPECT_EQ(waits->heard().back(), to_string(WaitOutcome::granted));
}

TEST_F(AcksTest, TheLimitOfAWaitIsReportedAsMissingAcks) {
  add_replicas(1);
  Client client(config([](Config& c) { c.timing.acks_timeout = 100ms; }));
  warm(client);
  replicas[0].freeze();
  const auto error = error_of([&] { return client.lock("orders").acquire({.wait = 500ms, .acks = Acks::all()}); });
  EXPECT_THAT(error, IsError(Errc::durability_not_met, "orders", client.node(), Not("")));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
}

TEST_F(AcksTest, ARenewalWithoutAcksMakesItSuspectAndOneWithAcksHeldAgain) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.acks = Acks::all();
    c.timing.acks_timeout = 100ms;
  }));
  Hold hold = client.lock("orders").acquire();
  replicas[0].freeze();
  ASSERT_TRUE(log->wait_for("suspect"));
  EXPECT_THAT(log->details("suspect").front(), HasSubstr("0 of 1 replica has confirmed it"));
  replicas[0].thaw();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held; }));
  EXPECT_GT(hold.durable_for(), 0ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(AcksTest, WithoutAcksItIsLostWhenTheLastConfirmedLeaseIsOver) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.acks = Acks::all();
    c.timing.acks_timeout = 100ms;
    c.lease = 1500ms;
  }));
  const Hold hold = client.lock("orders").acquire();
  replicas[0].freeze();
  ASSERT_TRUE(log->wait_for("lost"));
  EXPECT_EQ(hold.loss_reason(), LossReason::expired);
  EXPECT_TRUE(raw.exists("orders")) << "the primary has extended it meanwhile, and nobody relies on that";
}

TEST_F(AcksTest, ManyCallersShareAWait) {
  add_replicas(1);
  Client client(config([](Config& c) { c.acks = Acks::replicas(1); }));
  client.ping();
  const long long before = raw.calls("wait");
  constexpr int kCallers = 64;
  std::vector<std::future<void>> callers;
  for (int i = 0; i < kCallers; ++i) {
    callers.push_back(in_thread([&, i] {
      for (int j = 0; j < 20; ++j) client.lock("orders:" + std::to_string(i)).acquire().release();
    }));
  }
  for (auto& caller : callers) caller.get();
  const long long waits = raw.calls("wait") - before;
  RecordProperty("waits", std::to_string(waits));
  EXPECT_LT(waits, kCallers * 20 / 3) << "each WAIT serves several grants";
  EXPECT_EQ(client.counters().acks_waits, static_cast<std::uint64_t>(waits));
  EXPECT_EQ(client.counters().acks_missed, 0U);
}

TEST_F(AcksTest, AWaitHoldsUpNobodyElse) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.timing.acks_timeout = 20s;
    c.timing.command_timeout = 30s;
  }));
  warm(client);
  replicas[0].freeze();
  std::stop_source stop;
  auto stuck = in_thread([&] {
    return error_of([&] { return client.lock("stuck").acquire({.acks = Acks::all(), .stop = stop.get_token()}); });
  });
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "blocked_clients") == "1"; }));
  for (int i = 0; i < 100; ++i) client.lock("free").acquire().release();
  EXPECT_EQ(raw.info("clients", "blocked_clients"), "1") << "all of that within one WAIT";
  stop.request_stop();
  EXPECT_EQ(stuck.get()->code(), code(Errc::cancelled));
  replicas[0].thaw();
  EXPECT_TRUE(eventually([&] { return !raw.exists("stuck"); })) << "it was granted, and nobody wants it";
}

TEST_F(AcksTest, AClientThatIsClosedMeanwhileGivesItBack) {
  add_replicas(1);
  std::optional<Client> client(config([](Config& c) { c.timing.acks_timeout = 400ms; }));
  warm(*client);
  replicas[0].freeze();
  auto stuck = in_thread([lock = client->lock("stuck")]() mutable {
    return error_of([&] { return lock.acquire({.acks = Acks::all()}); });
  });
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "blocked_clients") == "1"; }));
  client->close();
  EXPECT_EQ(stuck.get()->code(), code(Errc::closed));
  EXPECT_TRUE(eventually([&] { return !raw.exists("stuck"); }));
}

TEST_F(AcksTest, ACutLaneIsNoAckAndAllIsConfirmedAgainOnTheNext) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.acks = Acks::all();
    c.lease = 5min;  // no renewal comes by itself in this test
  }));
  const Hold hold = client.lock("orders").acquire();
  ASSERT_GT(hold.durable_for(), 0ms);
  replicas[0].freeze();
  kill_waiting_lane(client);
  EXPECT_TRUE(eventually([&] { return hold.durable_for() == 0ms; })) << "it may have been another primary";
  EXPECT_GT(hold.valid_for(), 0ms);
  replicas[0].thaw();
  EXPECT_TRUE(eventually([&] { return hold.durable_for() > 0ms; }));
}

TEST_F(AcksTest, ACutInTheMiddleOfAnAcquireIsAskedAgain) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.timing.acks_timeout = 20s;
    c.timing.command_timeout = 30s;
  }));
  warm(client);
  replicas[0].freeze();
  auto waiting = in_thread([&] { return client.lock("orders").acquire({.acks = Acks::all()}); });
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "blocked_clients") == "1"; }));
  kill_waiting_lane(client);
  replicas[0].thaw();
  EXPECT_GT(waiting.get().durable_for(), 0ms);
}

TEST_F(AcksTest, ADemotionInTheMiddleOfAWaitIsNoAck) {
  add_replicas(1);
  Client client(config([](Config& c) {
    c.timing.acks_timeout = 20s;
    c.timing.command_timeout = 30s;
    c.timing.patience = 500ms;
  }));
  warm(client);
  replicas[0].freeze();
  auto waiting =
      in_thread([&] { return error_of([&] { return client.lock("orders").acquire({.acks = Acks::all()}); }); });
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "blocked_clients") == "1"; }));
  raw.command("REPLICAOF", "127.0.0.1", replicas[0].port());
  EXPECT_TRUE(waiting.get()) << "UNBLOCKED is not an answer that counts";
  raw.command("REPLICAOF", "NO", "ONE");
  replicas[0].thaw();
}

TEST_F(AcksTest, APromotedReplicaHasWhatWasConfirmed) {
  add_replicas(1);
  Client client(config());
  const Hold hold = client.lock("orders").acquire({.acks = Acks::all()});
  server.kill();
  Raw promoted(replicas[0]);
  promoted.command("REPLICAOF", "NO", "ONE");
  EXPECT_THAT(promoted.hgetall("orders"), HeldBy(hold.owner()));
}

TEST_F(AcksTest, AServerWithoutWaitIsRefusedForGood) {
  RedisServer managed({.listen = ServerOptions::Listen::tcp, .renamed_commands = {{"WAIT", ""}}});
  Client client(config(managed.url()));
  const auto error = error_of([&] { return client.lock("orders").acquire({.acks = Acks::replicas(1)}); });
  EXPECT_THAT(error, IsError(Errc::unsupported_by_server, "orders", client.node(), HasSubstr("WAIT")));
  Raw look(managed);
  EXPECT_TRUE(eventually([&] { return !look.exists("orders"); }));
}

TEST_F(AcksTest, TheAppendOnlyFileIsALevelWhereTheServerHasIt) {
  RedisServer written({.listen = ServerOptions::Listen::tcp, .persistent = true});
  Client client(config(written.url()));
  const auto error = error_of([&] {
    const Hold hold = client.lock("orders").acquire({.acks = Acks::aof()});
    EXPECT_GT(hold.durable_for(), 0ms);
  });
  if (Raw(written).command("COMMAND", "INFO", "WAITAOF").elements.front().elements.empty()) {
    EXPECT_THAT(error, IsError(Errc::unsupported_by_server, "orders", client.node(), HasSubstr("WAITAOF")));
  } else {
    EXPECT_FALSE(error);
    Client unwritten(config());
    EXPECT_THAT(error_of([&] { return unwritten.lock("orders").acquire({.acks = Acks::aof()}); }),
                IsError(Errc::unsupported_by_server, "orders", unwritten.node(), HasSubstr("appendonly")));
  }
}

}  // namespace
}  // namespace holdfast::test::acks_test
