// SPDX-License-Identifier: Apache-2.0
// MultiLock under contention and loss, on one server and on two.
#include <deque>

#include "faults.hpp"
#include "support/counter.hpp"

namespace holdfast::test::all_or_none_test {
namespace {

using testing::HasSubstr;

class AllOrNone : public testing::Test {
 protected:
  Client client(const RedisServer& server, milliseconds lease = 600ms) {
    Config config = quick_config(server.url());
    config.lease = lease;
    return Client(config);
  }

  RedisServer server_;
  RedisServer second_server_;
  Raw raw_{server_};
  Raw second_raw_{second_server_};
};

TEST_F(AllOrNone, TakesNothingWhileOneIsTaken) {
  Client mine = client(server_);
  Client other = client(server_);
  Hold theirs = other.lock("b").acquire();
  MultiLock lock = mine.multi_lock({"a", "b", "c"});
  EXPECT_EQ(lock.try_acquire(), std::nullopt);
  const auto error = error_of([&] { return lock.acquire({.wait = 200ms}); });
  EXPECT_THAT(error, IsError(Errc::timed_out, "a, b, c", mine.node(), HasSubstr("\"b\" is held by somebody else")));
  EXPECT_FALSE(raw_.exists("a"));
  EXPECT_FALSE(raw_.exists("c"));
  auto waiting = in_thread([&] { return lock.acquire().owner(); });
  EXPECT_TRUE(listeners(raw_, "b", 1));
  theirs.release();
  EXPECT_THAT(waiting.get(), HasSubstr(mine.id()));
}

TEST_F(AllOrNone, CostsOneCommandEach) {
  Client mine = client(server_, 30s);
  MultiLock lock = mine.multi_lock({"a", "b", "c", "b"});
  EXPECT_EQ(lock.name(), "a, b, c");
  lock.acquire().release();  // a new server gets each script's text once
  const auto before = mine.counters().commands;
  {
    Hold hold = lock.acquire();
  }
  EXPECT_EQ(mine.counters().commands, before + 2);
}

TEST_F(AllOrNone, IsRenewedAsAWhole) {
  Client mine = client(server_);
  Hold hold = mine.multi_lock({"a", "b"}).acquire();
  EXPECT_FALSE(eventually([&] { return !raw_.exists("a") || !raw_.exists("b"); }, 3 * 600ms));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(AllOrNone, IsLostWithOneMemberAndGivesTheRestBack) {
  Client mine = client(server_);
  Hold hold = mine.multi_lock({"a", "b", "c"}).acquire();
  EXPECT_TRUE(mine.lock("b").force_release());
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_FALSE(raw_.exists("a"));
  EXPECT_FALSE(raw_.exists("c"));
}

TEST_F(AllOrNone, CannotDeadlockWhateverTheOrder) {
  for (const bool on_two : {false, true}) {
    SCOPED_TRACE(on_two);
    Counter counter;
    {
      std::deque<Client> clients;
      std::vector<std::jthread> threads;
      for (int i = 0; i < 4; ++i) {
        Client& first = clients.emplace_back(client(server_, 30s));
        Client& second = on_two ? clients.emplace_back(client(second_server_, 30s)) : first;
        const Lock a = first.lock("a");
        const Lock b = second.lock("b");
        threads.emplace_back([&, lock = i % 2 == 0 ? MultiLock({a, b}) : MultiLock({b, a})]() mutable {
          for (int n = 0; n < 100; ++n) {
            const std::scoped_lock guard(lock);
            counter.increment();
          }
        });
      }
    }
    EXPECT_EQ(counter.calls(), 400);
    EXPECT_EQ(counter.lost(), 0);
    EXPECT_GT(lost_without_a_lock(4, 20), 0);
  }
}

TEST_F(AllOrNone, HoldsOnTwoServersWithOneOwner) {
  Client first = client(server_);
  Client second = client(second_server_);
  MultiLock lock(std::vector<Lock>{second.lock("b"), first.lock("a")});
  Hold hold = lock.acquire();
  EXPECT_THAT(raw_.hgetall("a"), HeldBy(hold.owner()));
  EXPECT_THAT(second_raw_.hgetall("b"), HeldBy(hold.owner()));
  EXPECT_FALSE(eventually([&] { return hold.lost_token().stop_requested(); }, 3 * 600ms));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(raw_.exists("a"));
  EXPECT_FALSE(second_raw_.exists("b"));
}

TEST_F(AllOrNone, LeavesNothingWhenOneOfTwoServersIsGone) {
  Client first = client(server_);
  Client second = client(second_server_);
  first.ping();
  second.ping();
  MultiLock lock(std::vector<Lock>{first.lock("a"), second.lock("b")});
  {
    Hold hold = lock.acquire();
    second_server_.stop();
    EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); })) << "all are needed";
  }
  EXPECT_TRUE(eventually([&] { return !raw_.exists("a"); }));
  const auto error = error_of([&] { return lock.try_acquire(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), code(Errc::no_quorum)) << error->what();
  EXPECT_THAT(error->what(), HasSubstr(second.node()));
  EXPECT_TRUE(eventually([&] { return !raw_.exists("a"); }));
}

TEST_F(AllOrNone, IsReentrantInItsThreadFace) {
  Client mine = client(server_);
  MultiLock lock = mine.multi_lock({"a", "b"});
  MultiLock same = mine.multi_lock({"b", "a"});
  lock.lock();
  EXPECT_TRUE(same.try_lock());
  EXPECT_EQ(lock.this_thread().hold_count(), 2);
  EXPECT_EQ(same.this_thread().release(), UnlockOutcome::still_held);
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
}

TEST_F(AllOrNone, WorksOverSimpleLocks) {
  Client mine = client(server_);
  MultiLock lock(std::vector<SimpleLock>{mine.simple_lock("a"), mine.simple_lock("b")});
  Hold hold = lock.acquire();
  EXPECT_EQ(raw_.command("GET", "a").text, hold.owner());
  EXPECT_EQ(raw_.command("GET", "b").text, hold.owner());
  EXPECT_EQ(mine.simple_lock("b").try_acquire(), std::nullopt);
  EXPECT_FALSE(eventually([&] { return hold.lost_token().stop_requested(); }, 2 * 600ms));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(raw_.exists("a"));
}

TEST_F(AllOrNone, OfNothingIsRefused) {
  EXPECT_EQ(error_of([&] { return MultiLock(std::vector<Lock>{}); })->code(), code(Errc::invalid_argument));
  Client mine = client(server_);
  EXPECT_EQ(error_of([&] { return mine.multi_lock({}); })->code(), code(Errc::invalid_argument));
  EXPECT_EQ(error_of([&] { return mine.multi_lock({"a", ""}); })->code(), code(Errc::invalid_argument));
}

}  // namespace
}  // namespace holdfast::test::all_or_none_test
