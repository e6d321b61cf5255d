// SPDX-License-Identifier: Apache-2.0
// Groups of which one member is on an io_context that nobody runs: its vote is not to be had, within a bound.
#include <thread>

#include "async.hpp"

namespace holdfast::test::standing_still_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Optional;
using testing::Property;

/// Far above the bounds, far below what a hang would take.
constexpr auto kSoon = 20s;

class StandingStill : public Async {
 protected:
  StandingStill() {
    const std::string later = std::max(servers_[0].url(), servers_[1].url());
    for (const RedisServer& each : servers_) {
      Config settings = config(each.url());
      settings.lease = 1500ms;
      if (&each == &servers_[2] || each.url() == later) continue;
      first_.emplace(settings);
    }
    Config settings = config(servers_[2].url());
    settings.lease = 1500ms;
    second_.emplace(settings);
    settings.server = Config::from_url(later).server;
    guest_.emplace(client_on(context, settings));
    run([&]() -> awaitable<void> { co_await guest_->async_ping(); }());
  }
  ~StandingStill() override {
    close(*guest_);
    for (const RedisServer& each : servers_) {
      EXPECT_TRUE(eventually([&] { return Raw(each).command("DBSIZE").integer == 0; })) << "something is left";
    }
  }
  /// The first one serves it: its address comes first.
  MultiLock both() { return MultiLock({first_->lock("orders"), guest_->lock("stock")}); }
  RedLock majority() { return RedLock({first_->lock("orders"), second_->lock("orders"), guest_->lock("orders")}); }

  RedisServer servers_[3];
  std::optional<Client> first_, second_, guest_;
};

TEST_F(StandingStill, AMultiLockIsRefusedInTime) {
  MultiLock lock = both();
  const Timed timed = timed_error_of([&] { return lock.try_acquire({.wait = 500ms}); });
  EXPECT_LT(timed.took, kSoon);
  EXPECT_THAT(timed.error, Optional(AllOf(Property(&Error::code, code(Errc::no_quorum)),
                                          Property(&Error::cause, HasSubstr("stands still")))));
}

TEST_F(StandingStill, AMultiLocksHoldIsSuspectAndLostAndItsEndIsBounded) {
  MultiLock lock = both();
  auto acquiring = in_thread([&] { return lock.acquire(); });
  ASSERT_TRUE(turn_until([&] { return ready(acquiring, 0ms); }));
  Hold hold = acquiring.get();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::lost; }));
  EXPECT_EQ(hold.loss_reason(), LossReason::expired);
  EXPECT_TRUE(log->wait_for("suspect"));
  EXPECT_THAT(log->details("suspect"), testing::Contains(HasSubstr("stands still")));
  EXPECT_LT(duration_of([&] { hold.release(); }), kSoon);
}

TEST_F(StandingStill, ARedLockWorksAndWhatWaitsForTheGuestIsBounded) {
  RedLock lock = majority();
  for (int i = 0; i < 1200; ++i) {
    Hold hold = lock.acquire({.wait = kSoon});
    ASSERT_EQ(hold.release(), ReleaseOutcome::released);
  }
  const std::uint64_t before = guest_->counters().commands;
  bool pinged = false;
  run([&]() -> awaitable<void> {  // behind all that waits
    co_await guest_->async_ping();
    pinged = true;
  }());
  EXPECT_TRUE(pinged);
  EXPECT_LE(guest_->counters().commands, before + 2010);
}

}  // namespace
}  // namespace holdfast::test::standing_still_test
