// SPDX-License-Identifier: Apache-2.0
// FencedLock: its tokens grow, whatever happens to the lock, and are Redisson's.
#include <type_traits>

#include "faults.hpp"

namespace holdfast::test::fenced_lock_test {
namespace {

using testing::HasSubstr;

static_assert(!std::is_constructible_v<MultiLock, std::vector<FencedLock>>, "several have no token in common");
static_assert(!std::is_constructible_v<RedLock, std::vector<FencedLock>>);

const std::string kCounter = "redisson_lock_token:{orders}";

class Fenced : public Faults {
 protected:
  Fenced() : Faults({.listen = ServerOptions::Listen::tcp, .persistent = true}) {}

  static std::int64_t take_once(Client& client) {
    const Hold hold = client.fenced_lock("orders").acquire({.wait = 10s});
    return hold.token().value_or(-1);
  }
};

TEST_F(Fenced, InfoDoesWithoutTheTokenWhereItMayNotBeRead) {
  Client client(config());
  const FencedLock lock = client.fenced_lock("orders");
  EXPECT_EQ(lock.info().token, std::nullopt);
  const Hold hold = lock.acquire();
  raw.command("ACL", "SETUSER", "default", "-get");
  const LockInfo info = lock.info();
  EXPECT_EQ(info.owner, hold.owner());
  EXPECT_EQ(info.token, std::nullopt);
  EXPECT_TRUE(info.listeners);
}

TEST_F(Fenced, EachGrantHasTheNextToken) {
  Client client(config());
  FencedLock lock = client.fenced_lock("orders");
  EXPECT_EQ(lock.latest_token(), 0);
  Hold first = lock.acquire();
  EXPECT_EQ(first.token(), 1);
  EXPECT_EQ(raw.hgetall("orders"), (std::map<std::string, std::string>{{first.owner(), "1"}}));
  EXPECT_EQ(raw.command("GET", kCounter).text, "1");
  EXPECT_EQ(raw.pttl(kCounter), -1) << "it outlives the lock";
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  EXPECT_EQ(first.token(), std::nullopt);
  EXPECT_EQ(take_once(client), 2);
  EXPECT_EQ(lock.latest_token(), 2);
  EXPECT_EQ(lock.info().token, 2);
  EXPECT_EQ(lock.info(InfoDetail::owner).token, std::nullopt);
  EXPECT_EQ(client.lock("orders").info().token, std::nullopt);
  EXPECT_EQ(client.lock("plain").acquire().token(), std::nullopt);
}

TEST_F(Fenced, AWaiterOfTheSameClientGetsATokenOfItsOwn) {
  Config settings = config();
  settings.kinds.handoff = 10s;
  Client client(settings);
  for (std::int64_t round = 0; round < 5; ++round) {
    Hold first = client.fenced_lock("orders").acquire();
    auto next = in_thread([&] { return take_once(client); });
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(first.token(), 2 * round + 1);
    first.release();
    EXPECT_EQ(next.get(), 2 * round + 2);
  }
}

TEST_F(Fenced, AThreadsTokenStaysThroughReentryAndRenewal) {
  Config settings = config();
  settings.lease = 300ms;
  Client client(settings);
  FencedLock lock = client.fenced_lock("orders");
  EXPECT_EQ(lock.this_thread().token(), std::nullopt);
  lock.lock();
  ASSERT_TRUE(lock.try_lock());
  EXPECT_EQ(lock.this_thread().token(), 1);
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > 2; }));
  EXPECT_EQ(lock.this_thread().token(), 1);
  EXPECT_EQ(in_thread([&] { return lock.this_thread().token(); }).get(), std::nullopt) << "it is the thread's";
  lock.unlock();
  EXPECT_EQ(lock.this_thread().token(), 1);
  lock.unlock();
  EXPECT_EQ(lock.this_thread().token(), std::nullopt);
}

TEST_F(Fenced, TokensGrowBehindExpiryForceAndAnotherClient) {
  Client client(config());
  FencedLock lock = client.fenced_lock("orders");
  Hold expired = lock.acquire({.lease = fixed(500ms)});
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  Client other(config());
  const Hold forced = other.fenced_lock("orders").acquire();
  EXPECT_TRUE(expired.lost_token().stop_requested());
  EXPECT_EQ(expired.token(), 1) << "a store has to see it to refuse it";
  EXPECT_EQ(forced.token(), 2);
  lock.force_release();
  EXPECT_EQ(take_once(client), 3);
}

TEST_F(Fenced, TokensGrowBehindARestartThatKeepsTheData) {
  Client client(config());
  EXPECT_EQ(take_once(client), 1);
  server.restart(Data::keep);
  EXPECT_EQ(take_once(client), 2);
}

TEST_F(Fenced, TokensBeginAnewWhenTheServerHasForgottenThem) {
  Client client(config());
  EXPECT_EQ(take_once(client), 1);
  EXPECT_EQ(take_once(client), 2);
  raw.flushall();
  EXPECT_EQ(take_once(client), 1) << "the documented limit";
}

TEST_F(Fenced, AnAcquireWhoseReplyWasLostHasALaterToken) {
  Proxy proxy(server);
  Client client(config(proxy.url()));
  EXPECT_EQ(take_once(client), 1);
  proxy.cut_after_next_request("redisson_lock_token");
  Hold hold = client.fenced_lock("orders").acquire({.wait = 10s});
  EXPECT_EQ(proxy.fired(), 1U);
  EXPECT_EQ(hold.token(), 3) << "2 was granted to the same owner, and nobody has seen it";
  EXPECT_EQ(raw.hgetall("orders"), (std::map<std::string, std::string>{{hold.owner(), "1"}}));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_EQ(take_once(client), 4);
}

TEST_F(Fenced, GoesOnFromRedissonsCounter) {
  raw.command("SET", kCounter, "41");
  Client client(config());
  EXPECT_EQ(client.fenced_lock("orders").latest_token(), 41);
  EXPECT_EQ(take_once(client), 42);
  raw.command("SET", "redisson_lock_token:{t}x", "7");
  EXPECT_EQ(client.fenced_lock("{t}x").acquire().token(), 8) << "a name with braces gets no others";
}

TEST_F(Fenced, ACounterThatIsNoNumberIsAnErrorAndLeavesTheLockFree) {
  Client client(config());
  for (const auto& counter : std::vector<std::vector<std::string>>{
           {"SET", kCounter, "many"}, {"SET", kCounter, "9223372036854775807"}, {"LPUSH", kCounter, "1"}}) {
    raw.flushall();
    raw.send(counter);
    const std::optional<Error> error = error_of([&] { return client.fenced_lock("orders").acquire({.wait = 10s}); });
    ASSERT_TRUE(error) << counter[2];
    EXPECT_EQ(error->code(), code(Errc::wrong_type)) << error->what();
    EXPECT_THAT(error->what(), HasSubstr("counter of tokens"));
    EXPECT_FALSE(raw.exists("orders"));
  }
}

TEST_F(Fenced, ExcludesAPlainLockOfTheName) {
  Client client(config()), other(config());
  const Hold fenced = client.fenced_lock("orders").acquire();
  const MaybeHold plain = other.lock("orders").try_acquire();
  EXPECT_FALSE(plain);
  const MaybeHold second = other.fenced_lock("orders").try_acquire();
  EXPECT_FALSE(second);
  EXPECT_EQ(other.fenced_lock("orders").latest_token(), 1) << "who is turned away counts nothing";
}

}  // namespace
}  // namespace holdfast::test::fenced_lock_test
