// Two addresses of one server among those of a RedLock, which would give it two votes.
#include <deque>

#include "faults.hpp"

namespace holdfast::test {
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

/// It can't be told then, and nothing else depends on it.
TEST_F(SameServer, IsNotNoticedWithoutThePermissionForInfo) {
  std::vector<Lock> locks;
  for (int i = 0; i < 3; ++i) locks.push_back(client(twice_.url("blind", "")).lock("orders"));
  EXPECT_TRUE(RedLock(locks).acquire().valid_for() > 0ms);
}

}  // namespace
}  // namespace holdfast::test
