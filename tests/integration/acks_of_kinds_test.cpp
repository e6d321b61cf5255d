// SPDX-License-Identifier: Apache-2.0
// Acks of fenced locks and of leased permits: what is granted and not confirmed is not had, and nothing of it stays.
#include "acks.hpp"

namespace holdfast::test::acks_of_kinds_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kCounter = "redisson_lock_token:{orders}";

/// A primary and a replica, of which each grant wants the ack.
class AcksOfKinds : public Replicated {
 protected:
  void SetUp() override { add_replicas(1); }

  Config acked() const {
    return config([](Config& c) {
      c.acks = Acks::all();
      c.timing.acks_timeout = 200ms;
    });
  }
  static testing::Matcher<std::optional<Error>> IsMissing(const std::string& name, const Client& client,
                                                          const testing::Matcher<std::string>& cause) {
    return IsError(Errc::durability_not_met, name, client.node(), cause);
  }
  long long token() { return std::stoll(raw.command("GET", kCounter).text); }
};

// ---- fenced locks ----

TEST_F(AcksOfKinds, AFencedGrantThatNoReplicaConfirmsIsGivenBackAndItsTokenIsNotGivenAgain) {
  Client client(acked());
  FencedLock lock = client.fenced_lock("orders");
  EXPECT_EQ(lock.acquire().token(), 1);
  replicas[0].freeze();
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 0ms}); }),
              IsMissing("orders", client, HasSubstr("0 of 1 replica has confirmed it within 200 ms")));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); })) << "it is given back";
  EXPECT_EQ(token(), 2) << "and was counted: somebody may have seen it";
  EXPECT_THAT(error_of([&] { return lock.acquire({.wait = 300ms}); }), IsMissing("orders", client, Not("")));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
  const long long latest = token();
  EXPECT_GT(latest, 2);
  EXPECT_EQ(raw.pttl(kCounter), -1);
  replicas[0].thaw();
  const Hold hold = lock.acquire({.wait = 20s});
  EXPECT_GT(hold.token(), latest);
  EXPECT_GT(hold.durable_for(), 0ms);
}

TEST_F(AcksOfKinds, MoreReplicasThanThereAreConfirmNothing) {
  Client client(acked());
  raw.command("SET", "gpus", 3);
  for (int times = 0; times < 2; ++times) {
    EXPECT_THAT(
        error_of([&] { return client.fenced_lock("orders").acquire({.wait = 0ms, .acks = Acks::replicas(2)}); }),
        IsMissing("orders", client, HasSubstr("1 of 2 replicas")));
    EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }));
    EXPECT_THAT(
        error_of([&] { return client.leased_semaphore("gpus").acquire({.wait = 0ms, .acks = Acks::replicas(2)}); }),
        IsMissing("gpus", client, HasSubstr("1 of 2 replicas")));
    EXPECT_TRUE(eventually([&] { return raw.command("GET", "gpus").text == "3" && !raw.exists("{gpus}:timeout"); }));
  }
  EXPECT_EQ(client.fenced_lock("orders").acquire().token(), 3);
}

/// The replica has stopped when the token is counted, and is promoted once it has confirmed it.
TEST_F(AcksOfKinds, TokensGrowBehindAFailover) {
  Config settings = acked();
  settings.timing.acks_timeout = 20s;
  settings.timing.command_timeout = 30s;
  const std::string both =
      "redis://127.0.0.1:" + std::to_string(server.port()) + ",127.0.0.1:" + std::to_string(replicas[0].port());
  const Config without = config(both);  // the new primary has no replica
  Client client(settings), other(without);
  EXPECT_EQ(other.fenced_lock("orders").acquire().token(), 1);
  warm(client);
  replicas[0].freeze();
  auto waiting = in_thread([&] { return client.fenced_lock("orders").acquire({.wait = 1min}); });
  ASSERT_TRUE(eventually([&] { return raw.info("clients", "blocked_clients") == "1"; }));
  EXPECT_FALSE(ready(waiting, 0ms)) << "no replica knows of it";
  replicas[0].thaw();
  const Hold hold = waiting.get();
  EXPECT_EQ(hold.token(), 2);
  server.kill();
  Raw promoted(replicas[0]);
  promoted.command("REPLICAOF", "NO", "ONE");
  EXPECT_THAT(promoted.hgetall("orders"), HeldBy(hold.owner()));
  promoted.command("DEL", "orders");
  EXPECT_EQ(other.fenced_lock("orders").acquire({.wait = 20s}).token(), 3);
}

// ---- leased permits ----

class AcksOfPermits : public AcksOfKinds {
 protected:
  std::string free() { return raw.command("GET", "gpus").text; }
  long long held() { return raw.command("ZCARD", "{gpus}:timeout").integer; }
  bool all_back() {
    return eventually([&] { return free() == "3" && held() == 0; });
  }
};

TEST_F(AcksOfPermits, ThatNoReplicaConfirmsAreGivenBackOnce) {
  raw.command("SET", "gpus", 3);
  Client client(acked());
  warm(client);
  const LeasedSemaphore two = client.leased_semaphore("gpus").with_permits(2);
  replicas[0].freeze();
  for (const milliseconds wait : {0ms, 300ms}) {
    EXPECT_THAT(error_of([&] { return two.acquire({.wait = wait}); }), IsMissing("gpus", client, Not("")));
    EXPECT_TRUE(all_back()) << free() << " free, " << held() << " held";
  }
  EXPECT_GE(client.counters().acks_missed, 2U);
  replicas[0].thaw();
  Hold hold = two.acquire({.wait = 20s});
  EXPECT_GT(hold.durable_for(), 0ms);
  EXPECT_EQ(free(), "1");
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back());
}

/// Redisson gives back what it has not got.
TEST_F(AcksOfPermits, ThatWereNotGrantedAreNotGivenBack) {
  raw.command("SET", "gpus", 3);
  Client client(acked()), holder(config());
  warm(client);
  Hold all = holder.leased_semaphore("gpus").with_permits(3).acquire();
  replicas[0].freeze();
  const long long waits = raw.calls("wait");
  for (const milliseconds wait : {0ms, 300ms}) {
    const MaybeHold none = client.leased_semaphore("gpus").try_acquire({.wait = wait});
    EXPECT_FALSE(none);
  }
  client.close();  // with all that it still had to send
  EXPECT_EQ(free(), "0");
  EXPECT_EQ(held(), 3);
  EXPECT_EQ(raw.calls("wait"), waits) << "nothing was to be confirmed";
  EXPECT_EQ(all.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back());
}

}  // namespace
}  // namespace holdfast::test::acks_of_kinds_test
