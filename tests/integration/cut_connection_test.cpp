// SPDX-License-Identifier: Apache-2.0
// Connections that end at the worst moment: killed while idle, waiting or renewing, cut between a command and its
// reply, and old bytes that arrive late. One owner, one hold, nothing left behind.
#include <sstream>

#include "faults.hpp"
#include "support/counter.hpp"
#include "support/held_lock.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::cut_connection_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

// --- Cut between a command and its reply ---

class Cut : public Faults {
 protected:
  Cut() : Faults({.listen = ServerOptions::Listen::tcp}), client(config(proxy.url())) {
    // The server must know the scripts by now, so that what is cut is the command that does the work.
    static_cast<void>(Client(quick_config(server.url())).lock("warm").acquire().release());
    Client(quick_config(server.url())).lock("warm").force_release();
    client.ping();
  }

  Proxy proxy{server};
  Client client;
};

TEST_F(Cut, AnAcquireIsSentAgainAndHoldsOnce) {
  using Way = std::function<Hold(Lock&)>;
  const Way ways[] = {[](Lock& lock) { return lock.acquire(); },
                      [](Lock& lock) { return lock.acquire({.wait = 10s, .lease = fixed(1min)}); },
                      [](Lock& lock) { return lock.try_acquire().value(); }};
  std::uint64_t cuts = 0;
  for (const Way& way : ways) {
    proxy.cut_after_next_request("orders");
    Lock lock = client.lock("orders");
    Hold hold = way(lock);
    EXPECT_EQ(proxy.fired(), ++cuts);
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
    EXPECT_GT(hold.valid_for(), 1s);
    EXPECT_EQ(client.counters().unknown, cuts);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_FALSE(raw.exists("orders"));
  }
  EXPECT_TRUE(log->wait_for("released", 3));
  EXPECT_THAT(log->details("unknown", "orders"),
              AllOf(SizeIs(3), Each(StartsWith("acquire: the connection was lost"))));
  EXPECT_THAT(log->details("granted"), Each("free"));
}

TEST_F(Cut, TheStdFaceLocksAndUnlocksOnce) {
  Lock lock = client.lock("orders");
  proxy.cut_after_next_request("orders");
  lock.lock();
  EXPECT_EQ(raw.command("HVALS", "orders").elements.at(0).text, "1");
  EXPECT_EQ(lock.this_thread().hold_count(), 1);
  proxy.cut_after_next_request("orders");
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_EQ(proxy.fired(), 2U);
}

TEST_F(Cut, AnAcquireOutlivesManyCutsInARow) {
  std::size_t cuts = 0;
  // On a busy machine the cutter may come too late for the second one: then once more.
  for (int round = 0; round < 20 && cuts < 2; ++round) {
    std::atomic<bool> done{false};
    const std::size_t before = proxy.fired();
    proxy.cut_after_next_request("orders");
    auto cutter = in_thread([&] {
      for (std::size_t i = 1; i < 5 && !done; ++i) {
        while (proxy.fired() < before + i && !done) std::this_thread::yield();
        proxy.cut_after_next_request("orders");
      }
    });
    Hold hold = client.lock("orders").acquire();
    done = true;
    cuts = proxy.fired() - before;
    cutter.get();
    EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
  }
  EXPECT_GE(cuts, 2U);
}

TEST_F(Cut, AWaiterThatIsCutWhileItSubscribesSubscribesAgain) {
  put_held_lock(raw, "orders");
  proxy.cut_after_next_request("SUBSCRIBE");
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(eventually([&] { return proxy.fired() == 1; }));
  ASSERT_TRUE(listeners(raw, "orders"));
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  ASSERT_TRUE(ready(waiting));
}

TEST_F(Cut, AReleaseIsSentAgainAndSaysReleased) {
  Hold hold = client.lock("orders").acquire();
  proxy.cut_after_next_request("orders");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_EQ(client.counters().unknown, 1U);
  EXPECT_EQ(client.counters().released, 1U);
  EXPECT_TRUE(log->wait_for("released"));
  EXPECT_THAT(log->details("unknown"), ElementsAre(StartsWith("release: the connection was lost")));
}

