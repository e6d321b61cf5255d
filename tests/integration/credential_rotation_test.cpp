// Passwords that are changed again and again under load: on one server, behind Sentinels, in a cluster.
#include "cluster.hpp"
#include "credentials.hpp"
#include "sentinel.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::credential_rotation_test {
namespace {

constexpr const char* kFirst = "passw0rd-0";

/// A user `app` for the first password, as `users` of a server's options have it.
std::string user() { return std::string("app on >") + kFirst + " ~* &* +@all"; }

/// Changes the password of `app` on all these servers, again and again, and each second time ends its connections. The
/// vault knows each before the servers do, or after them, in turn.
class Rotation {
 public:
  Rotation(std::vector<RedisServer*> servers, std::shared_ptr<Vault> vault)
      : servers_(std::move(servers)), vault_(std::move(vault)) {}

  void turn() {
    const std::string next = "passw0rd-" + std::to_string(++turns_);
    const Credentials credentials{"app", next, 200ms};
    if (turns_ % 2 == 0) vault_->set(credentials);
    for (RedisServer* server : servers_) {
      EXPECT_FALSE(Raw(*server).command("ACL", "SETUSER", "app", "resetpass", ">" + next).is_error());
    }
    vault_->set(credentials);
    for (RedisServer* server : servers_) {
      if (turns_ % 2 == 0) Raw(*server).command("CLIENT", "KILL", "USER", "app");
    }
  }

 private:
  const std::vector<RedisServer*> servers_;
  const std::shared_ptr<Vault> vault_;
  int turns_ = 0;
};

/// A ping is not sent twice: one that was under way when its connection was killed has no answer, and says so.
bool answers(const Client& client) {
  try {
    client.ping();
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Threads of two clients take these locks all the time, and one client holds each of `held`. Nothing may be lost, no
/// call may fail, and, unless a failover comes in `between`, no update of what a lock guards may be missing.
void rotate_under_load(const Config& settings, const std::vector<std::string>& names,
                       const std::vector<std::string>& held, Rotation& rotation, int turns,
                       const std::function<void(int turn)>& between = {}) {
  Client holder(settings);
  std::vector<Hold> holds;
  holds.reserve(held.size());
  for (const std::string& name : held) holds.push_back(holder.lock(name).acquire());

  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(std::make_unique<Client>(settings));
  std::vector<long> guarded(names.size());  // each by its lock alone
  std::atomic<long> taken{0};
  std::atomic<bool> over{false};
  std::vector<std::future<void>> loads;
  for (const std::unique_ptr<Client>& client : clients) {
    for (int i = 0; i < 4; ++i) {
      loads.push_back(in_thread([&, client = client.get()] {
        for (std::size_t at = 0; !over; ++at) {
          Hold hold = client->lock(names[at % names.size()]).acquire();
          ++guarded[at % names.size()];
          ++taken;
          hold.release();
        }
      }));
    }
  }
  for (int i = 0; i < turns; ++i) {
    const long before = taken;
    rotation.turn();
    ASSERT_TRUE(eventually([&] { return taken >= before + 50; })) << "after turn " << i;
    EXPECT_TRUE(eventually([&] { return answers(holder); })) << "after turn " << i;
    if (between) between(i);
  }
  over = true;
  for (std::future<void>& load : loads) EXPECT_NO_THROW(load.get());
  long sum = 0;
  for (const long each : guarded) sum += each;
  if (!between) {
    EXPECT_EQ(sum, taken);
  }
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(holder.counters().lost, 0U);
  EXPECT_GT(holder.counters().connections, 2U);
}

class CredentialRotation : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no CLIENT KILL USER";
  }
  const std::shared_ptr<Vault> vault_ = vault_of({"app", kFirst, 200ms});
};

TEST_F(CredentialRotation, OnOneServer) {
  RedisServer server({.listen = ServerOptions::Listen::tcp, .users = {user()}});
  Config settings = quick_config(server.url());
  settings.credentials = vault_->provider();
  Rotation rotation({&server}, vault_);
  rotate_under_load(settings, {"a", "b"}, {"held"}, rotation, 20);
}

TEST_F(CredentialRotation, InACluster) {
  Cluster cluster({.replicas = 0, .users = {user()}});
  Config settings = quick_config(cluster.url());
  settings.timing.command_timeout = 20s;
  settings.credentials = vault_->provider();
  Rotation rotation(cluster.primaries(), vault_);
  rotate_under_load(settings, cluster.names_on_each(), cluster.names_on_each("held"), rotation, 12);
}

/// The Sentinels have their own passwords, which change as well.
TEST_F(CredentialRotation, BehindSentinels) {
  DeploymentOptions options{.replicas = 1,
                            .sentinel_users = {"watcher on >w0rd-0 &* -@all +@connection +sentinel +subscribe +role"}};
  options.config = {"user " + user()};
  Deployment deployment(options);
  const std::shared_ptr<Vault> watchers = vault_of({"watcher", "w0rd-0", 200ms});
  Config settings = quick_config(deployment.url());
  settings.lease = 30s;
  settings.timing.command_timeout = 20s;
  settings.timing.patience = 120s;
  settings.credentials = vault_->provider();
  std::get<SentinelConfig>(settings.server).credentials = watchers->provider();
  std::vector<RedisServer*> servers;
  for (std::size_t i = 0; i < deployment.servers(); ++i) servers.push_back(&deployment.server(i));
  Rotation rotation(servers, vault_);
  rotate_under_load(settings, {"a", "b"}, {"held"}, rotation, 12, [&](int turn) {
    const std::string next = "w0rd-" + std::to_string(turn + 1);
    watchers->set({"watcher", next, 200ms});
    for (std::size_t i = 0; i < deployment.sentinels(); ++i) {
      Raw sentinel(deployment.sentinel(i));
      EXPECT_FALSE(sentinel.command("ACL", "SETUSER", "watcher", "resetpass", ">" + next).is_error());
      sentinel.command("CLIENT", "KILL", "USER", "watcher");
    }
    if (turn != 5) return;
    Raw primary(deployment.primary());
    EXPECT_TRUE(eventually([&] { return primary.replicated(1); }));
    deployment.failover();
  });
}

}  // namespace
}  // namespace holdfast::test::credential_rotation_test
