// SPDX-License-Identifier: Apache-2.0
// The end of a client: with holders, with waiters, with calls that come too late, and with objects that outlive it.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/standstill.hpp"
#include "support/tried.hpp"

namespace holdfast::test::close_test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Lt;
using testing::SizeIs;

static_assert(std::is_nothrow_destructible_v<Client> && std::is_nothrow_move_constructible_v<Client>);
static_assert(std::is_nothrow_destructible_v<Hold> && std::is_nothrow_move_constructible_v<Hold>);
static_assert(std::is_nothrow_destructible_v<Lock> && std::is_copy_constructible_v<Lock>);
static_assert(!std::is_copy_constructible_v<Hold> && !std::is_copy_constructible_v<Client>);
static_assert(noexcept(std::declval<Hold&>().release()) && noexcept(std::declval<Lock&>().unlock()));
static_assert(noexcept(std::declval<Client&>().close()));

class Close : public Faults {};

TEST_F(Close, GivesBackItsHoldsAndTellsTheirHolders) {
  Client client(config());
  Client other(config());
  Hold first = client.lock("first").acquire();
  Hold second = client.lock("second").acquire({.lease = fixed(1min)});
  Lock third = client.lock("third");
  third.lock();
  third.lock();
  const std::stop_token lost = first.lost_token();
  auto next = in_thread([&] { return other.lock("first").acquire(); });
  ASSERT_TRUE(listeners(raw, "first"));
  client.close();
  EXPECT_FALSE(raw.exists("second"));
  EXPECT_FALSE(raw.exists("third"));
  ASSERT_TRUE(ready(next)) << "it is woken, as by any release";
  EXPECT_TRUE(lost.stop_requested());
  EXPECT_EQ(first.valid_for(), 0ms);
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  EXPECT_EQ(second.release(), ReleaseOutcome::released);
  EXPECT_FALSE(third.this_thread().is_holding());
  EXPECT_EQ(client.counters().released, 3U);
  EXPECT_EQ(client.counters().lost, 3U);
  EXPECT_THAT(log->details("lost"), ElementsAre("closed", "closed", "closed"));
}

TEST_F(Close, LeavesItsHoldsToExpireWhenToldSo) {
  Config settings = config();
  settings.on_close = OnClose::leave_to_expire;
  Client client(settings);
  Hold hold = client.lock("orders").acquire({.lease = renewed(900ms)});
  const std::string owner = hold.owner();
  client.close();
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(owner));
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_EQ(hold.release(), ReleaseOutcome::unknown);
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(owner)) << "a release after the close does nothing";
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); })) << "nobody renews it any more";
  EXPECT_THAT(log->details("lost"), ElementsAre("closed"));
  EXPECT_EQ(client.counters().released, 0U);
}

TEST_F(Close, EndsAllWaits) {
  Client client(config());
  put_held_lock(raw, "orders");
  put_held_lock(raw, "other");
  std::vector<std::future<std::optional<Error>>> waits;
  for (int i = 0; i < 3; ++i) {
    waits.push_back(in_thread([&] { return error_of([&] { return client.lock("orders").acquire(); }); }));
  }
  waits.push_back(in_thread([&] { return error_of([&] { client.lock("other").lock(); }); }));
  waits.push_back(in_thread([&] { return error_of([&] { return client.lock("other").try_lock_for(1min); }); }));
  ASSERT_TRUE(listeners(raw, "orders"));
  ASSERT_TRUE(listeners(raw, "other"));
  EXPECT_FALSE(ready(waits.back(), 50ms));
  client.close();
  for (std::size_t i = 0; i < waits.size(); ++i) {
    EXPECT_THAT(waits[i].get(), IsError(Errc::closed, i < 3 ? "orders" : "other", client.node(), testing::_));
  }
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(kSomebodyElse));
}

TEST_F(Close, EndsAWaitForAServerThatIsGone) {
  RedisServer tcp({.listen = ServerOptions::Listen::tcp});
  Client client(config(tcp.url()));
  client.ping();
  tcp.kill();
  auto waiting = in_thread([&] { return error_of([&] { return client.lock("orders").acquire(); }); });
  EXPECT_FALSE(ready(waiting, 100ms));
  EXPECT_LT(duration_of([&] { client.close(); }), config().timing.release_timeout + 1s);
  EXPECT_THAT(waiting.get(), IsError(Errc::closed, "orders", client.node(), testing::_));
}

