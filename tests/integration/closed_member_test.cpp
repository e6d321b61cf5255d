// SPDX-License-Identifier: Apache-2.0
// Groups whose members' clients are closed: a vote that can't be had, told at once, and nothing that hangs for it.
#include <deque>

#include "faults.hpp"

namespace holdfast::test::closed_member_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;
using testing::Property;

/// Far above what it takes, far below what a hang would.
constexpr auto kSoon = 20s;

class ThreeServers : public testing::Test {
 protected:
  ThreeServers() : servers_(3) {}

  void connect(milliseconds lease = 3000ms) {
    for (const RedisServer& server : servers_) {
      Config config = quick_config(server.url());
      config.lease = lease;
      config.timing.command_timeout = 1s;
      config.timing.patience = 60s;
      config.observer = log_;
      clients_.emplace_back(config);
      clients_.back().ping();
    }
  }
  std::vector<Lock> members(std::size_t count, const std::string& name = "orders") {
    std::vector<Lock> locks;
    for (std::size_t i = 0; i < count; ++i) locks.push_back(clients_[i].lock(name));
    return locks;
  }
  /// The server that this member of a MultiLock is on, and the client whose address comes first.
  std::size_t serving() const { return clients_[0].node() < clients_[1].node() ? 0 : 1; }
  bool exists(std::size_t i) { return Raw(servers_[i]).exists("orders"); }

  std::deque<RedisServer> servers_;
  std::deque<Client> clients_;
  const std::shared_ptr<EventLog> log_ = std::make_shared<EventLog>();
};

TEST_F(ThreeServers, AMultiLockSaysAtOnceThatAMemberIsClosed) {
  connect();
  MultiLock both(members(2));
  const std::size_t other = 1 - serving();
  clients_[other].close();
  for (const auto& options : {AcquireOptions{.wait = 500ms}, AcquireOptions{}, AcquireOptions{.wait = 50s}}) {
    const Timed timed = timed_error_of([&] { return both.try_acquire(options); });
    EXPECT_LT(timed.took, kSoon);
    EXPECT_THAT(timed.error, Optional(AllOf(Property(&Error::code, code(Errc::no_quorum)),
                                            Property(&Error::cause, HasSubstr("the client is closed")),
                                            Property(&Error::cause, HasSubstr(clients_[other].node())))));
  }
  EXPECT_TRUE(eventually([&] { return !exists(0) && !exists(1); }));
}

TEST_F(ThreeServers, ARedLockWithAClosedMemberAndAFrozenServerIsRefusedInTime) {
  connect();
  RedLock lock(members(3));
  clients_[2].close();
  servers_[1].freeze();
  const Timed timed = timed_error_of([&] { return lock.try_acquire(); });
  servers_[1].thaw();
  EXPECT_LT(timed.took, kSoon);
  EXPECT_THAT(timed.error, Optional(Property(&Error::code, code(Errc::no_quorum))));
  EXPECT_TRUE(eventually([&] { return !exists(0) && !exists(1); }));
}

TEST_F(ThreeServers, ARedLockWorksOnWithoutAClosedMinority) {
  connect();
  RedLock lock(members(3));
  const AcquireOptions patient{.wait = kSoon};
  std::optional<Hold> hold = lock.acquire(patient);
  ASSERT_TRUE(eventually([&] { return exists(2); }));
  clients_[2].close();
  const std::uint64_t renewals = clients_[0].counters().renewals;
  EXPECT_TRUE(eventually([&] { return clients_[0].counters().renewals >= renewals + 2; }));
  EXPECT_EQ(hold->state(), HoldState::held);
  EXPECT_LT(duration_of([&] { EXPECT_EQ(hold->release(), ReleaseOutcome::released); }), kSoon);
  hold = lock.acquire(patient);
  EXPECT_EQ(lock.try_acquire(), std::nullopt);
  hold.reset();
  EXPECT_FALSE(exists(0) || exists(1));
}

/// As when one of three servers is retired.
TEST_F(ThreeServers, AClosedMinorityTakesNoHoldFromAThread) {
  connect();
  RedLock lock(members(3));
  lock.lock();
  auto waiting = in_thread([&] { return lock.acquire({.wait = kSoon}).release(); });
  clients_.pop_back();
  ASSERT_TRUE(lock.this_thread().is_holding());
  EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout) << "who waits goes on waiting";
  lock.lock();
  lock.unlock();
  EXPECT_EQ(lock.this_thread().release(), UnlockOutcome::released);
  EXPECT_EQ(waiting.get(), ReleaseOutcome::released);
  lock.lock();
  lock.unlock();
  EXPECT_TRUE(eventually([&] { return !exists(0) && !exists(1); }));
}

TEST_F(ThreeServers, ClosingTheServingClientEndsWaitsAndThreadsHolds) {
  connect();
  RedLock lock(members(3));
  lock.lock();
  auto waiting = in_thread([&] { return error_of([&] { return lock.acquire(); }); });
  EXPECT_EQ(waiting.wait_for(100ms), std::future_status::timeout);
  clients_[0].close();
  EXPECT_THAT(waiting.get(), Optional(Property(&Error::code, code(Errc::closed))));
  EXPECT_FALSE(lock.this_thread().is_holding());
  EXPECT_TRUE(eventually([&] { return !exists(0) && !exists(1) && !exists(2); }));
}

/// To give it back while the hold stands would let somebody else in.
TEST_F(ThreeServers, AClosedMembersPartStaysForTheLeaseOfAHoldThatStands) {
  connect(1500ms);
  const std::size_t other = 1 - serving();
  std::optional<Hold> hold = MultiLock(members(2)).acquire();
  clients_[other].close();
  Client rival(quick_config(servers_[other].url()));
  Lock part = rival.lock("orders");
  while (hold->valid_for() > 0ms) {
    const MaybeHold taken = part.try_acquire();
    EXPECT_TRUE(!taken || hold->valid_for() == 0ms);
  }
  EXPECT_EQ(log_->details("suspect").size(), 1U);
  EXPECT_EQ(hold->loss_reason(), LossReason::expired);
  EXPECT_TRUE(part.try_acquire({.wait = kSoon})) << "the lease ends it";
}

}  // namespace
}  // namespace holdfast::test::closed_member_test
