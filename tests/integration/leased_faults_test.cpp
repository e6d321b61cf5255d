// SPDX-License-Identifier: Apache-2.0
// LeasedSemaphore: what is sent twice, since a reply was lost, counts once.
#include "leased.hpp"

namespace holdfast::test::leased_faults_test {
namespace {

class LeasedFaults : public Leased {
 protected:
  LeasedFaults() { raw.command("SET", name, 3); }

  Proxy proxy{server};
};

TEST_F(LeasedFaults, AnAcquireWhoseReplyIsLostCountsOnce) {
  const Client client(config(proxy.url()));
  client.ping();
  proxy.cut_after_next_request(name);
  Hold hold = semaphore(client).acquire({.wait = 20s});
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_EQ(free(), "2");
  EXPECT_EQ(held(), 1);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("3"));
}

TEST_F(LeasedFaults, AnAcquireThatNobodyWaitsForIsUndone) {
  const Client client(config(proxy.url()));
  client.ping();
  proxy.cut_after_next_request(name);
  proxy.refuse(true);
  EXPECT_TRUE(error_of([&] { return semaphore(client).acquire({.wait = 300ms}); }));
  EXPECT_EQ(free(), "2");
  proxy.refuse(false);
  EXPECT_TRUE(all_back("3"));
}

TEST_F(LeasedFaults, AReleaseWhoseReplyIsLostCountsOnce) {
  const Client client(config(proxy.url()));
  Hold hold = semaphore(client).acquire();
  proxy.cut_after_next_request(name);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_TRUE(all_back("3"));
}

TEST_F(LeasedFaults, AChangeWhoseReplyIsLostCountsOnce) {
  const Client client(config(proxy.url()));
  client.ping();
  proxy.cut_after_next_request(name);
  EXPECT_EQ(semaphore(client).add(4), 7);
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_EQ(free(), "7");
  raw.command("DEL", name);
  proxy.cut_after_next_request(name);
  EXPECT_TRUE(semaphore(client).init(5)) << "that there is one by now is its own doing";
  EXPECT_EQ(proxy.fired(), 2U);
  EXPECT_EQ(free(), "5");
}

TEST_F(LeasedFaults, AChangeOfWhichNobodyKnowsWhetherItWasMadeSaysSo) {
  Config settings = config(proxy.url());
  settings.timing.patience = 500ms;
  const Client client(settings);
  client.ping();
  proxy.cut_after_next_request(name);
  proxy.refuse(true);
  EXPECT_EQ(error_of([&] { return semaphore(client).add(4); })->code(), Errc::unknown_outcome);
  EXPECT_EQ(free(), "7");
  EXPECT_NE(error_of([&] { return semaphore(client).add(4); })->code(), Errc::unknown_outcome) << "nothing was sent";
  EXPECT_EQ(free(), "7");
}

TEST_F(LeasedFaults, ReleasesWhileTheirConnectionIsKilledGiveBackEachPermitOnce) {
  const Client client(config());
  client.ping();
  std::atomic<bool> over{false};
  auto killing = in_thread([&] {
    Raw killer(server);
    while (!over) {
      killer.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      std::this_thread::sleep_for(20ms);
    }
  });
  std::atomic<int> having{0}, most{0}, lost{0};
  std::vector<std::future<void>> callers;
  for (int i = 0; i < 6; ++i) {
    callers.push_back(in_thread([&, i] {
      const LeasedSemaphore some = semaphore(client).with_permits(i % 2 == 0 ? 1 : 2);
      const int permits = i % 2 == 0 ? 1 : 2;
      for (int round = 0; round < 15; ++round) {
        Hold hold = some.acquire({.wait = 60s});
        const int now = having += permits;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
        std::this_thread::sleep_for(milliseconds(round % 4));
        having -= permits;
        if (hold.release() == ReleaseOutcome::was_lost) ++lost;
      }
    }));
  }
  for (auto& caller : callers) caller.wait();
  over = true;
  killing.get();
  for (auto& caller : callers) caller.get();
  Raw look(server);
  EXPECT_LE(most, 3);
  EXPECT_EQ(lost, 0);
  EXPECT_TRUE(
      eventually([&] { return look.command("GET", name).text == "3" && look.command("ZCARD", leases).integer == 0; }));
}

}  // namespace
}  // namespace holdfast::test::leased_faults_test
