// SPDX-License-Identifier: Apache-2.0
// LeasedSemaphore and Semaphore: permits that are held count, whatever becomes of the number; a change counts once,
// whoever changes it too; a permit comes back once; nothing is remembered for longer than it can be repeated; and who
// can never get a permit is told why.
#include "leased.hpp"
#include "support/tried.hpp"

namespace holdfast::test::removed_semaphore_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class RemovedSemaphore : public Leased {};

TEST_F(RemovedSemaphore, CountsWhatIsHeldWhenItIsMadeAnew) {
  const Client client(config()), other(config());
  const std::vector<std::pair<std::string, std::function<void()>>> ways{
      {"set_total", [&] { EXPECT_EQ(semaphore(other).set_total(1), 0); }},
      {"set", [&] { EXPECT_TRUE(semaphore(other).init(1)); }},
      {"add", [&] { EXPECT_EQ(semaphore(other).add(1), 0); }},
  };
  for (const auto& [way, make_anew] : ways) {
    SCOPED_TRACE(way);
    raw.command("SET", name, 1);
    Hold hold = semaphore(client).acquire();
    raw.command("DEL", name);
    EXPECT_EQ(error_of([&] { return semaphore(other).try_acquire(); })->code(), code(Errc::not_set)) << "it is gone";
    make_anew();
    EXPECT_FALSE(can_take(semaphore(other))) << "the one permit is held";
    EXPECT_GT(hold.valid_for(), 0ms) << "it stands";
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_EQ(free(), "1");
    EXPECT_TRUE(can_take(semaphore(other)));
    EXPECT_TRUE(all_back("1"));
  }
}

TEST_F(RemovedSemaphore, WhoHeldItWhenItExpiredStandsAndIsRenewed) {
  Config settings = config();
  settings.lease = 900ms;
  const Client client(settings), other(config());
  EXPECT_TRUE(semaphore(client).init(1));
  Hold hold = semaphore(client).acquire();
  raw.command("PEXPIRE", name, 1);
  std::error_code why;
  const auto until = std::chrono::steady_clock::now() + 2s;
  while (std::chrono::steady_clock::now() < until) {
    ASSERT_FALSE(hold.is_lost());
    ASSERT_EQ(tried(semaphore(other), {}, why), std::nullopt);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(why, Errc::not_set);
  EXPECT_EQ(semaphore(other).set_total(1), 0);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(all_back("1"));
}

TEST_F(RemovedSemaphore, IsAsIfNobodyHadSetItAndWhoHoldsSomeKeepsThem) {
  Config settings = config();
  settings.lease = 900ms;
  const Client client(settings), other(config());
  EXPECT_FALSE(semaphore(client).remove());
  EXPECT_TRUE(semaphore(client).init(2));
  Hold hold = semaphore(client).acquire();
  EXPECT_TRUE(semaphore(other).remove());
  EXPECT_FALSE(semaphore(other).remove());
  EXPECT_FALSE(raw.exists(name));
  EXPECT_EQ(error_of([&] { return semaphore(other).try_acquire(); })->code(), code(Errc::not_set));
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 3; })) << "beyond its first lease";
  EXPECT_FALSE(hold.is_lost());
  EXPECT_TRUE(semaphore(other).init(2));
  EXPECT_EQ(semaphore(other).available(), 1) << "it counts again";
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(semaphore(client).remove());
  EXPECT_FALSE(raw.exists(name) || raw.exists(leases)) << "nothing is left of it";
}

TEST_F(RemovedSemaphore, OfPermitsOfNobodyIsAsIfNobodyHadSetIt) {
  const Client client(config()), other(config());
  const Semaphore seats = client.semaphore("seats");
  EXPECT_FALSE(seats.remove());
  EXPECT_TRUE(seats.init(1));
  seats.acquire();
  auto waiting = in_thread([&] { return other.semaphore("seats").try_acquire_for(60s); });
  EXPECT_TRUE(eventually([&] { return other.counters().waiting == 1; }));
  EXPECT_TRUE(seats.remove());
  EXPECT_FALSE(seats.remove());
  EXPECT_FALSE(seats.release()) << "what comes back makes none";
  EXPECT_FALSE(raw.exists("seats"));
  EXPECT_EQ(error_of([&] { return seats.try_acquire(); })->code(), code(Errc::not_set));
  EXPECT_TRUE(seats.init(1));
  EXPECT_TRUE(waiting.get()) << "who waits goes on until it is made again";
}

