// SPDX-License-Identifier: Apache-2.0
// Latch: whoever waits goes on when it opens, and not before, whatever is lost on the way.
#include "cluster.hpp"
#include "faults.hpp"

namespace holdfast::test::latch_test {
namespace {

using testing::HasSubstr;

const std::string kName = "ready", kChannel = "redisson_countdownlatch__channel__{ready}";

class Latches : public Faults {
 protected:
  Latches() : Faults({.listen = ServerOptions::Listen::tcp}) {}

  static Latch latch(const Client& client) { return client.latch(kName); }
  static std::future<void> start(const Latch& latch, std::stop_token stop = {}) {
    return in_thread([latch, stop] { latch.wait(stop); });
  }
  bool listened(long long connections = 1) {
    return eventually([&] { return raw.command("PUBSUB", "NUMSUB", kChannel).elements[1].integer == connections; });
  }
  static std::error_code code_of(const std::function<void()>& call) {
    const std::optional<Error> error = error_of([&] { return call(), 0; });
    return error ? error->code() : std::error_code();
  }

  Proxy proxy{server};
};

TEST_F(Latches, OpensAfterAsManyStepsAsItWasSetForAndCanBeSetAgain) {
  const Client client(config()), other(config());
  EXPECT_TRUE(latch(client).try_wait()) << "nobody has closed it";
  latch(client).wait();
  EXPECT_TRUE(latch(client).init(3));
  EXPECT_FALSE(latch(other).init(5));
  EXPECT_EQ(latch(other).count(), 3);
  EXPECT_FALSE(latch(client).try_wait());
  EXPECT_FALSE(latch(client).wait_for(50ms));
  EXPECT_FALSE(latch(client).wait_until(steady_clock::now() + 50ms));
  EXPECT_EQ(latch(other).count_down(), 2);
  EXPECT_EQ(latch(client).count_down(2), 0);
  EXPECT_TRUE(latch(client).wait_for(0s));
  EXPECT_FALSE(raw.exists(kName));
  EXPECT_EQ(latch(client).count_down(), 0) << "there is none below that";
  EXPECT_TRUE(latch(other).init(1));
  EXPECT_TRUE(latch(other).remove());
  EXPECT_FALSE(latch(other).remove());
}

TEST_F(Latches, AllWhoWaitGoOnWithOneMessage) {
  const Client client(config()), other(config());
  EXPECT_TRUE(latch(client).init(2));
  std::vector<std::future<void>> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(start(latch(i % 2 == 0 ? client : other)));
  ASSERT_TRUE(listened(2));
  latch(other).count_down();
  EXPECT_FALSE(ready(waiting.front(), 200ms));
  EXPECT_FALSE(latch(client).wait_for(50ms)) << "one step is left";
  latch(other).count_down();
  for (auto& each : waiting) ASSERT_TRUE(ready(each, 5000ms)) << "a safety poll comes after a minute only";
  EXPECT_EQ(client.counters().holding, 0U);
}

TEST_F(Latches, ThreadsThatArriveGoOnTogether) {
  constexpr int kThreads = 8;
  const Client client(config()), other(config());
  EXPECT_TRUE(latch(client).init(kThreads));
  std::atomic<int> arrived{0};
  std::vector<std::future<int>> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.push_back(in_thread([&, i] {
      ++arrived;
      latch(i % 2 == 0 ? client : other).arrive_and_wait();
      return arrived.load();
    }));
  }
  for (auto& thread : threads) EXPECT_EQ(thread.get(), kThreads);
}

TEST_F(Latches, NumbersThatMakeNoSenseAreRefusedBeforeAnythingIsSent) {
  const Client client(config());
  const auto refused = [&](const auto& call, const std::string& why) {
    EXPECT_THAT(error_of([&] { return call(), 0; }),
                IsError(Errc::invalid_argument, kName, client.node(), HasSubstr(why)));
  };
  refused([&] { std::ignore = latch(client).init(0); }, "0 steps; it must be from 1 to 2147483647");
  refused([&] { std::ignore = latch(client).init(1LL << 31); }, "2147483648 steps");
  refused([&] { latch(client).count_down(0); }, "0 steps");
  EXPECT_FALSE(raw.exists(kName));
}

TEST_F(Latches, WhatIsNoNumberIsLeftAlone) {
  const Client client(config());
  raw.command("HSET", kName, "field", "1");
  EXPECT_EQ(code_of([&] { latch(client).wait(); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { static_cast<void>(latch(client).wait_for(1s)); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { latch(client).count_down(); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { std::ignore = latch(client).init(1); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { static_cast<void>(latch(client).try_wait()); }), Errc::wrong_type);
  raw.command("DEL", kName);
  raw.command("SET", kName, "a token");
  EXPECT_TRUE(code_of([&] { latch(client).wait(); })) << "it is no number, so it is not open";
  EXPECT_EQ(raw.command("GET", kName).text, "a token");
}

TEST_F(Latches, WhoIsStoppedDoesNotGoOn) {
  const Client client(config());
  EXPECT_TRUE(latch(client).init(1));
  std::stop_source stop;
  auto waiting = start(latch(client), stop.get_token());
  ASSERT_TRUE(listened());
  stop.request_stop();
  EXPECT_EQ(code_of([&] { waiting.get(); }), Errc::cancelled);
  EXPECT_FALSE(latch(client).wait_for(10s, stop.get_token()));
}

TEST_F(Latches, AnOpeningOfWhichNobodyTellsIsFoundByAPoll) {
  Config settings = config();
  settings.timing.safety_poll = 400ms;
  const Client client(settings);
  EXPECT_TRUE(latch(client).init(1));
  auto waiting = start(latch(client));
  ASSERT_TRUE(listened());
  raw.command("DEL", kName);  // without a message
  ASSERT_TRUE(ready(waiting, 10'000ms));
  EXPECT_GE(client.counters().safety_poll_wakes, 1U);
}

TEST_F(Latches, AnOpeningOfWhichItWasToldWhileCutOffIsFoundWhenItIsBack) {
  const Client client(config(proxy.url())), other(config());
  EXPECT_TRUE(latch(other).init(1));
  auto waiting = start(latch(client));
  ASSERT_TRUE(listened());
  proxy.refuse(true);
  proxy.cut();
  latch(other).count_down();
  proxy.refuse(false);
  ASSERT_TRUE(ready(waiting, 10'000ms));
}

TEST_F(Latches, AChangeWhoseReplyIsLostCountsOnce) {
  const Client client(config(proxy.url()));
  client.ping();
  proxy.cut_after_next_request(kName);
  EXPECT_TRUE(latch(client).init(5)) << "that there is one by now is its own doing";
  proxy.cut_after_next_request(kName);
  EXPECT_EQ(latch(client).count_down(2), 3);
  EXPECT_EQ(proxy.fired(), 2U);
  EXPECT_EQ(raw.command("GET", kName).text, "3");
  proxy.cut_after_next_request(kName);
  EXPECT_FALSE(latch(client).wait_for(300ms)) << "a look that is lost changes nothing, and is repeated";
  EXPECT_EQ(raw.command("GET", kName).text, "3");
}

class LatchesInACluster : public ClusterTest {};

TEST_F(LatchesInACluster, NamesWhoseChannelLiesElsewhereAreRefusedEarly) {
  const Client client(config());
  const auto refused = [&](const std::string& name) {
    return error_of([&] { return client.latch(name); })->code() == Errc::invalid_argument;
  };
  EXPECT_TRUE(refused("{t}ready"));
  EXPECT_TRUE(refused("a}b"));
  const Latch latch = client.latch("ready");
  EXPECT_TRUE(latch.init(2));
  auto waiting = in_thread([&] { latch.wait(); });
  EXPECT_EQ(latch.count_down(), 1);
  EXPECT_FALSE(ready(waiting, 300ms));
  EXPECT_EQ(latch.count_down(), 0);
  EXPECT_TRUE(ready(waiting, 10'000ms));
}

}  // namespace
}  // namespace holdfast::test::latch_test
