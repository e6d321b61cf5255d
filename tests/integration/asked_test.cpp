// SPDX-License-Identifier: Apache-2.0
// Holders that are asked for their lock: of every kind, by one client or another, and when the connection was lost.
#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <memory>

#include "access.hpp"
#include "cluster.hpp"
#include "faults.hpp"

namespace holdfast::test::asked_test {
namespace {

// A request that is queued already is still passed on while a hold ends, so what a callback refers to is declared
// before its client, which runs what is queued when it is closed.

class Asked : public Faults {
 protected:
  /// Asks until somebody has heard it: nobody waits for the subscription.
  static bool heard(const KeyLock& lock, std::size_t by = 1) {
    return eventually([&] { return lock.ask_release() == by; });
  }
};

struct Way {
  std::string name;
  std::function<Hold(const Client& client)> acquire;
};

std::vector<Way> ways() {
  return {{"Lock", [](const Client& client) { return client.lock("it").acquire(); }},
          {"Fixed", [](const Client& client) { return client.lock("it").acquire({.lease = fixed(20s)}); }},
          {"FencedLock", [](const Client& client) { return client.fenced_lock("it").acquire(); }},
          {"FairLock", [](const Client& client) { return client.fair_lock("it").acquire(); }},
          {"SpinLock", [](const Client& client) { return client.spin_lock("it").acquire(); }},
          {"SimpleLock", [](const Client& client) { return client.simple_lock("it").acquire(); }},
          {"Reader", [](const Client& client) { return client.read_write_lock("it").reader().acquire(); }},
          {"Writer", [](const Client& client) { return client.read_write_lock("it").writer().acquire(); }},
          {"Permit",
           [](const Client& client) {
             client.leased_semaphore("it").set_total(2);
             return client.leased_semaphore("it").acquire();
           }},
          {"AnyLock", [](const Client& client) { return client.any_lock({"it", "other"}).acquire(); }},
          {"MultiLock", [](const Client& client) { return client.multi_lock({"another", "it"}).acquire(); }}};
}

class AskedOf : public Asked, public testing::WithParamInterface<Way> {};

TEST_P(AskedOf, IsHeardUntilTheHoldEnds) {
  Config settings = config();
  settings.timing.subscription_linger = 20ms;
  const Client client(settings);
  const Client other(config());
  Hold hold = GetParam().acquire(client);
  const Lock lock = other.lock("it");
  EXPECT_EQ(lock.ask_release(), 0U) << "it does not listen yet";
  const auto times = std::make_shared<std::atomic<int>>(0);
  hold.on_asked([times] { ++*times; });
  ASSERT_TRUE(heard(lock));
  EXPECT_TRUE(eventually([&] { return *times >= 1; }));
  EXPECT_EQ(hold.state(), HoldState::held) << "nothing happens by itself";
  hold.release();
  EXPECT_TRUE(heard(lock, 0));
  const int before = *times;
  static_cast<void>(lock.ask_release());
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(*times, before);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AskedOf, testing::ValuesIn(ways()), [](const auto& way) { return way.param.name; });

TEST_F(Asked, EachHoldHearsItAndMayGiveWay) {
  std::atomic<int> asked = 0;
  const Client client(config());
  const Client other(config());
  const ReadLock first = client.read_write_lock("it").reader();
  const ReadLock second = other.read_write_lock("it").reader();
  std::optional<Hold> holds[] = {first.acquire(), second.acquire()};
  for (auto& hold : holds) hold->on_asked([&] { ++asked; });
  const Client third(config());
  const WriteLock writer = third.read_write_lock("it").writer();
  ASSERT_TRUE(heard(writer, 2));
  EXPECT_TRUE(eventually([&] { return asked >= 2; }));
  auto waits = in_thread([&] { return writer.acquire(); });
  for (auto& hold : holds) hold.reset();
  EXPECT_EQ(waits.get().state(), HoldState::held);
}

TEST_F(Asked, IsHeardAgainWhenTheConnectionWasLost) {
  std::atomic<int> asked = 0;
  const Client client(config());
  Hold hold = client.lock("it").acquire();
  hold.on_asked([&] { ++asked; });
  const Client other(config());
  ASSERT_TRUE(heard(other.lock("it")));
  for (int i = 0; i < 3; ++i) {
    raw.command("CLIENT", "KILL", "TYPE", "pubsub");
    raw.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    const int before = asked;
    ASSERT_TRUE(
        eventually([&] { return error_of([&] { return other.lock("it").ask_release(); }) ? false : asked > before; }));
  }
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(Asked, ACallbackThatStaysOrThrowsHoldsUpNoRenewal) {
  Config settings = config();
  settings.lease = 900ms;
  std::latch over(1);
  const Client client(settings);
  Hold slow = client.lock("slow").acquire();
  Hold throwing = client.lock("throwing").acquire();
  const std::shared_ptr<void> ends(nullptr, [&](void*) { over.count_down(); });
  throwing.on_asked([] { throw std::runtime_error("no"); });
  slow.on_asked([&] { over.wait(); });
  const Client other(config());
  ASSERT_TRUE(heard(other.lock("throwing")));
  ASSERT_TRUE(heard(other.lock("slow")));
  for (int i = 0; i < 200; ++i) static_cast<void>(other.lock("slow").ask_release());
  const std::uint64_t renewals = client.counters().renewals;
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 6; }));
  EXPECT_EQ(slow.state(), HoldState::held);
  EXPECT_EQ(throwing.state(), HoldState::held);
}

TEST_F(Asked, AnEmptyOrLostHoldListensNoMore) {
  Hold empty;
  EXPECT_EQ(error_of([&] { empty.on_asked([] {}); })->code(), Errc::not_owner);
  std::atomic<int> asked = 0;
  const Client client(config());
  Hold hold = client.lock("it").acquire();
  raw.command("DEL", "it");
  client.lock("it").force_release();
  ASSERT_TRUE(eventually([&] { return hold.is_lost(); }));
  hold.on_asked([&] { ++asked; });
  static_cast<void>(client.lock("it").ask_release());
  EXPECT_EQ(asked, 0);
}

class AskedWithout : public Access {};

TEST_F(AskedWithout, RightsNothingIsHeardAndWhoAsksIsTold) {
  grant(kRights);  // of wake channels only
  const Client client(as_app());
  Hold hold = client.lock("app:it").acquire();
  hold.on_asked([] {});
  const Client other(config());
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(other.lock("app:it").ask_release(), 0U);
  EXPECT_EQ(hold.state(), HoldState::held);
  const std::optional<Error> refused = error_of([&] { return client.lock("app:it").ask_release(); });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code(), Errc::denied) << refused->what();
  grant(kRights, {"&holdfast_asked:{app:it}"});
  EXPECT_TRUE(eventually([&] { return other.lock("app:it").ask_release() == 1; })) << "a refusal is forgotten";
}

using AskedInCluster = ClusterTest;

TEST_F(AskedInCluster, TheNodeOfTheLockIsAsked) {
  std::array<std::atomic<int>, 3> asked{};
  const Client client(config());
  const Client other(config());
  for (std::size_t node = 0; node < asked.size(); ++node) {
    const std::string name = name_on(cluster.node(node));
    Hold hold = client.lock(name).acquire();
    hold.on_asked([&times = asked[node]] { ++times; });
    EXPECT_TRUE(eventually([&] { return other.lock(name).ask_release() == 1; })) << name;
    EXPECT_TRUE(eventually([&] { return asked[node] >= 1; })) << name;
    hold.release();
  }
}

}  // namespace
}  // namespace holdfast::test::asked_test
