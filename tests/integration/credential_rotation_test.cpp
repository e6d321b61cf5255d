// SPDX-License-Identifier: Apache-2.0
// Passwords and certificates that are changed again and again under load: on one server, behind Sentinels, in a
// cluster.
#include <array>
#include <filesystem>
#include <fstream>

#include "cluster.hpp"
#include "credentials.hpp"
#include "sentinel.hpp"
#include "support/server_program.hpp"
#include "support/temp_dir.hpp"

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

/// Changes the authority, certificate and key of all these servers, and the authorities that clients trust, again and
/// again, and ends the connections of `app`. Servers and clients change first in turn, and what was before is worth
/// nothing afterwards.
class CertificateRotation {
 public:
  /// `kept`: an authority that clients trust all the time.
  CertificateRotation(std::vector<RedisServer*> servers, const Certificates& first, const std::string& kept = {})
      : servers_(std::move(servers)),
        sets_{first, Certificates::make(folder_.path() / "other", "DNS:localhost,IP:127.0.0.1")},
        kept_(kept) {
    trust(sets_[0]);
  }
  std::string ca_file() const { return folder_.file("ca.pem"); }

  void turn() {
    const Certificates& next = sets_[static_cast<std::size_t>(++turns_ % 2)];
    const bool clients_first = turns_ % 3 == 0;
    if (clients_first) trust(next);
    for (RedisServer* server : servers_) {
      EXPECT_FALSE(Raw(*server)
                       .command("CONFIG", "SET", "tls-ca-cert-file", next.ca_file, "tls-cert-file",
                                next.server_certificate_file, "tls-key-file", next.server_key_file)
                       .is_error());
    }
    if (!clients_first) trust(next);
    for (RedisServer* server : servers_) Raw(*server).command("CLIENT", "KILL", "USER", "app");
  }

 private:
  void trust(const Certificates& set) const {
    const std::string fresh = ca_file() + ".new";
    std::ofstream out(fresh);
    for (const std::string& file : {set.ca_file, kept_}) {
      if (!file.empty()) out << std::ifstream(file).rdbuf();
    }
    out.close();
    std::filesystem::rename(fresh, ca_file());
  }

  const TempDir folder_;
  const std::vector<RedisServer*> servers_;
  const Certificates sets_[2];
  const std::string kept_;
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
/// call may fail, and, unless a failover comes in `between`, no update of what a lock guards may be missing. A refusal
/// counts once it has lasted for a second, so a turn ends when each client has reached each lock's server again.
void rotate_under_load(const Config& settings, const std::vector<std::string>& names,
                       const std::vector<std::string>& held, auto& rotation, int turns,
                       const std::function<void(int turn)>& between = {}) {
  Client holder(settings);
  std::vector<Hold> holds;
  holds.reserve(held.size());
  for (const std::string& name : held) holds.push_back(holder.lock(name).acquire());

  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 2; ++i) clients.push_back(std::make_unique<Client>(settings));
  // Each by its lock alone; atomic only because a failover may let two in.
  std::vector<std::atomic<long>> guarded(names.size());
  std::atomic<long> taken[] = {0, 0};  // by each client
  std::atomic<bool> over{false};
  std::vector<std::future<void>> loads;
  const auto has_failed = [&] { return std::ranges::any_of(loads, [](auto& load) { return ready(load, 0ms); }); };
  const auto all_take = [&](const std::array<long, 2>& before) {
    return eventually([&] { return has_failed() || (taken[0] >= before[0] + 50 && taken[1] >= before[1] + 50); }) &&
           !has_failed();
  };
  for (std::size_t which = 0; which < clients.size(); ++which) {
    for (int i = 0; i < 4; ++i) {
      loads.push_back(in_thread([&, which, client = clients[which].get()] {
        for (std::size_t at = 0; !over; ++at) {
          Hold hold = client->lock(names[at % names.size()]).acquire();
          std::atomic<long>& ours = guarded[at % names.size()];
          ours.store(ours.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
          ++taken[which];
          hold.release();
        }
      }));
    }
  }
  // A client's first login that is refused is an error at once.
  bool all = all_take({0, 0});
  for (int i = 0; all && i < turns; ++i) {
    const std::array<long, 2> before{taken[0], taken[1]};
    rotation.turn();
    all = all_take(before);
    EXPECT_TRUE(all) << "after turn " << i << ": " << taken[0] - before[0] << ", " << taken[1] - before[1];
    EXPECT_TRUE(eventually([&] { return answers(holder); })) << "after turn " << i;
    if (between) between(i);
  }
  EXPECT_TRUE(all);
  over = true;
  for (std::future<void>& load : loads) EXPECT_NO_THROW(load.get());
  long sum = 0;
  for (const std::atomic<long>& each : guarded) sum += each;
  if (!between) {
    EXPECT_EQ(sum, taken[0] + taken[1]);
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

class CertificateRotations : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_like_redis(7, 0)) GTEST_SKIP() << "before 7.0 CONFIG SET changes one thing at a time";
  }
  /// As `app`, whose connections end at each turn.
  static Config settings_for(const std::string& url, const CertificateRotation& rotation) {
    Config settings = quick_config(url);
    settings.timing.command_timeout = 20s;
    settings.credentials = [] { return Credentials{"app", kFirst}; };
    settings.tls.ca_file = rotation.ca_file();
    return settings;
  }
};

TEST_F(CertificateRotations, InACluster) {
  Cluster cluster({.replicas = 0, .tls = true, .users = {user()}});
  CertificateRotation rotation(cluster.primaries(), cluster.certificates());
  rotate_under_load(settings_for(cluster.url(), rotation), cluster.names_on_each(), cluster.names_on_each("held"),
                    rotation, 6);
}

/// The Sentinels keep theirs.
TEST_F(CertificateRotations, BehindSentinels) {
  DeploymentOptions options{.replicas = 1, .tls = true, .down_after = 30s};
  options.config = {"user " + user()};
  Deployment deployment(options);
  std::vector<RedisServer*> servers;
  for (std::size_t i = 0; i < deployment.servers(); ++i) servers.push_back(&deployment.server(i));
  const Certificates first = deployment.certificates();
  CertificateRotation rotation(servers, first, first.ca_file);
  Config settings = settings_for(deployment.url(), rotation);
  settings.lease = 30s;
  settings.timing.patience = 120s;
  rotate_under_load(settings, {"a", "b"}, {"held"}, rotation, 6);
}

}  // namespace
}  // namespace holdfast::test::credential_rotation_test