// The first one has an end, and so its permits have one.
TEST_F(RemovedSemaphore, WhatIsTakenFromTheNextOneOutlivesTheEndOfTheOneBefore) {
  const Client client(config()), other(config());
  EXPECT_TRUE(semaphore(client).init(1, 10s));
  const Hold before = semaphore(client).acquire({.lease = fixed(5s)});
  raw.command("DEL", name);
  EXPECT_TRUE(semaphore(other).init(2));
  Hold hold = semaphore(other).acquire({.lease = fixed(1min)});
  EXPECT_GT(raw.pttl(leases), 50'000);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(RemovedSemaphore, ATotalWhoseReplyIsLostLeavesWhatOthersHaveAddedSince) {
  Proxy proxy{server};
  const Client client(config(proxy.url())), other(config());
  raw.command("SET", name, 1);
  client.ping();
  proxy.cut_after_next_request(name);
  proxy.refuse(true);
  auto total = in_thread([&] { return semaphore(client).set_total(2); });
  EXPECT_TRUE(eventually([&] { return free() == "2"; }));
  EXPECT_EQ(semaphore(other).add(3), 5);
  proxy.refuse(false);
  EXPECT_EQ(total.get(), 2) << "as it was when it was set";
  EXPECT_EQ(free(), "5");
}

TEST_F(RemovedSemaphore, APermitThatIsNamedTwiceComesBackOnce) {
  const Client client(config()), other(config());
  EXPECT_TRUE(semaphore(client).init(1));
  const Hold hold = semaphore(client).acquire();
  const std::string id = hold.owner();
  EXPECT_FALSE(semaphore(other).force_release(id + "," + id)) << "that is nobody's name";
  std::string many = id;
  for (int i = 0; i < 8000; ++i) many += "," + id;
  EXPECT_FALSE(semaphore(other).force_release(many));
  EXPECT_EQ(free(), "0");
  const Ticket twice{Ticket::Kind::permit, name, id + "," + id, {}, 30s};
  EXPECT_TRUE(error_of([&] { return semaphore(other).adopt(twice.text()).owner(); }));
  EXPECT_TRUE(semaphore(other).force_release(id));
  EXPECT_TRUE(all_back("1"));
}

TEST_F(RemovedSemaphore, IsNotRememberedForLongerThanItIsRepeated) {
  Config settings = config();
  settings.timing.patience = 5s;
  settings.timing.command_timeout = 2s;
  settings.lease = 60s;
  const Client client(settings);
  const Semaphore plain = client.semaphore("plain");
  EXPECT_TRUE(plain.init(3));
  plain.acquire();
  plain.release();
  plain.add(1);
  plain.drain();
  EXPECT_TRUE(semaphore(client).init(1));
  semaphore(client).set_total(2);
  semaphore(client).add(1);
  int remembered = 0;
  for (const Reply& key : raw.command("KEYS", "*holdfast_once*").elements) {
    ++remembered;
    EXPECT_LE(raw.pttl(key.text), 5000 + 3 * 2000 + 200) << key.text;
  }
  EXPECT_GE(remembered, 7);
}

TEST_F(RemovedSemaphore, WhoCanNeverGetAPermitIsToldWhy) {
  const Client client(config());
  const std::string unset = "nobody has set how many permits there are";
  client.ping();
  const AcquireOptions short_wait{.wait = 900ms}, long_wait{.wait = 1500ms};  // only the longer one is explained
  for (const AcquireOptions& options : {short_wait, long_wait}) {
    const auto error = error_of([&] { return semaphore(client).acquire(options); });
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::not_set);
    EXPECT_THAT(error->what(), HasSubstr(unset));
    EXPECT_THAT(error->what(), Not(HasSubstr("somebody else")));
  }
  EXPECT_TRUE(semaphore(client).init(1));
  const auto too_many = error_of([&] { return semaphore(client).with_permits(2).acquire(short_wait); });
  ASSERT_TRUE(too_many);
  EXPECT_EQ(too_many->code(), Errc::too_few);
  EXPECT_THAT(too_many->what(), HasSubstr("there are fewer permits in all than asked for: there is 1 in all"));
  const Hold hold = semaphore(client).acquire();
  const auto taken = error_of([&] { return semaphore(client).acquire(short_wait); });
  ASSERT_TRUE(taken);
  EXPECT_THAT(taken->what(), Not(HasSubstr("in all"))) << "it only has to wait";
  EXPECT_THAT(taken->what(), Not(HasSubstr(unset)));
}

}  // namespace
}  // namespace holdfast::test::removed_semaphore_test
