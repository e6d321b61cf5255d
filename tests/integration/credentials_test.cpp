// SPDX-License-Identifier: Apache-2.0
// Config::credentials: asked at each login and before what it gave ends, and nobody waits for it but that login.
#include "credentials.hpp"

#include "access.hpp"

namespace holdfast::test::credentials_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class CredentialsTest : public Access {
 protected:
  void SetUp() override {
    Access::SetUp();
    if (!IsSkipped()) grant(kRights);
  }

  /// A client that knows nobody but the vault.
  Config asking(const std::shared_ptr<Vault>& vault) const {
    Config made = config(server.url());
    made.username = "nobody";
    made.password = "n0thing";
    made.credentials = vault->provider();
    return made;
  }
  /// From now on the user has this password alone. Who is connected stays so.
  void change_password(const std::string& password) {
    ASSERT_FALSE(raw.command("ACL", "SETUSER", "app", "resetpass", ">" + password).is_error());
  }
  void cut_all() { raw.command("CLIENT", "KILL", "USER", "app"); }
  long long auths() { return raw.calls("auth"); }

  const std::shared_ptr<Vault> vault_ = vault_of({"app", kSecret, {}});
};

TEST_F(CredentialsTest, AreAskedForAtEachLogin) {
  Client client(asking(vault_));
  const Hold hold = client.lock("app:orders").acquire();
  EXPECT_EQ(vault_->calls(), 1);
  change_password("an0ther");
  vault_->set({"app", "an0ther", {}});
  cut_all();
  EXPECT_EQ(client.lock("app:other").acquire().release(), ReleaseOutcome::released);
  EXPECT_THAT(vault_->calls(), Ge(2));
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(CredentialsTest, OfALivingConnectionAreReplacedBeforeTheyEnd) {
  ASSERT_FALSE(raw.send({"ACL", "SETUSER", "app2", "reset", "on", ">s3cond", "~app:*", "&*", "+@all"}).is_error());
  vault_->set({"app", kSecret, 400ms});
  Client client(asking(vault_));
  Hold hold = client.lock("app:orders").acquire();
  EXPECT_THAT(users_of_ours(server), Each("app"));
  vault_->set({"app2", "s3cond", 400ms});
  EXPECT_TRUE(eventually([&] {
    const std::vector<std::string> users = users_of_ours(server);
    return !users.empty() && std::ranges::count(users, "app2") == std::ssize(users);
  }));
  EXPECT_TRUE(eventually([&] { return auths() >= 4; })) << "again and again";
  EXPECT_EQ(client.counters().connections, 1U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(CredentialsTest, WithoutAnEndAreNotReplaced) {
  vault_->set({"app", kSecret, 1h});
  Config settings = asking(vault_);
  settings.loss_notice = false;  // one connection
  Client client(settings);
  const Hold hold = client.lock("app:orders").acquire();
  EXPECT_FALSE(eventually([&] { return auths() > 0 || vault_->calls() > 1; }, 500ms));
}

/// The server keeps who is connected as he is.
TEST_F(CredentialsTest, ThatAreRefusedLaterAreAskedForAgainAndNoHoldIsLost) {
  vault_->set({"app", kSecret, 300ms});
  Client client(asking(vault_));
  const Hold hold = client.lock("app:orders").acquire();
  vault_->set({"app", "wr0ng-passw0rd", 300ms});
  ASSERT_TRUE(eventually([&] { return auths() >= 3; }));
  EXPECT_EQ(client.lock("app:other").acquire().release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().connections, 1U);
  cut_all();
  EXPECT_TRUE(log->wait_for("down"));
  EXPECT_TRUE(eventually([&] {
    return std::ranges::any_of(log->entries(), [](const EventLog::Entry& entry) {
      return entry.kind == "down" && entry.detail.find("credentials were not renewed: WRONGPASS") != std::string::npos;
    });
  }));
  for (const EventLog::Entry& entry : log->entries()) EXPECT_THAT(entry.detail, Not(HasSubstr("wr0ng")));
  vault_->set({"app", kSecret, {}});
  EXPECT_EQ(client.lock("app:other").acquire().release(), ReleaseOutcome::released);
  EXPECT_NE(hold.state(), HoldState::lost);
}

/// What was asked for a moment before the server was told.
/// Redis since 7.2, and Valkey, do not answer such an AUTH if they have something else to send.
TEST_F(CredentialsTest, ThatAreRefusedUnderLoadMisplaceNoReply) {
  vault_->set({"app", kSecret, 100ms});
  Client client(asking(vault_));
  client.ping();
  std::atomic<bool> over{false};
  std::vector<std::future<void>> loads;
  for (int i = 0; i < 8; ++i) {
    loads.push_back(in_thread([&, lock = client.lock("app:" + std::to_string(i))] {
      while (!over) {
        Hold hold = lock.acquire();
        EXPECT_TRUE(lock.is_locked());
        EXPECT_EQ(hold.release(), ReleaseOutcome::released);
      }
    }));
  }
  vault_->set({"app", "wr0ng", 100ms});
  const long long before = auths();
  EXPECT_TRUE(eventually([&] { return auths() >= before + 20; }));
  over = true;
  for (std::future<void>& load : loads) EXPECT_NO_THROW(load.get());
  EXPECT_EQ(client.counters().connections, 1U);
}

TEST_F(CredentialsTest, ThatAreRefusedAtTheLoginAreAskedForAgain) {
  vault_->set({"app", "0ld", {}});
  vault_->meanwhile([vault = std::weak_ptr(vault_)] {
    if (const auto its = vault.lock(); its->calls() > 2) its->set({"app", kSecret, {}});
  });
  EXPECT_TRUE(Client(asking(vault_)).lock("app:orders").try_lock());
  EXPECT_EQ(vault_->calls(), 3);
}

TEST_F(CredentialsTest, ThatAreWrongAreToldAndNeverShown) {
  vault_->set({"app", "wr0ng-passw0rd", {}});
  Client client(asking(vault_));
  const auto error = error_of([&] { return client.lock("app:orders").acquire(); });
  EXPECT_THAT(error, IsError(Errc::denied, "app:orders", node(), HasSubstr("WRONGPASS")));
  EXPECT_THAT(error->what(), Not(HasSubstr("wr0ng")));
}

TEST_F(CredentialsTest, ThatCannotBeHadAreAskedForAgain) {
  Client client(asking(vault_));
  const Hold hold = client.lock("app:orders").acquire();
  vault_->meanwhile([] { throw std::runtime_error("the token service is down\n"); });
  cut_all();
  auto waiting = in_thread([&] { return client.lock("app:other").acquire(); });
  EXPECT_TRUE(eventually([&] { return vault_->calls() >= 4; }));
  EXPECT_THAT(error_of([&] { return client.lock("app:third").try_acquire({.wait = 50ms}); }),
              IsError(Errc::unreachable, "app:third", node(),
                      HasSubstr("the credentials' provider threw: \"the token service is down\\n\"")));
  vault_->meanwhile({});
  EXPECT_TRUE(ready(waiting));
  EXPECT_NE(hold.state(), HoldState::lost);
}

TEST_F(CredentialsTest, AnythingMayBeThrown) {
  vault_->meanwhile([] { throw 7; });
  EXPECT_THAT(error_of([&] { return Client(asking(vault_)).lock("app:orders").acquire(); }),
              IsError(Errc::unreachable, "app:orders", node(), HasSubstr("that is no std::exception")));
}

TEST_F(CredentialsTest, ThatHaveEndedAlreadyAreNotUsed) {
  vault_->set({"app", kSecret, 0ms});
  EXPECT_THAT(error_of([&] { return Client(asking(vault_)).lock("app:orders").acquire(); }),
              IsError(Errc::unreachable, "app:orders", node(), HasSubstr("gave what has ended already")));
}

TEST_F(CredentialsTest, ThatDoNotComeAreWaitedForAsLongAsAConnection) {
  Gate gate;
  vault_->meanwhile(gate.wait());
  Config settings = asking(vault_);
  settings.timing.connect_timeout = 200ms;
  Client client(settings);
  const Timed refused = timed_error_of([&] { return client.lock("app:orders").acquire(); });
  EXPECT_THAT(refused.error, IsError(Errc::unreachable, "app:orders", node(),
                                     HasSubstr("no answer of the credentials' provider within 200 ms")));
  EXPECT_LT(refused.took, settings.timing.command_timeout);
  gate.open();
  vault_->meanwhile({});
  EXPECT_TRUE(eventually([&] { return !error_of([&] { return client.lock("app:orders").acquire(); }); }));
}

/// While it is waited for, the hold is renewed, and others take locks.
TEST_F(CredentialsTest, ThatDoNotComeHoldUpNoHold) {
  vault_->set({"app", kSecret, 300ms});
  Config settings = asking(vault_);
  settings.lease = 600ms;
  settings.timing.connect_timeout = 200ms;
  settings.loss_notice = false;  // one connection each
  Client client(settings);
  Client other(settings);
  const Hold hold = client.lock("app:orders").acquire();
  const Hold others = other.lock("app:others").acquire();
  Gate gate;
  vault_->meanwhile(gate.wait());
  const int before = vault_->calls();
  ASSERT_TRUE(eventually([&] { return vault_->calls() >= before + 4; })) << "two of each, and no more threads";
  const auto end = steady_clock::now() + 3 * settings.lease;
  while (steady_clock::now() < end) EXPECT_EQ(client.lock("app:busy").acquire().release(), ReleaseOutcome::released);
  EXPECT_EQ(vault_->calls(), before + 4);
  EXPECT_TRUE(hold.valid_for() > 0ms);
  EXPECT_TRUE(others.valid_for() > 0ms);
  EXPECT_EQ(client.counters().lost + other.counters().lost, 0U);
  EXPECT_EQ(client.counters().connections, 1U);
}

TEST_F(CredentialsTest, ThatDoNotComeHoldUpNoEnd) {
  Gate gate;
  vault_->meanwhile(gate.wait());
  const auto took = duration_of([&] {
    const Client client(asking(vault_));
    ASSERT_TRUE(eventually([&] { return vault_->calls() == 1; }));
  });
  EXPECT_LT(took, 5s);
  gate.open();
  EXPECT_TRUE(eventually([&] { return vault_.use_count() == 1; })) << "what it used is let go";
}

}  // namespace
}  // namespace holdfast::test::credentials_test
