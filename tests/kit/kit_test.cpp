// SPDX-License-Identifier: Apache-2.0
// The test kit: what is ordered happens, and time is the kit's.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <holdfast/async.hpp>
#include <holdfast/holdfast.hpp>
#include <holdfast/testing.hpp>
#include <holdfast/testing_async.hpp>

#include "support/key_kinds.hpp"

namespace holdfast::test::kit_test {
namespace {

using namespace std::chrono_literals;

constexpr auto kLimit = 30s;

bool soon(const auto& what) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  while (!what()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(1ms);
  }
  return true;
}

/// A hold, on time that stands still.
struct Still {
  Still() {
    lock.async_acquire([this](const Failure& failure, Hold granted) {
      if (!failure) hold = std::move(granted);
    });
    pass_until(kit, context, 1s, [this] { return static_cast<bool>(hold); });
  }
  boost::asio::io_context context;
  TestKit kit{TestKit::Time::still};
  Client client{client_on(context, kit.config())};
  Lock lock{client.lock("name")};
  Hold hold;
};

TEST(RealKit, EachKindIsGrantedAndReleased) {
  TestKit kit;
  const Client client{kit.config()};
  for (const KeyKind& kind : kKeyKinds) {
    const KeyLock lock = kind.make(client, kind.word);
    Hold hold = lock.acquire();
    EXPECT_TRUE(kit.is_locked(hold.name()));
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_TRUE(soon([&] { return !kit.is_locked(lock.name()); }));
  }
}

TEST(RealKit, ReadersShare) {
  TestKit kit;
  const Client one{kit.config()};
  const Client other{kit.config()};
  Hold first = one.read_write_lock("name").reader().acquire();
  Hold second = other.read_write_lock("name").reader().acquire();
  const MaybeHold writer = one.read_write_lock("name").writer().try_acquire();
  EXPECT_FALSE(writer);
  first.release();
  second.release();
  EXPECT_TRUE(one.read_write_lock("name").writer().acquire({.wait = kLimit}));
}

TEST(RealKit, SeveralLocksAreGrantedAndReleased) {
  TestKit kit;
  const Client client{kit.config()};
  Hold all = client.multi_lock({"a", "b"}).acquire();
  EXPECT_TRUE(kit.is_locked("a") && kit.is_locked("b"));
  Hold any = client.any_lock({"a", "c"}).acquire();
  EXPECT_EQ(any.name(), "c");
  all.release();
  any.release();
  EXPECT_TRUE(soon([&] { return !kit.is_locked("a") && !kit.is_locked("b") && !kit.is_locked("c"); }));
}

TEST(RealKit, AMajorityOfThree) {
  std::vector<TestKit> kits(3);
  std::vector<Client> clients;
  std::vector<Lock> members;
  for (TestKit& kit : kits) clients.emplace_back(kit.config());
  for (const Client& client : clients) members.push_back(client.lock("name"));
  Hold hold = RedLock(members).acquire();
  hold.release();
  EXPECT_TRUE(
      soon([&] { return std::ranges::none_of(kits, [](const TestKit& kit) { return kit.is_locked("name"); }); }));
}

TEST(RealKit, PermitsAndStepsAreCounted) {
  TestKit kit;
  const Client client{kit.config()};
  const LeasedSemaphore leased = client.leased_semaphore("leased");
  ASSERT_TRUE(leased.init(1));
  {
    const Hold permit = leased.acquire();
    const MaybeHold second = leased.try_acquire();
    EXPECT_FALSE(second);
  }
  EXPECT_TRUE(leased.acquire({.wait = kLimit}));
  const Semaphore plain = client.semaphore("plain");
  ASSERT_TRUE(plain.init(2));
  plain.acquire(2);
  EXPECT_FALSE(plain.try_acquire());
  plain.release(2);
  EXPECT_EQ(plain.available(), 2);
  const Latch latch = client.latch("latch");
  ASSERT_TRUE(latch.init(1));
  latch.count_down();
  EXPECT_TRUE(latch.wait_for(kLimit));
}

TEST(RealKit, ALeaderLeads) {
  TestKit kit;
  const Client client{kit.config()};
  Leader leader(client.fenced_lock("name"));
  EXPECT_EQ(leader.lead([&](const Term& term) { EXPECT_TRUE(term.leads() && kit.is_locked("name")); }),
            TermEnd::finished);
}

TEST(RealKit, WhatIsLostIsNoticed) {
  TestKit kit;
  const Client client{kit.config()};
  const Hold plain = client.lock("plain").acquire();
  const Hold simple = client.simple_lock("simple").acquire();
  kit.lose("plain");
  ASSERT_FALSE(kit.is_locked("plain"));
  kit.take_elsewhere("simple");
  EXPECT_TRUE(kit.is_locked("simple"));
  ASSERT_FALSE(client.simple_lock("simple").is_held_by(simple.owner()));
  EXPECT_TRUE(soon([&] { return plain.is_lost() && simple.is_lost(); }));
  EXPECT_EQ(plain.loss_reason(), LossReason::taken);
  EXPECT_EQ(simple.loss_reason(), LossReason::taken);
}

TEST(RealKit, WhatIsCutComesBack) {
  TestKit kit;
  const Client client{kit.config()};
  const Hold hold = client.lock("name").acquire();
  kit.cut();
  EXPECT_TRUE(client.lock("other").acquire({.wait = kLimit}));
  EXPECT_GE(client.counters().connections, 2U);
  EXPECT_FALSE(hold.is_lost());
}

TEST(RealKit, DoesNotMoveTime) {
  TestKit kit;
  EXPECT_THROW(kit.pass(1s, [] { return std::size_t{0}; }), Error);
}

TEST(StillKit, RenewsThroughHours) {
  Still it;
  ASSERT_TRUE(it.hold);
  pass(it.kit, it.context, 3h);
  EXPECT_FALSE(it.hold.is_lost());
  EXPECT_TRUE(it.kit.is_locked("name"));
}

TEST(StillKit, TimePassesOnlyInPass) {
  Still it;
  ASSERT_TRUE(it.hold);
  const auto before = it.hold.valid_for();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(it.hold.valid_for(), before);
  pass(it.kit, it.context, 1234ms);
  EXPECT_EQ(it.hold.valid_for(), before - 1234ms);
}

TEST(StillKit, AFrozenServerCostsTheLockAtItsDeadline) {
  Still it;
  ASSERT_TRUE(it.hold);
  it.kit.freeze(1min);
  EXPECT_FALSE(pass_until(it.kit, it.context, 29s, [&] { return it.hold.is_lost(); }));
  EXPECT_TRUE(pass_until(it.kit, it.context, 1s, [&] { return it.hold.is_lost(); }));
  EXPECT_EQ(it.hold.loss_reason(), LossReason::expired);
}

TEST(StillKit, OneAtATime) {
  std::optional<TestKit> first(std::in_place, TestKit::Time::still);
  EXPECT_THROW(TestKit second(TestKit::Time::still), Error);
  first.reset();
  EXPECT_NO_THROW(TestKit third(TestKit::Time::still));
}

TEST(StillKit, ALateAnswerComesSoMuchLater) {
  Still it;
  ASSERT_TRUE(it.hold);
  it.kit.answer_late(300ms);
  std::optional<ReleaseOutcome> outcome;
  std::move(it.hold).async_release([&](ReleaseOutcome what) { outcome = what; });
  pass(it.kit, it.context, 299ms);
  EXPECT_FALSE(outcome);
  pass(it.kit, it.context, 1s);
  EXPECT_EQ(outcome, ReleaseOutcome::released);
}

}  // namespace
}  // namespace holdfast::test::kit_test
