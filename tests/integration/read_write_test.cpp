// SPDX-License-Identifier: Apache-2.0
// The read-write lock: who may have it beside whom, what readers of one client share, and how a writer becomes a
// reader.
#include <atomic>
#include <deque>
#include <latch>
#include <shared_mutex>

#include "faults.hpp"
#include "support/listen.hpp"

namespace holdfast::test::read_write_test {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

static_assert(!std::is_constructible_v<MultiLock, std::vector<ReadWriteLock>>);
using Side = BasicLock (*)(const ReadWriteLock& lock);
BasicLock as_writer(const ReadWriteLock& lock) { return lock.writer(); }
BasicLock as_reader(const ReadWriteLock& lock) { return lock.reader(); }

class ReadWrite : public Faults {
 protected:
  std::map<std::string, std::string> stored() { return raw.hgetall("orders"); }
  /// And gives it back.
  static bool gets(const ReadWriteLock& lock, Side side, const AcquireOptions& options = {}) {
    const MaybeHold hold = side(lock).try_acquire(options);
    return hold.has_value();
  }
  template <class Call>
  static std::error_code code_of(Call call) {
    try {
      static_cast<void>(call());
    } catch (const Error& error) {
      return error.code();
    }
    return {};
  }
  std::uint64_t commands(const Client& client) { return client.counters().commands; }
  bool is_waiting(const Client& client, std::uint64_t callers = 1) {
    return eventually([&] { return client.counters().waiting == callers; });
  }
};

TEST_F(ReadWrite, ReadersOfOneClientShareOneHoldWithOneCommand) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold first = lock.reader().acquire();
  const auto one = commands(client);
  Hold second = lock.reader().acquire();
  Hold third = *lock.reader().try_acquire();
  EXPECT_EQ(commands(client), one) << "the second reader costs nothing";
  EXPECT_EQ(second.owner(), first.owner());
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  EXPECT_EQ(second.release(), ReleaseOutcome::released);
  EXPECT_EQ(commands(client), one) << "others still read";
  EXPECT_GT(third.valid_for(), 0ms);
  EXPECT_THAT(stored(), UnorderedElementsAre(testing::Pair("mode", "read"), testing::Pair(third.owner(), "1")));
  EXPECT_EQ(third.release(), ReleaseOutcome::released);
  EXPECT_EQ(commands(client), one + 1) << "the last one gives it back";
  EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(ReadWrite, ReadersOfSeveralClientsHaveItTogetherAndAWriterAlone) {
  Client one(config()), other(config());
  Hold reads = one.read_write_lock("orders").reader().acquire();
  Hold reads_too = other.read_write_lock("orders").reader().acquire();
  EXPECT_FALSE(gets(one.read_write_lock("orders"), as_writer));
  EXPECT_FALSE(gets(other.read_write_lock("orders"), as_writer));
  reads.release();
  EXPECT_FALSE(gets(other.read_write_lock("orders"), as_writer));
  reads_too.release();
  Hold writes = one.read_write_lock("orders").writer().acquire();
  EXPECT_FALSE(gets(one.read_write_lock("orders"), as_reader));
  EXPECT_FALSE(gets(other.read_write_lock("orders"), as_reader));
  EXPECT_FALSE(gets(other.read_write_lock("orders"), as_writer));
}

TEST_F(ReadWrite, TheEndOfAWriterLetsAllReadersIn) {
  Client writer(config()), one(config()), other(config());
  Hold writes = writer.read_write_lock("orders").writer().acquire();
  std::deque<std::future<Hold>> readers;
  for (Client* client : {&one, &one, &other, &other}) {
    readers.push_back(
        in_thread([client] { return client->read_write_lock("orders").reader().acquire({.wait = 20s}); }));
  }
  ASSERT_TRUE(is_waiting(one, 2));
  ASSERT_TRUE(is_waiting(other, 2));
  writes.release();
  std::deque<Hold> all;
  for (auto& reader : readers) all.push_back(reader.get());
  for (const Hold& hold : all) EXPECT_GT(hold.valid_for(), 0ms);
  EXPECT_EQ(one.counters().safety_poll_wakes + other.counters().safety_poll_wakes, 0U);
}

TEST_F(ReadWrite, ALocalWriterThatWaitsHoldsNewLocalReadersBack) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold reads = lock.reader().acquire();
  auto writer = in_thread([&] { return lock.writer().acquire({.wait = 20s}); });
  ASSERT_TRUE(is_waiting(client));
  EXPECT_FALSE(gets(lock, as_reader, {.wait = 100ms})) << "it comes behind the writer";
  auto late = in_thread([&] { return lock.reader().acquire({.wait = 20s}); });
  ASSERT_TRUE(is_waiting(client, 2));
  reads.release();
  Hold writes = writer.get();
  EXPECT_EQ(client.counters().waiting, 1U) << "the reader still waits";
  writes.release();
  EXPECT_GT(late.get().valid_for(), 0ms);
}

