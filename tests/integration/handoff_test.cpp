// SPDX-License-Identifier: Apache-2.0
// The local hand-off: what is passed on inside a client, what is not, and what others get.
#include <latch>
#include <random>

#include "faults.hpp"
#include "support/standstill.hpp"
#include "support/tried.hpp"

namespace holdfast::test::handoff_test {
namespace {

using testing::Each;
using testing::Ge;
using testing::IsEmpty;
using testing::Lt;

class Handoff : public Faults {
 protected:
  /// A tenure that no test outlives.
  Config settings(milliseconds handoff = 1min) {
    Config settings = config();
    settings.kinds.handoff = handoff;
    return settings;
  }
  /// A caller of this client who waits for the lock, and is in the queue.
  std::future<Hold> wait(Client& client, AcquireOptions options = {}) {
    std::latch begun(1);
    auto waiting = in_thread([&client, &begun, options] {
      begun.count_down();
      return client.lock("orders").acquire(options);
    });
    begun.wait();
    std::this_thread::sleep_for(50ms);  // there is nothing to be seen of a local queue
    return waiting;
  }
  std::map<std::string, std::string> stored() { return raw.hgetall("orders"); }
};

TEST_F(Handoff, TakesNoRoundTrip) {
  Client client(settings());
  Hold first = client.lock("orders").acquire();
  const std::string owner = first.owner();
  std::future<Hold> waiting = wait(client);
  const auto commands = client.counters().commands;
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  const Hold second = waiting.get();
  EXPECT_EQ(client.counters().commands, commands);
  EXPECT_EQ(second.owner(), owner);
  EXPECT_THAT(stored(), HeldBy(owner));
  EXPECT_GT(second.valid_for(), 0ms);
  EXPECT_EQ(client.counters().granted, 2U);
  EXPECT_EQ(client.counters().released, 1U);
}

TEST_F(Handoff, EndsAtTheServerWhenNobodyWaitsAnyMore) {
  Client client(settings());
  Hold first = client.lock("orders").acquire();
  std::future<Hold> waiting = wait(client);
  first.release();
  EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(Handoff, GivesEachHoldALossSignalOfItsOwn) {
  Client client(settings());
  Hold first = client.lock("orders").acquire();
  const std::stop_token first_lost = first.lost_token();
  std::future<Hold> waiting = wait(client);
  first.release();
  Hold second = waiting.get();
  raw.command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return second.lost_token().stop_requested(); }));
  EXPECT_FALSE(first_lost.stop_requested());
  EXPECT_EQ(first.state(), HoldState::released);
  EXPECT_EQ(second.release(), ReleaseOutcome::was_lost);
}

TEST_F(Handoff, KeepsTheLeaseAlive) {
  Config quick = settings();
  quick.lease = 300ms;
  Client client(quick);
  Hold first = client.lock("orders").acquire();
  std::future<Hold> waiting = wait(client);
  first.release();
  const Hold second = waiting.get();
  EXPECT_FALSE(eventually([&] { return second.state() == HoldState::lost || stored().empty(); }, 1500ms));
  EXPECT_GE(client.counters().renewals, 5U);
}

