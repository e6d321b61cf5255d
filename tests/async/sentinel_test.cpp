// SPDX-License-Identifier: Apache-2.0
// A client on the caller's io_context whose primary is named by Sentinels.
#include <boost/asio/detached.hpp>

#include "async.hpp"
#include "support/deployment.hpp"

namespace holdfast::test::sentinel_test {
namespace {

class GuestOfSentinels : public Async {
 protected:
  Config settings() {
    Config made = quick_config(deployment.url());
    made.lease = 30s;  // longer than a failover takes
    made.timing.command_timeout = 20s;
    made.timing.patience = 60s;
    made.observer = log;
    return made;
  }
  /// Until the first look at the Sentinels, so that there are links to several.
  bool connected_to_sentinels() {
    return turn_until([&] {
      std::size_t connected = 0;
      for (std::size_t i = 0; i < deployment.sentinels(); ++i) {
        const std::string clients = Raw(deployment.sentinel(i)).command("CLIENT", "LIST").text;
        if (clients.find(" name=holdfast") != clients.npos) ++connected;
      }
      return connected >= 2;
    });
  }

  Deployment deployment;
};

TEST_F(GuestOfSentinels, FollowsThemAndLeavesNothingBehind) {
  Client client = client_on(context, settings());
  Hold hold;
  run([&]() -> awaitable<void> { hold = co_await client.lock("orders").async_acquire({.acks = Acks::all()}); }());
  ASSERT_TRUE(connected_to_sentinels());
  // The context is not run meanwhile: what was announced waits.
  deployment.failover();
  deployment.wait_until_settled();
  ASSERT_TRUE(turn_until([&] { return hold.durable_for() > 0ms && log->count("up") >= 2; }));
  EXPECT_EQ(Raw(deployment.primary()).hgetall("orders").size(), 1U);
  run([&]() -> awaitable<void> { EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released); }());
  close(client);
}

TEST_F(GuestOfSentinels, MayLoseItsContextWithEverythingUnderWay) {
  auto own = std::make_unique<asio::io_context>(1);
  std::optional<Client> client(client_on(*own, settings()));
  std::optional<Hold> hold;
  asio::co_spawn(
      *own, [&]() -> awaitable<void> { hold = co_await client->lock("orders").async_acquire(); }, asio::detached);
  const auto end = steady_clock::now() + kPatience;
  while (!hold && steady_clock::now() < end) own->run_one_for(20ms);
  ASSERT_TRUE(hold);
  deployment.sentinel(0).freeze();  // asked, and silent
  Raw(deployment.primary()).command("CLIENT", "KILL", "TYPE", "normal");
  own->run_for(300ms);
  hold.reset();
  client.reset();
  own.reset();
}

}  // namespace
}  // namespace holdfast::test::sentinel_test
