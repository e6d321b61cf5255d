// SPDX-License-Identifier: Apache-2.0
// Every later kind behind Sentinels: had, contended for, and given back. One deployment serves them all.
#include <latch>

#include "sentinel.hpp"

namespace holdfast::test::sentinel_kinds_test {
namespace {

/// Two clients that know nothing of each other, and a name that nobody else uses.
struct Stage {
  Deployment& deployment;
  const Client& one;
  const Client& other;
  const std::string name;
};

bool waits(const Client& client) {
  return eventually([&] { return client.counters().waiting == 1; });
}

/// One has it, the other waits and has it next.
void contend(const Stage& stage, const auto& lock_of) {
  Hold hold = lock_of(stage.one).acquire({.wait = 30s});
  {
    const MaybeHold busy = lock_of(stage.other).try_acquire();
    EXPECT_FALSE(busy);
  }
  auto waiting = in_thread([&] { return lock_of(stage.other).acquire({.wait = 60s}); });
  ASSERT_TRUE(waits(stage.other));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  Hold next = waiting.get();
  EXPECT_GT(next.valid_for(), 0ms);
  EXPECT_EQ(next.release(), ReleaseOutcome::released);
  Raw primary(stage.deployment.primary());
  EXPECT_NE(primary.type(stage.name), "hash") << "nobody has it any more";
}

void fenced(const Stage& stage) {
  const auto lock_of = [&](const Client& client) { return client.fenced_lock(stage.name); };
  contend(stage, lock_of);
  EXPECT_EQ(lock_of(stage.one).acquire({.wait = 30s}).token(), 3);
}

/// Whoever is elected has confirmed the token, and counts on from there.
void fenced_failover(const Stage& stage) {
  const auto take = [&](const Client& client) {
    const Hold hold = client.fenced_lock(stage.name).acquire({.wait = 120s, .acks = Acks::all()});
    EXPECT_GT(hold.durable_for(), 0ms);
    return hold.token().value_or(-1);
  };
  EXPECT_EQ(take(stage.one), 1);
  Hold held = stage.one.fenced_lock(stage.name).acquire({.wait = 120s, .acks = Acks::all()});
  EXPECT_EQ(held.token(), 2);
  const RedisServer& before = stage.deployment.primary();
  stage.deployment.failover();
  EXPECT_NE(&stage.deployment.primary(), &before);
  {
    const MaybeHold busy = stage.other.fenced_lock(stage.name).try_acquire();
    EXPECT_FALSE(busy) << "the new primary has the hold, too";
  }
  EXPECT_EQ(held.release(), ReleaseOutcome::released);
  EXPECT_GT(take(stage.other), 2);
}

void read_write(const Stage& stage) {
  const auto lock_of = [&](const Client& client) { return client.read_write_lock(stage.name); };
  contend(stage, [&](const Client& client) { return lock_of(client).writer(); });
  Hold beside = lock_of(stage.other).reader().acquire({.wait = 30s});
  {
    const MaybeHold busy = lock_of(stage.one).writer().try_acquire();
    EXPECT_FALSE(busy) << "the other one reads";
  }
  Hold reads = lock_of(stage.one).reader().acquire({.wait = 30s});
  auto writes = in_thread([&] { return lock_of(stage.one).writer().acquire({.wait = 60s}).release(); });
  ASSERT_TRUE(waits(stage.one));
  EXPECT_EQ(reads.release(), ReleaseOutcome::released);
  Raw primary(stage.deployment.primary());
  EXPECT_EQ(primary.command("HGET", stage.name, "mode").text, "read") << "the other one still reads";
  EXPECT_EQ(beside.release(), ReleaseOutcome::released);
  EXPECT_EQ(writes.get(), ReleaseOutcome::released);
}

void fair(const Stage& stage) {
  contend(stage, [&](const Client& client) { return client.fair_lock(stage.name); });
  EXPECT_EQ(stage.one.fair_lock(stage.name).info().queued, 0U);
}

void spin(const Stage& stage) {
  contend(stage, [&](const Client& client) { return client.spin_lock(stage.name); });
}

void leased(const Stage& stage) {
  const auto semaphore = [&](const Client& client) { return client.leased_semaphore(stage.name); };
  EXPECT_TRUE(semaphore(stage.one).init(2));
  contend(stage, [&](const Client& client) { return semaphore(client).with_permits(2); });
  EXPECT_EQ(semaphore(stage.other).available(), 2);
}

void counted(const Stage& stage) {
  const Semaphore here = stage.one.semaphore(stage.name), there = stage.other.semaphore(stage.name);
  EXPECT_TRUE(here.init(1));
  here.acquire();
  EXPECT_FALSE(there.try_acquire());
  auto waiting = in_thread([&] { return there.try_acquire_for(60s); });
  ASSERT_TRUE(waits(stage.other));
  EXPECT_TRUE(here.release());
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(there.release());
  EXPECT_EQ(here.available(), 1);
}

void latch(const Stage& stage) {
  const Latch here = stage.one.latch(stage.name), there = stage.other.latch(stage.name);
  EXPECT_TRUE(here.init(2));
  EXPECT_FALSE(there.try_wait());
  auto waiting = in_thread([&] { return there.wait_for(60s); });
  ASSERT_TRUE(waits(stage.other));
  EXPECT_EQ(here.count_down(), 1);
  EXPECT_FALSE(there.try_wait());
  EXPECT_EQ(here.count_down(), 0);
  EXPECT_TRUE(waiting.get());
}

void any(const Stage& stage) {
  const std::string beside = stage.name + ":beside";
  const Hold taken = stage.one.lock(beside).acquire({.wait = 30s});
  contend(stage, [&](const Client& client) { return client.any_lock({beside, stage.name}); });
}

void leader(const Stage& stage) {
  Leader first(stage.one.fenced_lock(stage.name)), second(stage.other.fenced_lock(stage.name));
  std::latch leads(1), over(1);
  std::int64_t earlier = 0, later = 0;
  auto leading = in_thread([&] {
    return first.lead([&](const Term& term) {
      earlier = term.token();
      leads.count_down();
      over.wait();
      EXPECT_TRUE(term.leads());
    });
  });
  leads.wait();
  auto next = in_thread([&] { return second.lead([&](const Term& term) { later = term.token(); }, {.wait = 60s}); });
  EXPECT_TRUE(waits(stage.other));
  EXPECT_FALSE(second.leads());
  over.count_down();
  EXPECT_EQ(leading.get(), TermEnd::finished);
  EXPECT_EQ(next.get(), TermEnd::finished);
  EXPECT_GT(later, earlier);
}

struct Kind {
  const char* name;
  void (*use)(const Stage& stage);
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class KindsBehindSentinels : public testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() { deployment_ = std::make_unique<Deployment>(DeploymentOptions{.replicas = 1}); }
  static void TearDownTestSuite() { deployment_.reset(); }

  static Config config() {
    Config made = quick_config(deployment_->url());
    // Longer than any wait here, so that whoever is not told of a release waits in vain.
    made.lease = made.timing.safety_poll = made.kinds.fair_turn = 300s;
    made.timing.command_timeout = made.timing.release_timeout = 20s;
    made.timing.patience = 120s;
    return made;
  }

  inline static std::unique_ptr<Deployment> deployment_;
};

TEST_P(KindsBehindSentinels, AreHadContendedForAndGivenBack) {
  const Client one(config()), other(config());
  GetParam().use({*deployment_, one, other, std::string("orders:") + GetParam().name});
  EXPECT_EQ(one.counters().lost + other.counters().lost, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, KindsBehindSentinels,
                         testing::Values(Kind{"Fenced", fenced}, Kind{"ReadWrite", read_write}, Kind{"Fair", fair},
                                         Kind{"Spin", spin}, Kind{"LeasedSemaphore", leased},
                                         Kind{"Semaphore", counted}, Kind{"Latch", latch}, Kind{"AnyLock", any},
                                         Kind{"Leader", leader}, Kind{"FencedThroughAFailover", fenced_failover}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace holdfast::test::sentinel_kinds_test
