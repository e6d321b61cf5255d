// SPDX-License-Identifier: Apache-2.0
// Refusals: passwords, users, and every permission (ACL) that may be missing. Nothing hangs, no secret is told, and a
// refusal of one lock never touches another.
#include "access.hpp"

#include "support/held_lock.hpp"
#include "support/tried.hpp"

namespace holdfast::test::access_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::Gt;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::Not;

// --- Who ---

/// Redis 7.0 names no command, later ones do.
const auto kNotInScripts = ::testing::AnyOf(HasSubstr("run this command"), HasSubstr("permissions to run the"));

TEST_F(Access, AWrongPasswordIsToldAtOnceByEveryCallAndNeverShown) {
  grant(kRights);
  Client client(as_app("wr0ng-passw0rd"));
  Lock lock = client.lock("app:orders");
  const auto said = [&](const std::string& key) { return IsError(Errc::denied, key, node(), HasSubstr("WRONGPASS")); };
  const auto took = duration_of([&] {
    EXPECT_THAT(error_of([&] { client.ping(); }), said(""));
    EXPECT_THAT(error_of([&] { return client.list(); }), said(""));
    EXPECT_THAT(error_of([&] { return lock.acquire(); }), said("app:orders"));
    EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 1min}); }), said("app:orders"));
    EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said("app:orders"));
    EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said("app:orders"));
    EXPECT_THAT(error_of([&] { return lock.force_release(); }), said("app:orders"));
    std::error_code error;
    EXPECT_EQ(tried(lock, {}, error), std::nullopt);
    EXPECT_EQ(error, Errc::denied);
    EXPECT_EQ(error, std::errc::permission_denied);
  });
  EXPECT_LT(took, as_app().timing.command_timeout * 4);
  EXPECT_TRUE(log->wait_for("down"));
  for (const EventLog::Entry& entry : log->entries()) EXPECT_THAT(entry.detail, Not(HasSubstr("wr0ng")));
  EXPECT_THAT(error_of([&] { return lock.acquire(); })->what(), Not(HasSubstr("wr0ng")));
}

TEST_F(Access, AnUnknownUserAndOneThatIsOffAreRefused) {
  EXPECT_THAT(error_of([&] { return Client(as_app()).lock("app:orders").acquire(); }),
              IsError(Errc::denied, "app:orders", node(), HasSubstr("WRONGPASS")));
  grant(kRights, {"off"});
  EXPECT_THAT(error_of([&] { return Client(as_app()).lock("app:orders").acquire(); }),
              IsError(Errc::denied, "app:orders", node(), HasSubstr("WRONGPASS")));
}

TEST_F(Access, APasswordThatIsMissingIsAskedFor) {
  RedisServer closed({.listen = ServerOptions::Listen::tcp, .password = kSecret});
  Client client(config(closed.url()));
  EXPECT_THAT(error_of([&] { return client.lock("orders").acquire(); }),
              IsError(Errc::denied, "orders", client.node(), HasSubstr("NOAUTH")));
  EXPECT_TRUE(Client(config(closed.url("", kSecret))).lock("orders").acquire());
}

TEST_F(Access, APasswordOfAnyBytesWorks) {
  const std::string odd = "p w:@/?#%\"'\xc3\xbc\n";
  grant({"on", ">" + odd, "~*", "&*", "+@all"});
  EXPECT_TRUE(Client(as_app(odd)).lock("orders").acquire());
}

TEST_F(Access, AUserThatIsRemovedMeanwhileLosesItsHoldAndItsWaiterIsTold) {
  grant(kRights);
  Config settings = as_app();
  settings.lease = 1000ms;
  settings.timing.safety_poll = 300ms;
  Client client(settings);
  const Hold hold = client.lock("app:orders").acquire();
  put_held_lock(raw, "app:busy");
  auto waiting = in_thread([&] { return error_of([&] { return client.lock("app:busy").acquire(); }); });
  ASSERT_TRUE(listeners(raw, "app:busy"));
  raw.command("ACL", "DELUSER", "app");
  ASSERT_TRUE(ready(waiting));
  EXPECT_THAT(waiting.get(), IsError(Errc::denied, "app:busy", node(), HasSubstr("WRONGPASS")));
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("lost"), testing::ElementsAre("expired"));
  EXPECT_THAT(log->details("suspect"), testing::SizeIs(1));
}

// --- What ---

TEST_F(Access, WithoutACommandTheCallIsRefusedAndTheCommandNamed) {
  grant(kRights, {"-evalsha", "-scan", "-ping"});
  Client client(as_app());
  const auto said = [&](const std::string& key, const std::string& command) {
    return IsError(Errc::denied, key, node(), AllOf(HasSubstr("NOPERM"), HasSubstr(command)));
  };
  Lock lock = client.lock("app:orders");
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), said("app:orders", "evalsha"));
  EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 1min}); }), said("app:orders", "evalsha"));
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), said("app:orders", "evalsha"));
  EXPECT_THAT(error_of([&] { return client.list(); }), said("", "scan"));
  EXPECT_THAT(error_of([&] { client.ping(); }), said("", "ping"));
  EXPECT_EQ(client.counters().failed, 2U);
}

TEST_F(Access, WithoutTheKeyTheCallIsRefusedAndTheOthersWork) {
  grant(kRights);
  Client client(as_app());
  Lock lock = client.lock("other:orders");
  const auto said = IsError(Errc::denied, "other:orders", node(), HasSubstr("NOPERM"));
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), said);
  EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said);
  EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said);
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), said);
  EXPECT_FALSE(raw.exists("other:orders"));
  EXPECT_TRUE(client.lock("app:orders").acquire());
}