TEST_F(Cut, AReleaseSaysReleasedThoughSomebodyElseHasTheLockByNow) {
  Client other(config(server.url()));
  Hold hold = client.lock("orders").acquire();
  auto next = in_thread([&] { return other.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  proxy.refuse(true);
  proxy.cut_after_next_request("orders");
  auto release = in_thread([&] { return hold.release(); });
  ASSERT_TRUE(ready(next));
  proxy.refuse(false);
  EXPECT_EQ(release.get(), ReleaseOutcome::released);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.get().owner()));
}

TEST_F(Cut, AReleaseOfALockThatWasTakenAwaySaysLost) {
  Client other(config(server.url()));
  Hold hold = client.lock("orders").acquire({.lease = fixed(1min)});
  EXPECT_TRUE(other.lock("orders").force_release());
  const Hold next = other.lock("orders").acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.owner()));
}

TEST_F(Cut, AQuestionIsNotRepeatedAndItsOutcomeIsCalledUnknown) {
  Lock lock = client.lock("orders");
  const auto said = IsError(Errc::unknown_outcome, "orders", client.node(), HasSubstr("connection was lost"));
  proxy.cut_after_next_request("HLEN");
  EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said);
  proxy.cut_after_next_request("PTTL");
  EXPECT_THAT(error_of([&] { return lock.remaining(); }), said);
  const Hold hold = lock.acquire();
  proxy.cut_after_next_request("orders");
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), said);
  EXPECT_FALSE(raw.exists("orders")) << "this one was carried out";
}

// --- Bytes that arrive late ---

TEST_F(Cut, BytesThatArriveLateTakeNoLock) {
  if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no CLIENT LIST ID, so no earlier connection is ended";
  proxy.hold_next_request("orders");
  Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(proxy.deliver_held()) << "its connection must be closed on the server";
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(Cut, BytesThatArriveAfterTheCallerGaveUpTakeNoLock) {
  if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no CLIENT LIST ID, so no earlier connection is ended";
  proxy.hold_next_request("orders");
  std::atomic<bool> fired{false};
  auto refuser = in_thread([&] {
    fired = eventually([&] { return proxy.fired() == 1; });
    proxy.refuse(true);
  });
  const Timed acquire = timed_error_of([&] { return client.lock("orders").acquire({.wait = 300ms}); });
  refuser.get();
  ASSERT_TRUE(fired);
  proxy.refuse(false);
  if (acquire.error) {
    EXPECT_THAT(acquire.error->code(), AnyOf(code(Errc::unknown_outcome), code(Errc::unreachable)));
  }
  EXPECT_TRUE(eventually([&] { return client.counters().connections == 2; }));
  EXPECT_FALSE(proxy.deliver_held());
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }, config().lease / 2));
  EXPECT_TRUE(stays_absent(raw, "orders", 200ms));
}

TEST_F(Cut, AReleaseThatArrivesLateTakesTheLockFromNobody) {
  Hold hold = client.lock("orders").acquire();
  proxy.hold_next_request("orders");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  const Hold next = client.lock("orders").acquire();
  proxy.deliver_held();
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(next.owner()));
}

// --- All of it at once ---

TEST_F(Cut, ManyCutsUnderTrafficLoseNoIncrementAndLeaveNothing) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 150;
  constexpr std::uint64_t kCuts = 5;
  Client other(config(proxy.url()));
  client.ping();
  other.ping();  // from here on the server is known, and a connection that is cut is borne
  Counter counter;
  std::atomic<bool> stop{false};
  auto cutter = in_thread([&] {
    while (!stop) {
      proxy.cut();
      std::this_thread::sleep_for(20ms);
      proxy.cut_after_next_request("orders");
      std::this_thread::sleep_for(20ms);
    }
  });
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        Lock lock = (i % 2 == 0 ? client : other).lock("orders");
        for (int round = 0; round < kRounds || client.counters().connections <= kCuts; ++round) {
          Hold hold = lock.acquire({.lease = renewed(1min)});
          counter.increment();
          // Not answered within its time limit only if the machine stands still.
          EXPECT_THAT(hold.release(), AnyOf(ReleaseOutcome::released, ReleaseOutcome::unknown));
        }
      });
    }
  }
  stop = true;
  cutter.get();
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_GE(counter.calls(), kThreads * kRounds);
  EXPECT_GT(lost_without_a_lock(kThreads, 20), 0);
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s));
}

}  // namespace
}  // namespace holdfast::test::cut_connection_test