TEST_F(Close, EveryLaterCallSaysClosed) {
  Client client(config());
  Lock lock = client.lock("orders");
  client.ping();
  client.close();
  client.close();
  const auto said = [&](const std::string& key) { return IsError(Errc::closed, key, client.node(), testing::_); };
  EXPECT_THAT(error_of([&] { client.ping(); }), said(""));
  EXPECT_THAT(error_of([&] { return client.list(); }), said(""));
  EXPECT_THAT(error_of([&] { return client.lock("orders"); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.try_acquire({.wait = 1min}); }), said("orders"));
  EXPECT_THAT(error_of([&] { lock.lock(); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.try_lock(); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.is_locked(); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.is_held_by("somebody"); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.remaining(); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.info(); }), said("orders"));
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), said("orders"));
  std::error_code error;
  EXPECT_EQ(tried(lock, {}, error), std::nullopt);
  EXPECT_EQ(error, Errc::closed);
  lock.unlock();
  EXPECT_EQ(client.counters().connections, 1U);
  EXPECT_EQ(lock.name(), "orders");
}

TEST_F(Close, LocksAndHoldsOutliveTheirClient) {
  std::optional<Client> client(config());
  Lock lock = client->lock("orders");
  Lock theirs = client->lock("thread");
  theirs.lock();
  Hold hold = lock.acquire();
  const std::string owner = hold.owner();
  client.reset();
  EXPECT_EQ(hold.owner(), owner);
  EXPECT_EQ(hold.name(), "orders");
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  theirs.unlock();
  EXPECT_EQ(theirs.this_thread().valid_for(), 0ms);
  Lock copy = lock;
  EXPECT_THAT(error_of([&] { return copy.acquire(); }),
              testing::Optional(testing::Property(&Error::code, code(Errc::closed))));
  Client again(config());
  lock = again.lock("orders");
  EXPECT_TRUE(lock.acquire());
}

TEST_F(Close, AClientThatIsMovedFromOrOverIsClosed) {
  Client first(config());
  Lock lock = first.lock("orders");
  const Hold hold = lock.acquire();
  Client moved(std::move(first));
  EXPECT_GT(hold.valid_for(), 0ms);
  moved.ping();
  moved = Client(config());
  EXPECT_TRUE(hold.lost_token().stop_requested());
  EXPECT_FALSE(raw.exists("orders"));
  moved.ping();
}

TEST_F(Close, MayComeFromManyThreadsWhileOthersWork) {
  constexpr int kThreads = 6;
  for (int round = 0; round < 20; ++round) {
    Client client(config());
    client.ping();
    std::vector<std::jthread> threads;
    std::atomic<int> working{0};
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        const std::optional<Error> error = error_of([&] {
          Lock lock = client.lock("orders:" + std::to_string(i % 3));
          ++working;
          for (;;) static_cast<void>(lock.acquire().release());
        });
        EXPECT_EQ(error->code(), Errc::closed) << error->what();
      });
    }
    ASSERT_TRUE(eventually([&] { return working == kThreads; }));
    std::this_thread::sleep_for(milliseconds(round % 5));
    std::jthread closer([&] { client.close(); });
    client.close();
    threads.clear();
    EXPECT_EQ(raw.command("DBSIZE").integer, 0) << "round " << round;
    raw.flushall();
  }
}

TEST_F(Close, WithManyHoldsAndADeadServerIsBoundedForAllTogether) {
  const Standstill still;
  Config settings = config();
  settings.timing.release_timeout = 200ms;
  std::optional<Client> client(settings);
  std::vector<Hold> holds;
  for (int i = 0; i < 100; ++i) holds.push_back(client->lock("orders:" + std::to_string(i)).acquire());
  server.freeze();
  const auto took = duration_of([&] { client.reset(); });
  EXPECT_LT(took, 200ms + 1s + still.total());
  EXPECT_LT(duration_of([&] { holds.clear(); }), 1s);
  server.thaw();
}

}  // namespace
}  // namespace holdfast::test::close_test
