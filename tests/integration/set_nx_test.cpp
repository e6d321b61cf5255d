// SPDX-License-Identifier: Apache-2.0
// SimpleLock: renewal, loss, waiting with and without messages, and keys of the other kind.
#include "faults.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::set_nx_test {
namespace {

using testing::HasSubstr;

class SetNx : public testing::Test {
 protected:
  Config settings(milliseconds lease = 600ms) const {
    Config config = quick_config(server_.url());
    config.lease = lease;
    return config;
  }

  RedisServer server_;
  Raw raw_{server_};
};

TEST_F(SetNx, IsAStringThatIsRenewed) {
  Client client(settings());
  Hold hold = client.simple_lock("orders").acquire();
  EXPECT_EQ(raw_.command("GET", "orders").text, hold.owner());
  EXPECT_FALSE(eventually([&] { return !raw_.exists("orders"); }, 3 * 600ms));
  EXPECT_EQ(hold.state(), HoldState::held);
  EXPECT_EQ(client.simple_lock("orders").info().owner, hold.owner());
  EXPECT_TRUE(client.simple_lock("orders").is_held_by(hold.owner()));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(client.simple_lock("orders").is_locked());
}

TEST_F(SetNx, TellsTheHolderThatItIsGone) {
  Client client(settings());
  for (const bool taken : {false, true}) {
    Hold hold = client.simple_lock("orders").acquire();
    raw_.command("DEL", "orders");
    if (taken) raw_.command("SET", "orders", "a stranger's token");
    EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
    EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
    EXPECT_EQ(raw_.exists("orders"), taken) << "a stranger's token stays";
  }
}

TEST_F(SetNx, IsFoundFreeByAskingWhenNobodyTells) {
  raw_.command("SET", "orders", "a stranger's token");
  Client client(settings());
  auto waiting = in_thread([&] {
    Hold hold = client.simple_lock("orders").acquire();
    return steady_clock::now();
  });
  EXPECT_EQ(waiting.wait_for(600ms), std::future_status::timeout);
  const auto freed = steady_clock::now();
  raw_.command("DEL", "orders");
  EXPECT_LT(waiting.get() - freed, 2s);
  EXPECT_EQ(client.counters().safety_polls, 0U) << "asking is this family's way, and no sign of a lost message";
}

TEST_F(SetNx, WakesOtherHoldfastClientsByMessage) {
  Config config = settings(30s);
  config.kinds.poll_min = config.kinds.poll_max = 30s;
  Client client(config);
  Client other(config);
  for (int i = 0; i < 5; ++i) {
    Hold hold = client.simple_lock("orders").acquire();
    auto waiting = in_thread([&] { return other.simple_lock("orders").acquire().valid_for(); });
    ASSERT_TRUE(eventually([&] {
      return raw_.command("PUBSUB", "NUMSUB", "holdfast_simple_lock__channel:{orders}").elements[1].integer == 1;
    }));
    const auto released = steady_clock::now();
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_GT(waiting.get(), 0ms);
    EXPECT_LT(steady_clock::now() - released, 10s);
  }
}

TEST_F(SetNx, NeedsNoPermissionForChannels) {
  if (!server_like_redis(6, 2)) GTEST_SKIP() << "Redis 6.0 has no rights on channels";
  RedisServer server({.listen = ServerOptions::Listen::tcp,
                      .users = {"app on >secret ~orders resetchannels -@all +evalsha +eval +get +set +del +pttl "
                                "+pexpire +publish +subscribe +unsubscribe +ping +client"}});
  Config config = quick_config(server.url("app", "secret"));
  Client client(config);
  Client other(config);
  Hold hold = client.simple_lock("orders").acquire();
  auto waiting = in_thread([&] { return other.simple_lock("orders").acquire({.wait = 20s}).valid_for(); });
  EXPECT_EQ(waiting.wait_for(500ms), std::future_status::timeout);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_GT(waiting.get(), 0ms);
  EXPECT_LE(other.counters().connections, 2U) << "refused once, it asks without the channel from then on";
}

TEST_F(SetNx, AndALockLeaveEachOthersKeysAlone) {
  Client client(settings());
  Hold lock = client.lock("hash").acquire();
  Hold simple = client.simple_lock("string").acquire();
  EXPECT_EQ(error_of([&] { return client.simple_lock("hash").try_acquire(); })->code(), code(Errc::wrong_type));
  EXPECT_EQ(error_of([&] { return client.lock("string").try_acquire(); })->code(), code(Errc::wrong_type));
  EXPECT_EQ(error_of([&] { return client.simple_lock("hash").force_release(); })->code(), code(Errc::wrong_type));
  EXPECT_EQ(error_of([&] { return client.simple_lock("hash").is_locked(); })->code(), code(Errc::wrong_type));
  EXPECT_FALSE(eventually([&] { return lock.lost_token().stop_requested() || simple.lost_token().stop_requested(); },
                          2 * 600ms));
  EXPECT_EQ(lock.release(), ReleaseOutcome::released);
  EXPECT_EQ(simple.release(), ReleaseOutcome::released);
}

TEST_F(SetNx, IsNotReentrant) {
  Client client(settings());
  SimpleLock lock = client.simple_lock("orders");
  lock.lock();
  EXPECT_FALSE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock_for(50ms));
  const auto error = error_of([&] {
    lock.lock();
    return 0;
  });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), std::errc::resource_deadlock_would_occur);
  EXPECT_EQ(lock.this_thread().hold_count(), 1);
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::set_nx_test
