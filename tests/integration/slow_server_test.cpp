// SPDX-License-Identifier: Apache-2.0
// A server, or the way to it, that is slow: leases count from before the send, nothing that comes too late counts, and
// what is repeated late hits nobody else.
#include <deque>
#include <numeric>

#include "faults.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::slow_server_test {
namespace {

using testing::IsEmpty;
using testing::Not;

constexpr milliseconds kDelay = 300ms;

class SlowServer : public Faults {
 protected:
  SlowServer() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  Proxy proxy{server};
};

TEST_F(SlowServer, ALeaseCountsFromBeforeTheSend) {
  Client client(config(proxy.url()));
  client.ping();
  proxy.delay(Proxy::Direction::to_client, kDelay);
  Hold hold = client.lock("orders").acquire({.lease = fixed(3000ms)});
  EXPECT_LE(hold.valid_for(), 3000ms - 32ms - kDelay);
}

TEST_F(SlowServer, AGrantThatComesAfterItsLeaseIsNone) {
  Config settings = config(proxy.url());
  settings.timing.command_timeout = 1000ms;
  Client client(settings);
  client.ping();
  proxy.delay(Proxy::Direction::to_client, kDelay);
  const auto error = error_of([&] { return client.lock("orders").try_acquire({.lease = fixed(100ms)}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::unknown_outcome)) << error->what();
  EXPECT_EQ(log->count("granted"), 0U);
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
}

TEST_F(SlowServer, ARenewalHasLessTimeThanOtherCommands) {
  Config settings = config(proxy.url());
  settings.lease = 1500ms;  // over before an idle connection is found dead
  settings.timing.command_timeout = 20s;
  Client client(settings);
  Hold hold = client.lock("orders").acquire();
  proxy.drop_replies(true);
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("suspect", "orders"), Not(IsEmpty())) << "the first renewal was given up before the end";
}

TEST_F(SlowServer, AReplyThatComesTooLateIsNotTheNextCommands) {
  Config settings = config();
  settings.timing.command_timeout = 20s;
  Client client(settings);
  Hold held = client.lock("held").acquire();
  server.freeze();
  EXPECT_TRUE(error_of([&] { return client.lock("orders").try_acquire({.wait = 100ms}); }));
  auto asked = in_thread([&] { return client.lock("held").is_locked(); });
  server.thaw();
  EXPECT_TRUE(asked.get());
}

// ---- groups ----

class SlowMembers : public testing::Test {
 protected:
  SlowMembers() {
    for (std::size_t i = 0; i < std::size(servers_); ++i) {
      proxies_.push_back(std::make_unique<Proxy>(servers_[i], Proxy::Listen::unix_socket));
      Config config = quick_config(proxies_[i]->url());
      config.timing.node_timeout = 500ms;
      config.timing.command_timeout = 500ms;
      clients_.emplace_back(config);
      clients_.back().ping();
    }
  }

  RedLock red_lock() {
    std::vector<Lock> members;
    for (Client& client : clients_) members.push_back(client.lock("orders"));
    return RedLock(members);
  }
  bool has(std::size_t i, const std::string& owner) { return Raw(servers_[i]).hgetall("orders").contains(owner); }

