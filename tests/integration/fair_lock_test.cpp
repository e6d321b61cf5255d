// SPDX-License-Identifier: Apache-2.0
// FairLock: who is next, whatever becomes of those who wait.
#include <mutex>

#include "fair.hpp"
#include "support/held_lock.hpp"
#include "support/listen.hpp"

namespace holdfast::test::fair_lock_test {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;

static_assert(!std::is_constructible_v<MultiLock, std::vector<FairLock>>, "several have no queue in common");
static_assert(!std::is_constructible_v<RedLock, std::vector<FairLock>>);

// ---- the order ----

TEST_F(Fair, IsGrantedInTheOrderOfArrivalInsideAClientAndBetweenClients) {
  Client holder(patient()), one(patient()), other(patient());
  Hold first = holder.fair_lock("orders").acquire();
  std::mutex mutex;
  std::vector<std::string> granted;
  std::vector<std::future<void>> waiting;
  for (int i = 0; i < 4; ++i) {
    for (const Client* client : {&one, &holder, &other}) {  // the holder's own callers are queued as well
      waiting.push_back(in_thread([&, client] {
        const Hold hold = client->fair_lock("orders").acquire({.wait = 30s});
        const std::scoped_lock guard(mutex);
        granted.push_back(hold.owner());
      }));
    }
  }
  ASSERT_TRUE(waits(12));
  const std::vector<std::string> arrived = queue();
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  for (auto& each : waiting) each.get();
  EXPECT_THAT(granted, ElementsAreArray(arrived));
  EXPECT_EQ(raw.command("DBSIZE").integer, 0);
}

TEST_F(Fair, ThirtyProcessesOfThreeThreadsEnterInTheOrderOfTheirArrival) {
  constexpr int kProcesses = 30, kThreads = 3;
  Client client(patient());
  Hold first = client.fair_lock("orders").acquire();
  std::deque<Taker> takers;
  std::map<std::string, int> number_of;
  for (int i = 0; i < kProcesses; ++i) {
    takers.emplace_back(Taker::Place::own_process);
    number_of[takers.back().connect(server.url() + "?fair_turn=1m", {"kind=fair", "lease_ms=60000"})] = i;
  }
  std::vector<std::pair<int, Pending>> waiting;
  for (int thread = 1; thread <= kThreads; ++thread) {
    for (int i = 0; i < kProcesses; ++i) {
      Party party(takers[static_cast<std::size_t>(i)], thread);
      waiting.emplace_back(i, party.start_lock("orders"));
      party.start_unlock("orders");
    }
  }
  ASSERT_TRUE(waits(static_cast<std::size_t>(kProcesses * kThreads)));
  std::vector<int> arrived;
  for (const std::string& owner : queue()) arrived.push_back(number_of.at(owner.substr(0, owner.find(':'))));
  first.release();
  std::map<Answer::Time, int> entered;
  for (const auto& [process, pending] : waiting) entered[pending.get().ended] = process;
  std::vector<int> order;
  for (const auto& [at, process] : entered) order.push_back(process);
  EXPECT_THAT(order, ElementsAreArray(arrived));
}

TEST_F(Fair, AReleaseWakesTheNextOneAndNobodyElse) {
  Client client(patient());
  Hold first = client.fair_lock("orders").acquire();
  auto waiting = start_in_order({&client, &client, &client});
  ASSERT_TRUE(eventually([&] { return raw.command("PUBSUB", "CHANNELS").elements.size() == 3; }));
  const auto before = client.counters().commands;
  first.release();
  const Hold next = waiting.front().get();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(client.counters().commands - before, 2U) << "a release and an acquire";
  EXPECT_EQ(client.counters().waiting, 2U);
}

TEST_F(Fair, WhoDoesNotWaitIsNotQueuedAndPassesNobody) {
  Client client(patient()), other(patient());
  Hold first = client.fair_lock("orders").acquire();
  const auto before = other.counters().commands;
  EXPECT_FALSE(other.fair_lock("orders").try_lock());
  EXPECT_EQ(other.counters().commands - before, 1U) << "there is nothing to leave";
  EXPECT_FALSE(client.fair_lock("orders").try_lock());
  EXPECT_THAT(queue(), IsEmpty());
  queue_by_hand(kRedissons, 60s);
  first.release();
  EXPECT_FALSE(other.fair_lock("orders").try_lock()) << "it is free, and somebody is next";
  EXPECT_THAT(queue(), ElementsAre(kRedissons));
}

TEST_F(Fair, AForcedReleaseWakesTheNextOne) {
  Client client(patient()), other(patient());
  const Hold first = client.fair_lock("orders").acquire();
  auto waiting = start_in_order({&other});
  ASSERT_TRUE(eventually([&] { return raw.command("PUBSUB", "CHANNELS").elements.size() == 1; }));
  EXPECT_TRUE(client.fair_lock("orders").force_release());
  EXPECT_TRUE(ready(waiting.front(), 10s));
}

// ---- who stops waiting ----

TEST_F(Fair, EveryWayToStopWaitingLeavesTheQueue) {
  put_held_lock(raw, "orders");
  Client client(patient());
  EXPECT_EQ(error_of([&] { return client.fair_lock("orders").acquire({.wait = 300ms}); })->code(), Errc::timed_out);
  EXPECT_TRUE(waits(0)) << "a limit";
  EXPECT_FALSE(client.fair_lock("orders").try_lock_for(100ms));
  EXPECT_TRUE(waits(0)) << "another";
  std::stop_source stop;
  auto cancelled = start(client, {.stop = stop.get_token()});
  ASSERT_TRUE(waits(1));
  stop.request_stop();
  EXPECT_EQ(error_of([&] { return cancelled.get(); })->code(), Errc::cancelled);
  EXPECT_TRUE(waits(0)) << "a cancel";
  auto closed = start(client);
  ASSERT_TRUE(waits(1));
  client.close();
  EXPECT_EQ(error_of([&] { return closed.get(); })->code(), Errc::closed);
  EXPECT_THAT(queue(), IsEmpty()) << "a close";
  EXPECT_FALSE(raw.exists(kDeadlines));
}

TEST_F(Fair, WhoLeavesIsNotWaitedFor) {
  Client holder(patient()), client(patient());
  Hold first = holder.fair_lock("orders").acquire();
  std::stop_source stop;
  auto leaves = start(client, {.stop = stop.get_token()});
  ASSERT_TRUE(waits(1));
  auto behind = start_in_order({&client});
  stop.request_stop();
  EXPECT_TRUE(error_of([&] { return leaves.get(); }));
  ASSERT_TRUE(waits(1));
  first.release();
  EXPECT_TRUE(ready(behind.front(), 10s)) << "or it waits for a turn of a minute";
}

// ---- how a place is kept ----

TEST_F(Fair, AWaiterKeepsItsPlaceHoweverLongTheLockIsHeld) {
  Config settings = config();
  settings.kinds.fair_turn = 1s;
  settings.lease = 1s;
  Client holder(settings), one(settings), other(settings);
  Hold first = holder.fair_lock("orders").acquire();
  auto waiting = start_in_order({&one, &other});
  const std::vector<std::string> arrived = queue();
  const long long over = deadline(arrived.back());
  ASSERT_TRUE(eventually([&] { return server_time() > over + 300; }));
  EXPECT_THAT(queue(), ElementsAreArray(arrived));
  EXPECT_GT(deadline(arrived.front()), server_time()) << "put off";
  first.release();
  EXPECT_EQ(waiting.front().get().owner(), arrived.front());
  EXPECT_EQ(waiting.back().get().owner(), arrived.back());
}

TEST_F(Fair, AWaiterKeepsItsPlaceThroughALostConnection) {
  Proxy proxy(server);
  Config settings = patient();
  std::get<NodeAddress>(settings.server).port = proxy.port();
  Client holder(patient()), one(settings), other(patient());
  Hold first = holder.fair_lock("orders").acquire();
  auto waiting = start_in_order({&one, &other});
  const std::vector<std::string> arrived = queue();
  proxy.cut();
  first.release();
  EXPECT_EQ(waiting.front().get().owner(), arrived.front());
  EXPECT_EQ(waiting.back().get().owner(), arrived.back());
}

// ---- among waiters of Redisson's ----

TEST_F(Fair, WaitsItsTurnBehindAWaiterOfRedissons) {
  Client holder(patient()), client(patient());
  const std::string channel = channel_of("orders") + ":" + kRedissons;
  Subscriber redisson(server, {channel});
  Hold first = holder.fair_lock("orders").acquire();
  queue_by_hand(kRedissons, 300s);
  auto waiting = start_in_order({&client});
  EXPECT_THAT(queue(), ElementsAre(kRedissons, testing::StartsWith(client.id())));
  first.release();
  ASSERT_TRUE(redisson.wait_for(1));
  EXPECT_THAT(redisson.messages(), ElementsAre(Message{channel, "0"}));
  // It takes it, and gives it back.
  raw.command("LPOP", kQueue);
  raw.command("ZREM", kDeadlines, kRedissons);
  put_held_lock(raw, "orders", kRedissons);
  EXPECT_FALSE(ready(waiting.front(), 50ms));
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders") + ":" + queue().front(), "0");
  EXPECT_TRUE(ready(waiting.front(), 10s));
}

TEST_F(Fair, GoesByTheDeadlineOfADeadWaiterOfRedissons) {
  Client client(patient());
  queue_by_hand(kRedissons, 800ms);
  const auto began = steady_clock::now();
  auto waiting = start(client);
  const Hold hold = waiting.get();
  EXPECT_THAT(since(began), testing::AllOf(testing::Ge(700ms), testing::Le(5s)));
  EXPECT_EQ(holder(), hold.owner());
  EXPECT_THAT(queue(), IsEmpty());
}

// ---- as Lock ----

TEST_F(Fair, AThreadEntersAgainWithoutACommand) {
  Client client(patient()), other(patient());
  const FairLock lock = client.fair_lock("orders");
  lock.lock();
  auto waiting = start_in_order({&other});
  const auto before = client.counters().commands;
  lock.lock();
  EXPECT_TRUE(lock.try_lock());
  EXPECT_EQ(lock.this_thread().hold_count(), 3);
  lock.unlock();
  lock.unlock();
  EXPECT_EQ(client.counters().commands, before);
  EXPECT_FALSE(ready(waiting.front(), 20ms));
  lock.unlock();
  EXPECT_TRUE(ready(waiting.front(), 10s));
}

TEST_F(Fair, SaysWhatItIs) {
  Client client(patient());
  const FairLock lock = client.fair_lock("orders");
  EXPECT_FALSE(lock.is_locked());
  Hold hold = lock.acquire();
  EXPECT_TRUE(lock.is_held_by(hold.owner()));
  EXPECT_EQ(lock.info(InfoDetail::owner).owner, hold.owner());
  EXPECT_FALSE(lock.force_release("99999999-2222-4333-8444-555555555555:1"));
  EXPECT_TRUE(lock.force_release(hold.owner()));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
}

TEST_F(Fair, WhatIsNoFairLockIsAnErrorAndIsLeftAlone) {
  Client client(patient());
  const FairLock lock = client.fair_lock("orders");
  raw.command("SET", "orders", "x");
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 10s}); }),
              IsError(Errc::wrong_type, "orders", client.node(), testing::HasSubstr("a string")));
  raw.flushall();
  Client readers(patient());
  Hold reads = readers.read_write_lock("orders").reader().acquire();
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 10s}); }),
              IsError(Errc::wrong_type, "orders", client.node(), testing::HasSubstr("a read-write lock")));
  EXPECT_EQ(reads.release(), ReleaseOutcome::released);
  for (const std::string& key : {kQueue, kDeadlines}) {
    raw.flushall();
    put_held_lock(raw, "orders");
    queue_by_hand(kRedissons, 60s);
    raw.command("SET", key, "x");
    EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 10s}); }),
                IsError(Errc::wrong_type, "orders", client.node(), testing::HasSubstr("whose queue is none")))
        << key;
    EXPECT_EQ(raw.command("GET", key).text, "x");
  }
}

}  // namespace
}  // namespace holdfast::test::fair_lock_test
