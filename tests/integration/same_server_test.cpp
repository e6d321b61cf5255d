// SPDX-License-Identifier: Apache-2.0
// Two addresses of one server among those of a RedLock, which would give it two votes.
#include <deque>

#include "faults.hpp"

namespace holdfast::test::same_server_test {
namespace {

class SameServer : public testing::Test {
 protected:
  Client& client(const std::string& url) { return clients_.emplace_back(quick_config(url)); }
  std::string by_name() const { return "redis://localhost:" + std::to_string(twice_.port()); }

  RedisServer twice_{{.listen = ServerOptions::Listen::tcp, .users = {"blind on nopass ~* &* +@all -info"}}};
  RedisServer other_;
  std::deque<Client> clients_;
};

TEST_F(SameServer, IsRefusedAndBothAddressesAreNamed) {
  Client& first = client(twice_.url());
  Client& second = client(by_name());
  Client& third = client(other_.url());
  const std::vector<Lock> three{first.lock("orders"), second.lock("orders"), third.lock("orders")};
  const std::vector<Lock> two{first.lock("orders"), second.lock("orders")};
  const std::string said = first.node() + " and " + second.node() + " are the same server";
  // Of three, the third and one of the two are a majority of different servers as long as the other is not known.
  for (RedLock lock : {RedLock(two), RedLock(three)}) {
    std::optional<Error> error;
    EXPECT_TRUE(
        eventually([&] { return (error = error_of([&] { return lock.acquire({.wait = 20s}); })).has_value(); }));
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), code(Errc::invalid_argument)) << error->what();
    EXPECT_EQ(error->cause(), said);
  }
  EXPECT_TRUE(eventually([&] { return !Raw(twice_).exists("orders") && !Raw(other_).exists("orders"); }));
}

TEST_F(SameServer, IsNotSuspectedOfOneThatComesBack) {
  RedisServer own({.listen = ServerOptions::Listen::tcp});
  Proxy proxy(own);
  Client& first = client(twice_.url());
  Client& second = client(proxy.url());
  Client& third = client(other_.url());
  RedLock lock({first.lock("orders"), second.lock("orders"), third.lock("orders")});
  EXPECT_EQ(lock.acquire().release(), ReleaseOutcome::released);
  proxy.cut();
  EXPECT_EQ(lock.acquire({.wait = kPatience}).release(), ReleaseOutcome::released) << "it is still its own server";
}

TEST_F(SameServer, MayServeSeveralClientsOfAMultiLock) {
  Client& first = client(twice_.url());
  Client& second = client(by_name());
  MultiLock both({first.lock("orders"), second.lock("stock")});
  Hold hold = both.acquire();
  EXPECT_TRUE(Raw(twice_).exists("orders") && Raw(twice_).exists("stock"));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

/// However soon the others of a majority answer: the third address has to be looked up, and is connected last.
TEST_F(SameServer, IsNeverGrantedBeforeItIsKnown) {
  RedisServer more({.listen = ServerOptions::Listen::tcp});
  for (int round = 0; round < 60; ++round) {
    std::deque<Client> fresh;
    std::vector<Lock> locks;
    for (const std::string& url : {more.url(), twice_.url(), by_name()}) {
      Config settings = quick_config(url);
      settings.timing.node_timeout = 20s;
      settings.lease = 200s;
      locks.push_back(fresh.emplace_back(settings).lock("orders"));
    }
    const auto error = error_of([&] { return RedLock(locks).try_acquire(); });
    ASSERT_TRUE(error) << "granted in round " << round;
    EXPECT_EQ(error->code(), code(Errc::invalid_argument)) << error->what();
  }
}

/// It is waited for once, as long as for a vote, and not by every group anew.
TEST_F(SameServer, IsNotLookedForAtOneThatIsDown) {
  RedisServer own({.listen = ServerOptions::Listen::tcp}), down({.listen = ServerOptions::Listen::tcp});
  Client& first = client(twice_.url());
  Client& second = client(own.url());
  down.freeze();
  Client& third = client(down.url());
  const std::vector<Lock> locks{first.lock("orders"), second.lock("orders"), third.lock("orders")};
  EXPECT_EQ(RedLock(locks).acquire({.wait = kPatience}).release(), ReleaseOutcome::released);
  const std::uint64_t before = third.counters().commands;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(RedLock(locks).acquire({.wait = kPatience}).release(), ReleaseOutcome::released);
  }
  down.thaw();
  EXPECT_TRUE(eventually([&] { return third.counters().commands > before; }));
  EXPECT_EQ(RedLock(locks).acquire({.wait = kPatience}).release(), ReleaseOutcome::released);
}

TEST_F(SameServer, IsRefusedForOneLockTwiceInAMultiLock) {
  Client& first = client(twice_.url());
  Client& second = client(by_name());
  Client& third = client(other_.url());
  const auto error =
      error_of([&] { return MultiLock({first.lock("orders"), second.lock("orders")}).acquire({.wait = kPatience}); });
  ASSERT_TRUE(error) << "granted";
  EXPECT_EQ(error->code(), code(Errc::invalid_argument)) << error->what();
  EXPECT_THAT(error->cause(), testing::HasSubstr("are the same server, and a lock is named at both"));
  EXPECT_TRUE(eventually([&] { return !Raw(twice_).exists("orders"); }));
  MultiLock apart({first.lock("orders"), third.lock("orders")});
  EXPECT_EQ(apart.acquire().release(), ReleaseOutcome::released);
  MultiLock databases({first.lock("orders"), client(by_name() + "/1").lock("orders")});
  EXPECT_EQ(databases.acquire().release(), ReleaseOutcome::released) << "two locks";
}

/// It can't be told then, and nothing else depends on it.
TEST_F(SameServer, IsNotNoticedWithoutThePermissionForInfo) {
  std::vector<Lock> locks;
  for (int i = 0; i < 3; ++i) locks.push_back(client(twice_.url("blind", "")).lock("orders"));
  EXPECT_TRUE(RedLock(locks).acquire().valid_for() > 0ms);
}

}  // namespace
}  // namespace holdfast::test::same_server_test
