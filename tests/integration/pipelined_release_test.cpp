// SPDX-License-Identifier: Apache-2.0
// Guards that do not wait for their release: when it reaches the server all the same, and who is told what became of
// it.
#include "faults.hpp"
#include "support/counter.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::pipelined_release_test {
namespace {

using testing::ElementsAre;

class PipelinedRelease : public Faults {
 protected:
  Config settings() {
    Config settings = config();
    settings.pipelined_release = true;
    return settings;
  }
  bool free() {
    return eventually([this] { return !raw.exists("orders"); });
  }
  /// So many threads of one client, each with a lock of its own.
  template <class Work>
  static void in_threads(int count, Client& client, const Work& work, const LockOptions& options = {}) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&client, &work, options, i] { work(client.lock("own-" + std::to_string(i), options)); });
    }
  }
};

TEST_F(PipelinedRelease, ReachesTheServerThoughTheClientDoesNothingMore) {
  Client client(settings());
  for (int i = 0; i < 20; ++i) {
    {
      const Hold hold = client.lock("orders").acquire();
    }
    EXPECT_TRUE(free()) << i;
  }
  Lock lock = client.lock("orders");
  lock.lock();
  lock.unlock();
  EXPECT_FALSE(lock.this_thread().is_holding());
  EXPECT_TRUE(free());
  EXPECT_TRUE(log->wait_for("released", 21));
  EXPECT_THAT(log->details("released"), testing::Each("released"));
}

TEST_F(PipelinedRelease, ComesBeforeWhateverTheClientDoesNext) {
  Client client(settings());
  Lock lock = client.lock("orders");
  for (int i = 0; i < 200; ++i) {
    const std::optional<Hold> hold = lock.try_acquire();
    ASSERT_TRUE(hold) << "it found its own earlier hold, " << i;
  }
  EXPECT_EQ(client.counters().granted, 200U);
}

TEST_F(PipelinedRelease, OfAHoldThatIsReleasedByCallTellsTheOutcome) {
  Client client(settings());
  Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(PipelinedRelease, TellsTheObserverOfALossThatOnlyTheServerKnew) {
  Client client(settings());
  {
    const Hold hold = client.lock("orders").acquire();
    raw.command("DEL", "orders");
  }
  EXPECT_TRUE(log->wait_for("released"));
  EXPECT_THAT(log->details("released"), ElementsAre("was_lost"));
}

TEST_F(PipelinedRelease, DoesNotWaitForAServerThatIsSilent) {
  const Standstill still;
  Client client(settings());
  std::optional<Hold> hold = client.lock("orders").acquire();
  server.freeze();
  const auto took = duration_of([&] { hold.reset(); });
  EXPECT_LT(took, 500ms + still.total());
  server.thaw();
  EXPECT_TRUE(free());
  EXPECT_TRUE(log->wait_for("released"));
}

TEST_F(PipelinedRelease, IsRepeatedWhenTheConnectionIsCut) {
  for (int i = 0; i < 10; ++i) {
    Client client(settings());
    {
      const Hold hold = client.lock("orders").acquire();
    }
    raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    EXPECT_TRUE(free()) << i;
  }
}

TEST_F(PipelinedRelease, LeavesNothingWhenTheClientIsClosedAtOnce) {
  for (int i = 0; i < 30; ++i) {
    {
      Client client(settings());
      Lock lock = client.lock("orders");
      const std::scoped_lock guard(lock);
    }
    EXPECT_FALSE(raw.exists("orders")) << i;
  }
}

TEST_F(PipelinedRelease, WakesWhoeverWaitsElsewhere) {
  Client client(settings());
  Client other(settings());
  for (int i = 0; i < 20; ++i) {
    std::optional<Hold> hold = client.lock("orders").acquire();
    auto waiting = in_thread([&other] { return other.lock("orders").acquire(); });
    ASSERT_TRUE(listeners(raw, "orders"));
    hold.reset();
    ASSERT_TRUE(ready(waiting)) << i;
    EXPECT_EQ(waiting.get().release(), ReleaseOutcome::released);
  }
  EXPECT_EQ(other.counters().safety_polls, 0U);
}

TEST_F(PipelinedRelease, LosesNoIncrementAmongManyThreads) {
  Counter counter;
  {
    Client one(settings());
    Client two(settings());
    std::vector<std::jthread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&counter, lock = (i % 2 == 0 ? one : two).lock("orders")]() mutable {
        for (int k = 0; k < 300; ++k) {
          const std::scoped_lock guard(lock);
          counter.increment();
        }
      });
    }
  }
  EXPECT_EQ(counter.calls(), 6 * 300);
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_GT(lost_without_a_lock(6, 20), 0);
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(PipelinedRelease, WhatAThreadUnlockedItGetsAtTheNextTry) {
  Client client(settings());
  std::atomic<int> refused{0};
  in_threads(8, client, [&](Lock lock) {
    for (int i = 0; i < 5000; ++i) {
      if (lock.try_lock()) {
        lock.unlock();
      } else {
        ++refused;
      }
    }
  });
  EXPECT_EQ(refused, 0);
}

TEST_F(PipelinedRelease, WhatAThreadUnlockedItSeesUnlocked) {
  Client client(settings());
  std::atomic<int> locked{0};
  in_threads(8, client, [&](Lock lock) {
    for (int i = 0; i < 2000; ++i) {
      lock.lock();
      lock.unlock();
      if (lock.is_locked()) ++locked;
    }
  });
  EXPECT_EQ(locked, 0);
}

TEST_F(PipelinedRelease, ClosingTellsOfNoLossOfWhatWasUnlocked) {
  std::atomic<int> lost{0};
  for (int round = 0; round < 100; ++round) {
    Client client(settings());
    in_threads(4, client,
               [](Lock lock) {
                 for (int i = 0; i < 3; ++i) {
                   lock.lock();
                   lock.unlock();
                 }
               },
               {.on_lost = [&](const LostEvent&) { ++lost; }});
    client.close();
    EXPECT_EQ(client.counters().lost, 0U);
    EXPECT_TRUE(raw.command("KEYS", "own-*").elements.empty());
  }
  EXPECT_EQ(lost, 0);
}

TEST_F(PipelinedRelease, IsNotForASimpleLockWhoseOtherWaitersAsk) {
  Client client(settings());
  {
    const Hold hold = client.simple_lock("orders").acquire();
  }
  EXPECT_FALSE(raw.exists("orders")) << "its guard has waited for the answer";
}

}  // namespace
}  // namespace holdfast::test::pipelined_release_test
