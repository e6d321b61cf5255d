// SPDX-License-Identifier: Apache-2.0
// A server that is not there: from the start, or from some moment on; and one that comes back with or without its data.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/standstill.hpp"
#include "support/temp_dir.hpp"
#include "support/tried.hpp"

namespace holdfast::test::server_down_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Lt;
using testing::Not;

class ServerDown : public Faults {
 protected:
  ServerDown() : Faults({.listen = ServerOptions::Listen::tcp, .persistent = true}) {}
};

// --- From the start ---

TEST_F(ServerDown, FromTheStartEveryCallFailsAtOnce) {
  server.stop();
  Client client(config());
  Lock lock = client.lock("orders");
  const auto said = [&](const std::string& key) {
    return IsError(Errc::unreachable, key, client.node(), HasSubstr("Connection refused"));
  };
  const auto took = duration_of([&] {
    EXPECT_THAT(error_of([&] { return lock.acquire(); }), said("orders"));
    EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 1min}); }), said("orders"));
    EXPECT_THAT(error_of([&] { return lock.try_acquire(); }), said("orders"));
    EXPECT_THAT(error_of([&] { lock.lock(); }), said("orders"));
    EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said("orders"));
    EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said("orders"));
    EXPECT_THAT(error_of([&] { return lock.force_release(); }), said("orders"));
    EXPECT_THAT(error_of([&] { client.ping(); }), said(""));
    EXPECT_THAT(error_of([&] { return client.list(); }), said(""));
    std::error_code error;
    EXPECT_EQ(tried(lock, {}, error), std::nullopt);
    EXPECT_EQ(error, Errc::unreachable);
    EXPECT_EQ(error, std::errc::not_connected);
  });
  EXPECT_LT(took, config().timing.command_timeout);
  EXPECT_EQ(client.counters().connections, 0U);
  EXPECT_EQ(client.counters().commands, 0U);
  EXPECT_TRUE(log->wait_for("down"));
  EXPECT_THAT(log->details("down"), Contains(HasSubstr("Connection refused")));
}

TEST_F(ServerDown, FromTheStartACallFailsAtOnceHoweverLongItIsDown) {
  server.stop();
  Config settings = config();
  settings.timing.reconnect_min = settings.timing.reconnect_max = 1min;
  Client client(settings);
  EXPECT_TRUE(log->wait_for("down"));
  for (int i = 0; i < 2; ++i) {
    const Timed acquire = timed_error_of([&] { return client.lock("orders").acquire(); });
    EXPECT_THAT(acquire.error, IsError(Errc::unreachable, "orders", client.node(), HasSubstr("Connection refused")));
    EXPECT_LT(acquire.took, settings.timing.command_timeout / 2);
  }
}

TEST_F(ServerDown, ASocketThatIsNotThereIsNamed) {
  const TempDir folder;
  const std::string path = folder.file("redis.sock");
  Client client(config("unix://" + path));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::unreachable, "orders", path, HasSubstr("No such file")));
}

TEST_F(ServerDown, AServerThatStartsLaterIsFound) {
  server.stop();
  Client client(config());
  EXPECT_TRUE(error_of([&] { return client.lock("orders").acquire(); }));
  server.restart(Data::keep);
  EXPECT_TRUE(eventually([&] { return !error_of([&] { client.ping(); }); }));
  EXPECT_TRUE(client.lock("orders").acquire());
}

TEST_F(ServerDown, FromTheStartAWaitGoesOnIfToldSo) {
  server.stop();
  Config settings = config();
  settings.wait_for_server = true;
  settings.timing.patience = 60s;
  Client client(settings);
  const Client also(settings);
  auto one = in_thread([&] { return client.lock("orders").acquire({.wait = 60s}); });
  auto most = in_thread([&] { return RedLock(std::vector{also.lock("papers")}).acquire({.wait = 60s}); });
  EXPECT_TRUE(log->wait_for("down"));
  EXPECT_FALSE(ready(one, 50ms));
  EXPECT_FALSE(ready(most, 0ms));
  server.restart(Data::keep);
  EXPECT_FALSE(one.get().is_lost());
  EXPECT_FALSE(most.get().is_lost());
}

