// SPDX-License-Identifier: Apache-2.0
// Servers and proxies that do not speak RESP3: the same locks over RESP2, with a second connection for messages.
#include <atomic>
#include <deque>
#include <mutex>
#include <sstream>

#include "faults.hpp"
#include "support/counter.hpp"
#include "support/held_lock.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::resp2_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const ServerOptions kNoHello{.renamed_commands = {{"HELLO", ""}}};

class Resp2 : public Faults {
 protected:
  explicit Resp2(const ServerOptions& options = kNoHello) : Faults(options) {}

  /// The ids of the connections that are subscribed to something.
  std::vector<std::string> subscribed() {
    std::vector<std::string> ids;
    std::istringstream lines(raw.command("CLIENT", "LIST").text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" sub=0 ") == std::string::npos) ids.push_back(line.substr(3, line.find(' ') - 3));
    }
    return ids;
  }
};

TEST_F(Resp2, ALockIsTakenRenewedAndReleased) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = renewed(300ms)});
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 4; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(Resp2, ReportsNoLossByNoticeButAtTheNextRenewal) {
  Client client(config());
  const Hold hold = client.lock("orders").acquire({.lease = renewed(1200ms)});
  EXPECT_TRUE(eventually([&] { return client.counters().watch_refusals == 1; }));
  raw.command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_EQ(client.counters().notices, 0U);
}

TEST_F(Resp2, AWaiterIsWokenByTheRelease) {
  Client client(config());
  Client other(config());
  for (int i = 0; i < 20; ++i) {
    Hold hold = client.lock("orders").acquire();
    auto waiting = in_thread([&] { return other.lock("orders").acquire(); });
    ASSERT_TRUE(listeners(raw, "orders"));
    EXPECT_FALSE(ready(waiting, 5ms));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    ASSERT_TRUE(ready(waiting));
    EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(log->count("poll"), 0U);
  EXPECT_EQ(other.counters().connections, 1U);
  EXPECT_EQ(subscribed().size(), 1U);
}

/// The SUBSCRIBE does not arrive: until the next connection for messages, nobody listens.
TEST_F(Resp2, AReleaseBeforeItListensIsFoundWhenItDoes) {
  Proxy proxy(server);
  Config settings = config(proxy.url());
  settings.timing.reconnect_min = settings.timing.reconnect_max = 1s;
  Client client(settings);
  put_held_lock(raw, "orders");
  proxy.hold_next_request("SUBSCRIBE");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(eventually([&] { return proxy.fired() == 1; }));
  raw.command("DEL", "orders");
  EXPECT_EQ(raw.command("PUBLISH", channel_of("orders"), "0").integer, 0);
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(client.counters().safety_polls, 0U);
}

/// Locks of three servers, where what a server says on one connection may overtake what it has said on the other.
class Resp2Groups : public testing::Test {
 protected:
  Resp2Groups() {
    for (Proxy& proxy : proxies_) proxy.set_weather({.delay = 10ms});
  }

  /// One caller, with clients of its own. Counts the safety polls that found the lock free.
  template <class Group>
  std::uint64_t count(Counter& counter, int rounds) {
    std::deque<Client> clients;
    std::vector<Lock> members;
    for (Proxy& proxy : proxies_) {
      Config config = quick_config(proxy.url());
      config.lease = 60s;
      config.timing.command_timeout = config.timing.node_timeout.emplace(10s);
      config.timing.safety_poll = 20s;
      config.kinds.handoff = 0ms;
      members.push_back(clients.emplace_back(config).lock("orders"));
    }
    Group lock(members);
    for (int i = 0; i < rounds; ++i) {
      const std::scoped_lock guard(lock);
      counter.increment();
    }
    std::uint64_t missed = 0;
    for (Client& client : clients) missed += client.counters().safety_poll_wakes;
    return missed;
  }
  template <class Group>
  void expect_that_none_is_missed() {
    Counter counter;
    std::vector<std::future<std::uint64_t>> callers;
    for (int i = 0; i < 3; ++i) callers.push_back(in_thread([&] { return count<Group>(counter, 40); }));
    for (auto& caller : callers) EXPECT_EQ(caller.get(), 0U) << "releases that a waiter has not heard of";
    EXPECT_EQ(counter.calls(), 120);
    EXPECT_EQ(counter.lost(), 0);
  }

 private:
  std::deque<RedisServer> servers_ = [] {
    std::deque<RedisServer> started;
    for (int i = 0; i < 3; ++i) started.emplace_back(kNoHello);
    return started;
  }();
  std::deque<Proxy> proxies_ = [this] {
    std::deque<Proxy> made;
    for (RedisServer& server : servers_) made.emplace_back(server);
    return made;
  }();
};

TEST_F(Resp2Groups, AWaiterForAMajorityMissesNoRelease) { expect_that_none_is_missed<RedLock>(); }
TEST_F(Resp2Groups, AWaiterForAllMissesNoRelease) { expect_that_none_is_missed<MultiLock>(); }

TEST_F(Resp2, AWaiterListensAgainIfTheConnectionForMessagesIsLost) {
  Client client(config());
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(listeners(raw, "orders"));
    const std::vector<std::string> ids = subscribed();
    ASSERT_EQ(ids.size(), 1U);
    EXPECT_EQ(raw.command("CLIENT", "KILL", "ID", ids.front()).integer, 1);
    ASSERT_TRUE(eventually([&] { return subscribed().size() == 1 && subscribed() != ids; }));
  }
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  ASSERT_TRUE(ready(waiting));
  EXPECT_EQ(client.counters().connections, 1U);
}