/// Each reader stays until the next one is in, so that the lock is never free by chance; 50 ms at most, for if nobody
/// may join, it has to end.
TEST_F(ReadWrite, AWriterElsewhereIsNotStarvedByReadersThatFollowEachOther) {
  Client readers(config()), writer(config());
  const ReadWriteLock lock = readers.read_write_lock("orders");
  std::atomic<bool> stop{false};
  std::atomic<int> entered{0};
  std::vector<std::future<void>> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(in_thread([&] {
      while (!stop) {
        const Hold hold = lock.reader().acquire({.wait = 30s});
        const int own = ++entered;
        const auto until = steady_clock::now() + 50ms;
        while (entered == own && !stop && steady_clock::now() < until) std::this_thread::sleep_for(1ms);
      }
    }));
  }
  ASSERT_TRUE(eventually([&] { return entered > 20; }));
  int writes = 0;
  for (; writes < 3; ++writes) {
    const int before = entered;
    if (!gets(writer.read_write_lock("orders"), as_writer, {.wait = 20s})) break;
    ASSERT_TRUE(eventually([&] { return entered > before; })) << "readers come behind it";
  }
  stop = true;
  for (auto& thread : threads) thread.get();
  EXPECT_EQ(writes, 3);
}

/// A release by one of several tells nobody, so this is how readers learn who waits for their end.
TEST_F(ReadWrite, AReaderAsksWhoListensThoughItDoesNotListenItself) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  const std::string channel = "redisson_rwlock:{orders}";
  Monitor monitor(server);
  {
    const Hold reads = lock.reader().acquire();
    const auto asked = [&](const MonitorLine& line) {
      return line.args.size() > 7 && line.args[3] == "orders" && line.args[7] == channel;
    };
    EXPECT_TRUE(std::ranges::any_of(monitor.lines(), asked)) << "behind the keys, the lease and the owner";
  }
  EXPECT_TRUE(eventually([&] { return stored().empty(); }));
  monitor.clear();
  const Hold writes = lock.writer().acquire();
  EXPECT_EQ(monitor.count(channel), 0U) << "who has it alone need not know";
}

TEST_F(ReadWrite, AWriterThatBecomesAReaderIsNeverWithoutTheLock) {
  Client client(config()), other(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold hold = lock.writer().acquire();
  auto reader = in_thread([&] { return other.read_write_lock("orders").reader().acquire({.wait = 20s}); });
  ASSERT_TRUE(is_waiting(other));
  const std::string owner = hold.owner();
  lock.downgrade(hold);
  EXPECT_EQ(hold.owner(), owner);
  EXPECT_GT(hold.valid_for(), 0ms);
  EXPECT_GT(reader.get().valid_for(), 0ms) << "it was woken";
  EXPECT_FALSE(gets(other.read_write_lock("orders"), as_writer)) << "it still reads";
  const auto before = commands(client);
  Hold beside = lock.reader().acquire();
  EXPECT_EQ(commands(client), before) << "others of this client share what it has";
  beside.release();
  lock.downgrade(hold);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return stored().empty(); }));
}

TEST_F(ReadWrite, AWriterIsNoReaderBeforeTheServerHasSaidSo) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  const AcquireOptions options{.lease = renewed(30s)};
  Hold hold = lock.writer().acquire(options);
  if (raw.command("CLIENT", "PAUSE", 60'000, "WRITE").is_error()) GTEST_SKIP() << "only all or nothing before 6.2";
  const auto before = commands(client);
  auto downgraded = in_thread([&] { lock.downgrade(hold); });
  EXPECT_TRUE(eventually([&] { return commands(client) > before; }));
  EXPECT_FALSE(gets(lock, as_reader, options)) << "it may still write";
  raw.command("CLIENT", "UNPAUSE");
  downgraded.get();
  EXPECT_TRUE(gets(lock, as_reader, options));
}

TEST_F(ReadWrite, ADowngradeIsAskedForAgainUntilItIsAnswered) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold hold = lock.writer().acquire({.lease = renewed(10s)});
  raw.command("CLIENT", "KILL", "TYPE", "normal");
  lock.downgrade(hold);
  EXPECT_EQ(stored()["mode"], "read");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(ReadWrite, WhoWasBrokenByForceCannotBecomeAReader) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold hold = lock.writer().acquire();
  EXPECT_TRUE(lock.writer().force_release());
  EXPECT_EQ(code_of([&] { return lock.downgrade(hold), 0; }), Errc::lost);
  EXPECT_TRUE(hold.is_lost());
}