TEST_F(ServerDown, FromTheStartAWaitThatGoesOnHasItsLimitAndPatience) {
  server.stop();
  Config settings = config(server.url() + "?wait_for_server=on");
  settings.timing.command_timeout = 100ms;
  settings.timing.patience = 400ms;
  Client client(settings);
  const Lock lock = client.lock("orders");
  for (const AcquireOptions& options : {AcquireOptions{.wait = 300ms}, AcquireOptions{}}) {
    const Timed acquire = timed_error_of([&] { return lock.acquire(options); });
    EXPECT_THAT(acquire.error, IsError(Errc::unreachable, "orders", client.node(), HasSubstr("Connection refused")));
    EXPECT_GE(acquire.took, options.wait.value_or(settings.timing.patience));
  }
}

TEST_F(ServerDown, FromTheStartAMemberOfARedLockCostsNothingAtTheEnd) {
  const RedisServer second({.listen = ServerOptions::Listen::tcp});
  const RedisServer third({.listen = ServerOptions::Listen::tcp});
  server.stop();
  Config settings = config();
  settings.timing.release_timeout = settings.timing.command_timeout = 30s;
  std::optional<Client> down(settings);
  const Client two(config(second.url())), three(config(third.url()));
  {
    const RedLock lock(std::vector{down->lock("x"), two.lock("x"), three.lock("x")});
    EXPECT_EQ(lock.acquire({.wait = 20s}).release(), ReleaseOutcome::released);
  }
  EXPECT_LT(duration_of([&] { down.reset(); }), 10s);
}

TEST_F(ServerDown, AServerThatNeverAnswersTheLoginIsGivenUp) {
  server.freeze();
  Config settings = config();
  settings.timing.connect_timeout = 300ms;
  Client client(settings);
  const Timed acquire = timed_error_of([&] { return client.lock("orders").acquire(); });
  EXPECT_THAT(acquire.error, IsError(Errc::unreachable, "orders", client.node(), HasSubstr("no answer to the login")));
  EXPECT_LT(acquire.took, settings.timing.command_timeout);
  server.thaw();
}

TEST_F(ServerDown, AServerThatHasNotAnsweredTheLoginYetIsNamedAsTheCause) {
  server.freeze();
  Config settings = config();
  settings.timing.command_timeout = 300ms;
  Client client(settings);
  EXPECT_THAT(error_of([&] { return client.lock("orders").try_acquire(); }),
              IsError(Errc::unreachable, "orders", client.node(), HasSubstr("no answer to the login after ")));
  EXPECT_THAT(error_of([&] { client.ping(); }),
              IsError(Errc::unreachable, "", client.node(), HasSubstr("no answer to the login after ")));
  server.thaw();
  EXPECT_TRUE(client.lock("orders").acquire());
}

// --- From some moment on ---

TEST_F(ServerDown, InTheMiddleAcquiringIsBorneForPatience) {
  const Standstill still;
  Config settings = config();
  settings.timing.command_timeout = 200ms;
  settings.timing.patience = 1000ms;
  Client client(settings);
  client.ping();
  server.stop();
  Lock lock = client.lock("orders");
  const auto said = IsError(Errc::unreachable, "orders", client.node(), HasSubstr("Connection refused"));
  const Timed waited = timed_error_of([&] { return lock.acquire(); });
  EXPECT_THAT(waited.error, said);
  EXPECT_THAT(waited.took, AllOf(Ge(900ms), Lt(10s)));
  const Timed asked = timed_error_of([&] { return lock.try_acquire(); });
  EXPECT_THAT(asked.error, said);
  EXPECT_THAT(asked.took, Lt(900ms + still.total()));
  const Timed limited = timed_error_of([&] { return lock.acquire({.wait = 300ms}); });
  EXPECT_THAT(limited.error, said);
  EXPECT_THAT(limited.took, Lt(900ms + still.total()));
  const Timed looked = timed_error_of([&] { return lock.is_locked(); });
  EXPECT_THAT(looked.error, said);
  EXPECT_THAT(looked.took, Lt(900ms + still.total()));
}