TEST_F(Handoff, IsNotForAnotherLease) {
  Client client(settings());
  Hold first = client.lock("orders").acquire();
  const std::string owner = first.owner();
  std::future<Hold> waiting = wait(client, {.lease = fixed(1min)});
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  const Hold second = waiting.get();
  EXPECT_NE(second.owner(), owner);
  EXPECT_GT(raw.command("PTTL", "orders").integer, 30'000);
}

TEST_F(Handoff, CountsACapFromTheNewHold) {
  Client client(settings());
  Hold first = client.lock("orders").acquire();
  const std::string owner = first.owner();
  std::this_thread::sleep_for(1s);  // the first hold's age, which is not to count
  std::future<Hold> waiting = wait(client, {.max_hold = 1500ms});
  first.release();
  const Hold second = waiting.get();
  EXPECT_EQ(second.owner(), owner);
  EXPECT_LE(second.valid_for(), 1500ms);
  EXPECT_GT(second.valid_for(), 600ms);
}

TEST_F(Handoff, IsNotForALockThatIsLost) {
  Config quick = settings();
  quick.lease = 400ms;
  Client client(quick);
  Hold first = client.lock("orders").acquire();
  std::future<Hold> waiting = wait(client);
  raw.command("DEL", "orders");
  ASSERT_TRUE(eventually([&] { return first.state() == HoldState::lost; }));
  EXPECT_EQ(first.release(), ReleaseOutcome::was_lost);
  const Hold second = waiting.get();
  EXPECT_THAT(stored(), HeldBy(second.owner()));
}

TEST_F(Handoff, OfNoLengthAsksTheServerEveryTime) {
  Client client(settings(0ms));
  Hold first = client.lock("orders").acquire();
  const std::string owner = first.owner();
  std::future<Hold> waiting = wait(client);
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  const Hold second = waiting.get();
  EXPECT_NE(second.owner(), owner);
  EXPECT_THAT(stored(), HeldBy(second.owner()));
}

/// Waiters that come, give up, are cancelled and try only once, beside others that stay.
void come_and_go(Client& client, std::atomic<int>& inside, std::atomic<bool>& broken, unsigned seed,
                 steady_clock::time_point end) {
  std::minstd_rand random(seed);
  Lock lock = client.lock("orders");
  while (steady_clock::now() < end) {
    std::stop_source stop;
    AcquireOptions options{.wait = milliseconds(random() % 4), .stop = stop.get_token()};
    if (random() % 5 == 0) options.lease = fixed(20s);
    if (random() % 7 == 0) stop.request_stop();
    if (random() % 3 == 0) options.wait.reset();
    std::error_code unknown_outcome;  // of a server that is slower than the wait is long
    std::optional<Hold> hold = tried(lock, options, unknown_outcome);
    if (!hold) continue;
    if (inside.fetch_add(1) != 0) broken = true;
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    inside.fetch_sub(1);
  }
}

TEST_F(Handoff, ExcludesAndLeavesNothingHoweverWaitersComeAndGo) {
  for (const milliseconds handoff : {2ms, 60'000ms}) {
    std::atomic<int> inside{0};
    std::atomic<bool> broken{false};
    {
      Client one(settings(handoff));
      Client two(settings(2ms));
      const auto end = steady_clock::now() + 1500ms;
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < 5; ++i) threads.emplace_back([&, i] { come_and_go(one, inside, broken, i + 1, end); });
      for (unsigned i = 0; i < 3; ++i) threads.emplace_back([&, i] { come_and_go(two, inside, broken, i + 9, end); });
    }
    EXPECT_FALSE(broken);
    EXPECT_TRUE(eventually([&] { return stored().empty(); })) << "left by " << handoff.count() << " ms";
  }
}

TEST_F(Handoff, LeavesNothingWhenTheClientIsClosedInTheMiddle) {
  for (int round = 0; round < 20; ++round) {
    auto client = std::make_unique<Client>(settings());
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([lock = client->lock("orders")]() mutable {
        std::error_code error;
        while (!error || error == Errc::busy) {
          const std::optional<Hold> hold = tried(lock, {.wait = 1s}, error);
        }
      });
    }
    std::this_thread::sleep_for(milliseconds(1 + round % 5));
    client->close();
    threads.clear();
    EXPECT_TRUE(eventually([&] { return stored().empty(); })) << "round " << round;
  }
}

/// Threads that do nothing but take and release, until they are told to stop.
class Crowd {
 public:
  Crowd(Client& client, int threads) {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, lock = client.lock("orders")](const std::stop_token& stop) mutable {
        while (!stop.stop_requested()) {
          const std::scoped_lock guard(lock);
          ++sections_;
        }
      });
    }
  }
  long sections() const { return sections_; }

 private:
  std::atomic<long> sections_{0};
  std::vector<std::jthread> threads_;
};

TEST_F(Handoff, LetsOthersInBetween) {
  const Standstill still;
  Client busy(settings(2ms));
  Client other(settings(2ms));
  const Crowd crowd(busy, 4);
  ASSERT_TRUE(eventually([&] { return crowd.sections() > 100; }));
  Lock lock = other.lock("orders");
  std::vector<milliseconds> waits;
  for (int i = 0; i < 50; ++i) {
    const auto begun = steady_clock::now();
    ASSERT_TRUE(lock.try_lock_for(20s)) << "starved";
    waits.push_back(std::chrono::duration_cast<milliseconds>(steady_clock::now() - begun));
    lock.unlock();
  }
  EXPECT_THAT(waits, Each(Lt(2000ms + still.total())));
  std::sort(waits.begin(), waits.end());
  EXPECT_LT(waits[25], 100ms + still.total()) << "a tenure is 2 ms, and the machine may be slow";
}

TEST_F(Handoff, SharesFairlyBetweenClients) {
  constexpr int kClients = 3;
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::unique_ptr<Crowd>> crowds;
  for (int i = 0; i < kClients; ++i) {
    clients.push_back(std::make_unique<Client>(settings(2ms)));
    crowds.push_back(std::make_unique<Crowd>(*clients.back(), 3));
  }
  std::vector<long> before, served;
  ASSERT_TRUE(
      eventually([&] { return std::ranges::all_of(crowds, [](auto& crowd) { return crowd->sections() > 10; }); }));
  for (const auto& crowd : crowds) before.push_back(crowd->sections());
  std::this_thread::sleep_for(4s);  // the share is of a stretch of time
  long total = 0;
  for (std::size_t i = 0; i < crowds.size(); ++i) {
    served.push_back(crowds[i]->sections() - before[i]);
    total += served.back();
  }
  EXPECT_THAT(served, Each(Ge(total / kClients / 3))) << "each has a third of its fair share at least";
}

TEST_F(Handoff, SharesFairlyBetweenClientsOfOneCallerEach) {
  Client one(settings(2ms));
  Client two(settings(2ms));
  const Crowd first(one, 1);
  const Crowd second(two, 1);
  ASSERT_TRUE(eventually([&] { return first.sections() > 10 && second.sections() > 10; }));
  const long first_before = first.sections();
  const long second_before = second.sections();
  std::this_thread::sleep_for(3s);
  const long a = first.sections() - first_before;
  const long b = second.sections() - second_before;
  EXPECT_GE(std::min(a, b), (a + b) / 2 / 3) << a << " and " << b;
}

}  // namespace
}  // namespace holdfast::test::handoff_test