TEST_F(ReadWrite, AllReadersOfAClientAreToldOfALoss) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  std::atomic<int> told{0}, told_too_much{0};
  const AcquireOptions options{.lease = renewed(600ms), .on_lost = [&](const LostEvent&) { ++told; }};
  const AcquireOptions ends{.lease = renewed(600ms), .on_lost = [&](const LostEvent&) { ++told_too_much; }};
  Hold first = lock.reader().acquire(options), second = lock.reader().acquire(options),
       gone = lock.reader().acquire(ends);
  ASSERT_EQ(first.owner(), second.owner());
  ASSERT_EQ(first.owner(), gone.owner());
  gone.release();
  const std::stop_token signal = second.lost_token();
  EXPECT_TRUE(lock.writer().force_release());
  EXPECT_TRUE(eventually([&] { return signal.stop_requested() && first.is_lost() && told == 2; }));
  EXPECT_FALSE(gone.is_lost()) << "it had been released";
  EXPECT_EQ(told_too_much, 0);
  EXPECT_EQ(first.release(), ReleaseOutcome::was_lost);
  EXPECT_EQ(client.counters().lost, 2U);
}

TEST_F(ReadWrite, BothSidesAreRenewed) {
  Client one(config()), other(config());
  const AcquireOptions options{.lease = renewed(300ms)};
  {
    const Hold reads = one.read_write_lock("orders").reader().acquire(options);
    const Hold reads_too = other.read_write_lock("orders").reader().acquire(options);
    std::this_thread::sleep_for(1s);
    EXPECT_EQ(reads.state(), HoldState::held);
    EXPECT_EQ(reads_too.state(), HoldState::held);
  }
  Hold hold = one.read_write_lock("orders").writer().acquire(options);
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(hold.state(), HoldState::held);
  one.read_write_lock("orders").downgrade(hold);
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(hold.state(), HoldState::held) << "as a reader, too";
}

TEST_F(ReadWrite, ReadersWithLeasesOrCapsOfTheirOwnHaveHoldsOfTheirOwn) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  Hold first = lock.reader().acquire();
  Hold fixed_one = lock.reader().acquire({.lease = fixed(10s)});
  Hold capped = lock.reader().acquire({.max_hold = 10s});
  EXPECT_NE(fixed_one.owner(), first.owner());
  EXPECT_NE(capped.owner(), first.owner());
  EXPECT_EQ(stored().size(), 4U);
  for (Hold* hold : {&first, &fixed_one, &capped}) EXPECT_EQ(hold->release(), ReleaseOutcome::released);
  EXPECT_THAT(stored(), IsEmpty());
}

// ---- threads ----

TEST_F(ReadWrite, MeetsSharedMutex) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  {
    const std::shared_lock guard{lock};
    const std::shared_lock again{lock};
    EXPECT_EQ(lock.reader().this_thread().hold_count(), 2);
    EXPECT_FALSE(lock.writer().this_thread().is_holding());
    auto reads = in_thread([&] { return lock.try_lock_shared() && (lock.unlock_shared(), true); });
    EXPECT_TRUE(reads.get());
    auto writes = in_thread([&] { return lock.try_lock(); });
    EXPECT_FALSE(writes.get());
  }
  EXPECT_THAT(stored(), IsEmpty());
  const std::unique_lock guard{lock};
  auto reads = in_thread([&] { return lock.try_lock_shared_for(20ms); });
  EXPECT_FALSE(reads.get());
}

TEST_F(ReadWrite, AReaderThatWantsToWriteIsRefusedAtOnce) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  const std::shared_lock guard{lock};
  EXPECT_EQ(code_of([&] { return lock.lock(), 0; }), Errc::would_deadlock);
  EXPECT_FALSE(lock.try_lock());
  const auto began = steady_clock::now();
  EXPECT_FALSE(lock.try_lock_for(20s));
  EXPECT_LT(steady_clock::now() - began, 10s) << "at once";
  EXPECT_EQ(code_of([&] { return lock.writer().acquire(); }), Errc::would_deadlock);
  EXPECT_TRUE(lock.reader().this_thread().is_holding());
}