TEST_F(ServerDown, AWaiterSurvivesARestartThatLosesTheDataAndEnters) {
  Client client(config());
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  server.kill();
  EXPECT_TRUE(log->wait_for("down"));
  EXPECT_FALSE(ready(waiting, 100ms));
  server.restart(Data::lose);
  ASSERT_TRUE(ready(waiting));
  const Hold hold = waiting.get();
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  EXPECT_EQ(client.counters().safety_polls, 0U) << "the reconnect must have woken it";
}

TEST_F(ServerDown, AWaiterSurvivesARestartThatKeepsTheDataAndGoesOnWaiting) {
  Client client(config());
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  server.restart(Data::keep);
  ASSERT_TRUE(listeners(raw, "orders"));
  EXPECT_FALSE(ready(waiting, 100ms));
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  ASSERT_TRUE(ready(waiting));
  EXPECT_GT(client.counters().wakes, 0U);
}

TEST_F(ServerDown, AHolderBecomesSuspectAndThenLosesAtItsDeadline) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(1500ms)});
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > 0; }));
  server.kill();
  const milliseconds left = hold.valid_for();
  const auto killed = steady_clock::now();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::suspect; }));
  EXPECT_FALSE(hold.lost_token().stop_requested());
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_THAT(steady_clock::now() - killed, AllOf(Ge(left - 2ms), Lt(left + 1s)));
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.state(), HoldState::lost);
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("suspect", "orders"), ElementsAre(Not("")));
  EXPECT_THAT(log->details("lost", "orders"), ElementsAre("expired"));
  EXPECT_EQ(client.counters().suspect, 1U);
  EXPECT_EQ(client.counters().lost, 1U);
  EXPECT_GT(client.counters().renewal_failures, 0U);
  EXPECT_LT(duration_of([&] { EXPECT_THAT(hold.release(), AnyOf(ReleaseOutcome::unknown, ReleaseOutcome::was_lost)); }),
            config().timing.release_timeout + 1s);
}

TEST_F(ServerDown, AHoldOutlivesAFastRestartThatKeepsTheData) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(10s)});
  const std::string owner = hold.owner();
  server.kill();
  server.restart(Data::keep);
  EXPECT_TRUE(log->wait_for("up", 2));
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > 0; })) << "asked for at once";
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_GT(hold.valid_for(), 8s);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(owner));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

TEST_F(ServerDown, AHoldIsLostAtOnceAfterARestartWithoutTheData) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(1min)});
  server.restart(Data::lose);
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); })) << "not only when its lease ends";
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), ElementsAre("taken"));
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  Hold next = client.lock("orders").acquire({.lease = renewed(600ms)});
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 3; }));
  EXPECT_EQ(next.release(), ReleaseOutcome::released);
}

TEST_F(ServerDown, ReleasesAreCarriedOutAfterARestartThatKeepsTheData) {
  Config settings = config();
  settings.timing.release_timeout = 200ms;
  Client client(settings);
  Hold hold = client.lock("orders").acquire({.lease = renewed(1min)});
  server.kill();
  EXPECT_EQ(hold.release(), ReleaseOutcome::unknown);
  server.restart(Data::keep);
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); })) << "it goes on in the background";
  EXPECT_TRUE(log->wait_for("released"));
  EXPECT_THAT(log->details("released"), ElementsAre("released"));
}

}  // namespace
}  // namespace holdfast::test::server_down_test