TEST_F(Resp2, AWaiterListensAgainIfTheServerWasGone) {
  Client client(config());
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  server.restart(Data::lose);
  Raw again(server);
  ASSERT_TRUE(ready(waiting));
  Hold hold = waiting.get();
  auto next = in_thread([&] { return client.lock("orders").try_acquire({.wait = 1min}); });
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(ready(next));
}

TEST_F(Resp2, ChannelsThatNobodyWaitsForAreGivenBack) {
  Config settings = config();
  settings.timing.subscription_linger = 200ms;
  Client client(settings);
  for (int i = 0; i < 100; ++i) {
    const std::string name = "orders:" + std::to_string(i);
    put_held_lock(raw, name);
    EXPECT_EQ(client.lock(name).try_acquire({.wait = 5ms}), std::nullopt);
  }
  EXPECT_TRUE(eventually([&] { return raw.command("PUBSUB", "CHANNELS", "redisson*").elements.empty(); }));
  put_held_lock(raw, "orders:0");
  auto waiting = in_thread([&] { return client.lock("orders:0").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders:0"));
  raw.command("DEL", "orders:0");
  raw.command("PUBLISH", channel_of("orders:0"), "0");
  EXPECT_TRUE(ready(waiting));
}

TEST_F(Resp2, TheConnectionForMessagesIsCheckedLikeTheOther) {
  Proxy proxy(server);
  Client client(config(proxy.url()));
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  const std::size_t accepted = proxy.accepted();
  proxy.drop_replies(true);
  EXPECT_TRUE(eventually([&] { return proxy.accepted() > accepted; }));
  proxy.drop_replies(false);
  ASSERT_TRUE(listeners(raw, "orders"));
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  EXPECT_TRUE(ready(waiting));
}

TEST_F(Resp2, AClosedClientWakesItsWaitersAndIsGone) {
  std::optional<Client> client(config());
  put_held_lock(raw, "orders");
  for (int i = 0; i < 2; ++i) {
    Lock lock = client->lock("orders");
    auto waiting = in_thread([lock]() mutable { return error_of([&] { return lock.acquire(); }); });
    if (i == 0) {
      ASSERT_TRUE(listeners(raw, "orders"));
    }
    client->close();
    ASSERT_TRUE(ready(waiting));
    EXPECT_THAT(waiting.get(), testing::Optional(testing::Property(&Error::code, code(Errc::closed))));
    EXPECT_TRUE(listeners(raw, "orders", 0));
    client.emplace(config());
  }
}

class Resp2WithoutSubscribe : public Resp2 {
 protected:
  Resp2WithoutSubscribe() : Resp2({.renamed_commands = {{"HELLO", ""}, {"SUBSCRIBE", ""}}}) {}
};

TEST_F(Resp2WithoutSubscribe, AWaiterLooksByItself) {
  Config settings = config();
  settings.timing.safety_poll = 100ms;
  Client client(settings);
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  EXPECT_TRUE(eventually([&] { return client.counters().safety_polls >= 3; }));
  EXPECT_FALSE(ready(waiting, 0ms));
  raw.command("DEL", "orders");
  EXPECT_TRUE(ready(waiting));
}

class Resp2WithPassword : public Resp2 {
 protected:
  Resp2WithPassword()
      : Resp2({.listen = ServerOptions::Listen::tcp, .password = "secret", .renamed_commands = {{"HELLO", ""}}}) {}
};

TEST_F(Resp2WithPassword, LogsInAndSaysIfThatIsRefused) {
  EXPECT_TRUE(Client(config(server.url("", "secret"))).lock("orders").acquire());
  Client stranger(config(server.url("", "wrong")));
  EXPECT_THAT(error_of([&] { return stranger.lock("orders").acquire(); }),
              IsError(Errc::denied, "orders", stranger.node(), Not(HasSubstr("wrong"))));
  Client nobody(config(server.url()));
  EXPECT_THAT(error_of([&] { return nobody.lock("orders").acquire(); }),
              IsError(Errc::denied, "orders", nobody.node(), HasSubstr("NOAUTH")));
}

TEST_F(Resp2WithPassword, CredentialsThatChangeAreChangedOnBothConnections) {
  Config settings = config();
  std::atomic<int> asked = 0;
  settings.credentials = [&] {
    ++asked;
    return Credentials{.password = "secret", .valid_for = 400ms};
  };
  Client client(settings);
  put_held_lock(raw, "orders");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  const int before = asked;
  EXPECT_TRUE(eventually([&] { return asked >= before + 6; }));
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  EXPECT_TRUE(ready(waiting));
}

class SpeaksBoth : public Faults {};

TEST_F(SpeaksBoth, IsSpokenToAsTheUrlSays) {
  for (const int protocol : {2, 3}) {
    Client client(config(server.url() + "?protocol=" + std::to_string(protocol)));
    client.ping();
    if (!server_like_redis(7, 0)) continue;  // which does not show it
    EXPECT_THAT(raw.command("CLIENT", "LIST").text, HasSubstr("resp=" + std::to_string(protocol)));
  }
}

}  // namespace
}  // namespace holdfast::test::resp2_test