TEST_F(ReadWrite, AWriterMayReadAndGoesOnReadingWhenItUnlocks) {
  Client client(config());
  const ReadWriteLock lock = client.read_write_lock("orders");
  lock.lock();
  const auto before = commands(client);
  lock.lock_shared();
  EXPECT_EQ(commands(client), before);
  lock.unlock();
  EXPECT_FALSE(lock.writer().this_thread().is_holding());
  EXPECT_TRUE(lock.reader().this_thread().is_holding());
  EXPECT_EQ(stored()["mode"], "read");
  lock.unlock_shared();
  EXPECT_TRUE(eventually([&] { return stored().empty(); }));
  // In the other order nothing is sent but the release.
  lock.lock();
  lock.lock_shared();
  lock.unlock_shared();
  EXPECT_EQ(stored()["mode"], "write");
  lock.unlock();
  EXPECT_TRUE(eventually([&] { return stored().empty(); }));
}

// Redisson's renews no more then.
TEST_F(ReadWrite, AWriterThatHasReadMeanwhileIsStillRenewed) {
  Config settings = config();
  settings.lease = 300ms;
  Client client(settings);
  const ReadWriteLock lock = client.read_write_lock("orders");
  lock.lock();
  lock.lock_shared();
  lock.unlock_shared();
  std::this_thread::sleep_for(1s);
  EXPECT_EQ(stored()["mode"], "write");
  lock.unlock();
}

// ---- what it is not ----

TEST_F(ReadWrite, OtherKindsOfTheSameNameAreRefused) {
  Client client(config());
  {
    const Hold plain = client.lock("orders").acquire();
    EXPECT_EQ(code_of([&] { return client.read_write_lock("orders").writer().acquire(); }), Errc::wrong_type);
    EXPECT_EQ(code_of([&] { return client.read_write_lock("orders").reader().acquire(); }), Errc::wrong_type);
  }
  const Hold reads = client.read_write_lock("orders").reader().acquire();
  EXPECT_EQ(code_of([&] { return client.lock("orders").acquire(); }), Errc::wrong_type);
  EXPECT_EQ(code_of([&] { return client.simple_lock("orders").acquire(); }), Errc::wrong_type);
}

// ---- exclusion, seen ----

/// Two numbers that writers change together and readers compare; with and without the lock.
class ReadWriteCounting : public ReadWrite, public testing::WithParamInterface<bool> {};

TEST_P(ReadWriteCounting, NoReaderSeesHalfOfAWrite) {
  const bool locked = GetParam();
  std::deque<Client> clients;
  for (int i = 0; i < 3; ++i) clients.emplace_back(config());
  std::atomic<int> left{0}, right{0};
  std::atomic<int> torn{0}, reads{0};
  std::vector<std::future<void>> threads;
  for (Client& client : clients) {
    for (int i = 0; i < 3; ++i) {
      threads.push_back(in_thread([&, i] {
        const ReadWriteLock lock = client.read_write_lock("orders");
        for (int turn = 0; turn < 40; ++turn) {
          const bool writes = i == 0 && turn % 4 == 0;
          Hold hold;
          if (locked) hold = writes ? lock.writer().acquire({.wait = 60s}) : lock.reader().acquire({.wait = 60s});
          if (writes) {
            const int next = left + 1;
            left = next;
            std::this_thread::sleep_for(1ms);
            right = next;
          } else {
            const int seen = left;
            std::this_thread::sleep_for(1ms);
            if (seen != right) ++torn;
            ++reads;
          }
        }
      }));
    }
  }
  for (auto& thread : threads) thread.get();
  if (locked) {
    EXPECT_EQ(torn, 0) << "of " << reads;
    EXPECT_EQ(left, 30);
    EXPECT_THAT(stored(), IsEmpty());
  } else {
    EXPECT_GT(torn, 0) << "the control";
  }
}

INSTANTIATE_TEST_SUITE_P(With, ReadWriteCounting, testing::Bool(),
                         [](const auto& its) { return its.param ? "TheLock" : "NoLock"; });

}  // namespace
}  // namespace holdfast::test::read_write_test