  RedisServer servers_[3];
  std::vector<std::unique_ptr<Proxy>> proxies_;
  std::vector<Client> clients_;
};

TEST_F(SlowMembers, ALeaseCountsFromBeforeTheFirstSend) {
  RedLock lock = red_lock();
  for (const std::size_t i : {1U, 2U}) proxies_[i]->delay(Proxy::Direction::to_client, kDelay);
  Hold hold = lock.acquire({.lease = fixed(3000ms)});
  EXPECT_LE(hold.valid_for(), 3000ms - 32ms - kDelay);
}

/// The first round fails, and what it may have got of the first server is given back, again and again, since no word of
/// it arrives. The next round is granted meanwhile, by that server too.
TEST_F(SlowMembers, WhatIsGivenBackOfOneRoundIsNotTheNextOnes) {
  for (const std::size_t i : {1U, 2U}) put_held_lock(Raw(servers_[i]), "orders");
  RedLock lock = red_lock();
  proxies_[0]->drop_replies(true);
  auto waiting = in_thread([&] { return lock.acquire({.wait = 30s}); });
  for (const std::size_t i : {1U, 2U}) {
    Raw raw(servers_[i]);
    ASSERT_TRUE(listeners(raw, "orders"));
  }
  for (const std::size_t i : {1U, 2U}) {
    Raw(servers_[i]).command("DEL", "orders");
    Raw(servers_[i]).command("PUBLISH", channel_of("orders"), "0");
  }
  Hold hold = waiting.get();
  ASSERT_TRUE(eventually([&] { return has(0, hold.owner()); }));
  EXPECT_FALSE(eventually([&] { return !has(0, hold.owner()); }, 2s)) << "a vote was given back";
}

TEST_F(SlowMembers, GiveBackWhatTheyMayHaveGranted) {
  for (const std::size_t i : {1U, 2U}) put_held_lock(Raw(servers_[i]), "orders");
  RedLock lock = red_lock();
  proxies_[0]->drop_replies(true);
  EXPECT_EQ(lock.try_acquire({.lease = fixed(10min)}), std::nullopt);
  EXPECT_TRUE(eventually([&] { return Raw(servers_[0]).calls("hset") == 1; })) << "it was granted there";
  EXPECT_TRUE(eventually([&] { return !Raw(servers_[0]).exists("orders"); }));
}

/// They are asked one after another: each is quick enough for a vote, all together are not.
TEST_F(SlowServer, VotesThatTakeLongerThanTheLeaseAreNoGrant) {
  Config settings = config(proxy.url());
  settings.timing.node_timeout = 10s;    // so that a fifth of the lease limits a vote,
  settings.timing.command_timeout = 6s;  // and nothing else the round
  std::vector<Client> clients;
  std::vector<Lock> members;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(settings);
    clients.back().ping();
    members.push_back(clients.back().lock("orders " + std::to_string(i)));
  }
  proxy.delay(Proxy::Direction::to_client, 160ms);
  MultiLock lock(members);
  const auto error = error_of([&] { return lock.try_acquire({.lease = fixed(3s)}); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::no_quorum)) << error->what();
  EXPECT_EQ(log->count("granted"), 0U);
}

/// Two of them are taken. The second is given back while the first, which stays taken, has still to answer.
TEST_F(SlowMembers, AMessageThatComesBeforeTheLastVoteIsNotForgotten) {
  for (const std::size_t i : {0U, 1U}) put_held_lock(Raw(servers_[i]), "orders");
  RedLock lock = red_lock();
  proxies_[0]->delay(Proxy::Direction::to_client, 400ms);
  auto waiting = in_thread([&] { return lock.try_acquire({.wait = 20s, .lease = fixed(60s)}); });
  Raw second(servers_[1]);
  ASSERT_TRUE(listeners(second, "orders"));
  second.command("DEL", "orders");
  second.command("PUBLISH", channel_of("orders"), "0");
  EXPECT_TRUE(waiting.get());
}

/// So that of two who want the same, one gets all. Where one is taken, those ahead of it are asked, and nobody behind.
TEST_F(SlowServer, AllMembersAreAskedInOneOrder) {
  constexpr std::size_t kMembers = 6;
  std::deque<Proxy> proxies;
  std::vector<Client> clients;
  for (std::size_t i = 0; i < kMembers; ++i) {
    clients.emplace_back(config(proxies.emplace_back(server, Proxy::Listen::unix_socket).url()));
  }
  const auto name = [](std::size_t i) { return "orders " + std::to_string(i); };
  std::vector<std::size_t> order(kMembers);
  std::iota(order.begin(), order.end(), 0U);
  std::vector<std::size_t> callers = order;
  std::ranges::sort(order, {}, [&](std::size_t i) { return clients[i].node(); });
  for (std::size_t taken = 0; taken < kMembers; ++taken) {
    put_held_lock(raw, name(order[taken]));
    const long long before = raw.calls("hset");
    std::vector<Lock> members;
    for (const std::size_t i : callers) members.push_back(clients[i].lock(name(i)));
    EXPECT_EQ(MultiLock(members).try_acquire(), std::nullopt);
    EXPECT_EQ(raw.calls("hset") - before, static_cast<long long>(taken));
    raw.command("DEL", name(order[taken]));
    ASSERT_TRUE(eventually([&] { return raw.command("DBSIZE").integer == 0; }));
    std::ranges::rotate(callers, callers.begin() + 1);
  }
}

}  // namespace
}  // namespace holdfast::test::slow_server_test