TEST_F(Access, WithoutAWriteInsideTheScriptNothingIsTaken) {
  grant(kRights, {"-hset"});
  Client client(as_app());
  EXPECT_THAT(error_of([&] { return client.lock("app:orders").acquire(); }),
              IsError(Errc::denied, "app:orders", node(), kNotInScripts));
  EXPECT_FALSE(raw.exists("app:orders"));
}

TEST_F(Access, WithoutPexpireNothingStaysThatHasNoEnd) {
  grant(kRights, {"-pexpire"});
  Client client(as_app());
  EXPECT_THAT(error_of([&] { return client.lock("app:orders").acquire(); }),
              IsError(Errc::denied, "app:orders", node(), kNotInScripts));
  EXPECT_THAT(error_of([&] { return MultiLock({client.lock("app:a"), client.lock("app:b")}).try_acquire(); }),
              testing::Optional(testing::Property("code", &Error::code, code(Errc::denied))));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
  // After any error out of a script the owner is released from here as well: two acquires, two releases.
  EXPECT_TRUE(eventually([&] { return raw.info("commandstats", "cmdstat_evalsha").starts_with("calls=4,"); }));
}

TEST_F(Access, WithoutPublishAReleaseFreesTheLockAndSaysSo) {
  grant(kRights, {"-publish"});
  Client client(as_app());
  Hold hold = client.lock("app:orders").acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("app:orders"));
  EXPECT_TRUE(log->wait_for("unknown"));
  EXPECT_THAT(log->details("unknown", "app:orders"), Contains(HasSubstr("release: ")));
  const Hold again = client.lock("app:orders").acquire();
  EXPECT_TRUE(client.lock("app:orders").force_release());
  EXPECT_FALSE(raw.exists("app:orders"));
}

/// A caller that is refused would do it again.
TEST_F(Access, WithoutPublishWhatCountsIsCountedOnceAndIsNoError) {
  grant(kRights, {"~*", "-publish"});
  Client client(as_app());
  const Semaphore permits = client.semaphore("app:permits");
  EXPECT_TRUE(permits.init(3));
  permits.acquire(2);
  EXPECT_TRUE(permits.release(2));
  EXPECT_EQ(raw.command("GET", "app:permits").text, "3");
  EXPECT_EQ(permits.add(2), 5);
  EXPECT_EQ(raw.command("GET", "app:permits").text, "5");
  const LeasedSemaphore leased = client.leased_semaphore("app:leased");
  EXPECT_TRUE(leased.init(1));
  EXPECT_EQ(leased.add(1), 2);
  EXPECT_EQ(leased.set_total(3), 3);
  Hold hold = leased.acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  const Hold forced = leased.acquire();
  EXPECT_TRUE(leased.force_release());
  EXPECT_EQ(raw.command("GET", "app:leased").text, "3");
  const Latch latch = client.latch("app:latch");
  EXPECT_TRUE(latch.init(3));
  EXPECT_EQ(latch.count_down(1), 2);
  EXPECT_EQ(latch.count_down(2), 0);
  EXPECT_TRUE(latch.init(1));
  EXPECT_TRUE(latch.remove());
  const FairLock fair = client.fair_lock("app:fair");
  const Hold held = fair.acquire();
  EXPECT_TRUE(fair.force_release());
  EXPECT_FALSE(raw.exists("app:fair"));
}

TEST_F(Access, WithoutHdelAReleaseIsUnknownAndTheLeaseEndsIt) {
  grant(kRights, {"-hdel"});
  Client client(as_app());
  Hold hold = client.lock("app:orders").acquire({.lease = renewed(1000ms)});
  EXPECT_EQ(hold.release(), ReleaseOutcome::unknown);
  EXPECT_TRUE(eventually([&] { return !raw.exists("app:orders"); }));
}

TEST_F(Access, WithoutClientKillAReconnectStillWorks) {
  grant(kRights, {"-client"});
  Client client(as_app());
  Hold hold = client.lock("app:orders").acquire();
  raw.command("CLIENT", "KILL", "USER", "app");
  EXPECT_TRUE(log->wait_for("up", 2));
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > 0; }));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(Access, PermissionWithdrawnForOneKeyCostsOnlyThatHold) {
  grant(kRights, {"~extra"});
  Config settings = as_app();
  settings.lease = 1000ms;
  Client client(settings);
  std::vector<Hold> holds;
  for (int i = 0; i < 20; ++i) holds.push_back(client.lock("app:" + std::to_string(i)).acquire());
  Hold extra = client.lock("extra").acquire();
  grant(kRights);
  EXPECT_TRUE(eventually([&] { return extra.valid_for() == 0ms; }));
  // A lease and a half after the loss, all others must have been renewed again.
  EXPECT_FALSE(eventually(
      [&] { return std::ranges::any_of(holds, [](const Hold& hold) { return hold.valid_for() == 0ms; }); }, 1500ms));
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released) << hold.name();
}

/// That it may not be asked says nothing of whose the lock is.
TEST_F(Access, WithoutTheQuestionWhoseALockIsItIsSuspectAndNotLost) {
  grant(kRights);
  Config settings = as_app();
  settings.lease = 30s;
  Client client(settings);
  Hold lock = client.lock("app:orders").acquire();
  Hold simple = client.simple_lock("app:simple").acquire();
  grant(kRights, {"-hexists", "-get"});
  raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");  // on the next connection all is renewed at once
  ASSERT_TRUE(log->wait_for("suspect", 2));
  EXPECT_EQ(lock.state(), HoldState::suspect);
  EXPECT_EQ(simple.state(), HoldState::suspect);
  grant(kRights);
  EXPECT_TRUE(eventually([&] { return lock.state() == HoldState::held && simple.state() == HoldState::held; }));
  EXPECT_EQ(lock.release(), ReleaseOutcome::released);
  EXPECT_EQ(simple.release(), ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::access_test
