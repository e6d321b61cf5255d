// SPDX-License-Identifier: Apache-2.0
// Holds that change, and go from one process to another, without blocking.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>

#include "async.hpp"

namespace holdfast::test::async_travel_test {
namespace {

using testing::_;
using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;

constexpr auto kAsTuple = asio::as_tuple(use_awaitable);

class AsyncTravel : public BothHomes {
 protected:
  long long left_of(const std::string& name) { return raw.command("PTTL", name).integer; }

  Client client = make_client();
  Lock lock = client.lock("orders");
  ReadWriteLock table = client.read_write_lock("table");
};
HOLDFAST_BOTH_HOMES(AsyncTravel);

TEST_P(AsyncTravel, AFixedLeaseIsSetAnew) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(2s)}, use_awaitable);
    const auto before = client.counters().commands;
    co_await hold.async_extend(1min, use_awaitable);
    EXPECT_EQ(client.counters().commands, before + 1);
    EXPECT_GT(hold.valid_for(), 55s);
    EXPECT_THAT(left_of("orders"), AllOf(Gt(55'000), Le(60'000)));
    co_await hold.async_release(use_awaitable);
  }());
}

TEST_P(AsyncTravel, AnExtensionIsToldTruthfully) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(1min)}, use_awaitable);
    raw.command("DEL", "orders");
    auto [failure] = co_await hold.async_extend(1min, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::lost);
    EXPECT_EQ(hold.loss_reason(), LossReason::taken);
    Hold renewed = co_await client.lock("renewed").async_acquire(use_awaitable);
    std::tie(failure) = co_await renewed.async_extend(1min, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::invalid_argument);
    std::tie(failure) = co_await Hold().async_extend(1min, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::not_owner);
  }());
}

TEST_P(AsyncTravel, AnExtensionWithoutAnAnswerLeavesTheEarlierEnd) {
  Config settings = config();
  settings.timing.command_timeout = 300ms;
  Client impatient = make_client(settings);
  run([&]() -> awaitable<void> {
    Hold hold = co_await impatient.lock("orders").async_acquire({.lease = fixed(20s)}, use_awaitable);
    server.freeze();
    const auto [failure] = co_await hold.async_extend(1h, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::unknown_outcome);
    EXPECT_THAT(hold.valid_for(), AllOf(Gt(5s), Le(20s)));
    server.thaw();
  }());
  close({&client, &impatient});
}

TEST_P(AsyncTravel, ACancelledExtensionGoesOn) {
  asio::cancellation_signal cancel;
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(20s)}, use_awaitable);
    server.freeze();
    std::optional<Failure> ended;
    hold.async_extend(
        1h, asio::bind_cancellation_slot(
                cancel.slot(), asio::bind_executor(context, [&](const Failure& failure) { ended = failure; })));
    cancel.emit(asio::cancellation_type::terminal);
    EXPECT_TRUE(co_await soon([&] { return ended.has_value(); }));
    EXPECT_EQ(ended->code(), Errc::cancelled);
    server.thaw();
    EXPECT_TRUE(co_await soon([&] { return hold.valid_for() > 30min; }));
  }());
}

TEST_P(AsyncTravel, AHoldGoesToAnotherClientAndIsRenewedThere) {
  Client other = make_client();
  run([&]() -> awaitable<void> {
    Hold hold = co_await client.fenced_lock("orders").async_acquire({.lease = fixed(1min)}, use_awaitable);
    const std::string owner = hold.owner();
    const std::string ticket = hold.detach();
    Hold there = co_await other.fenced_lock("orders").async_adopt(ticket, use_awaitable);
    EXPECT_EQ(there.owner(), owner);
    EXPECT_EQ(there.token(), 1);
    EXPECT_GT(there.valid_for(), 50s);
    EXPECT_EQ(other.counters().holding, 1U);
    EXPECT_EQ(co_await there.async_release(use_awaitable), ReleaseOutcome::released);
    EXPECT_FALSE(raw.exists("orders"));
    const auto [failure, none] = co_await other.fenced_lock("orders").async_adopt(ticket, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::lost);
    EXPECT_FALSE(none);
  }());
  close({&client, &other});
}

TEST_P(AsyncTravel, AnAdoptionTakesOptionsAndRefusesWhatIsNoTicketOfIt) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(1min)}, use_awaitable);
    const std::string ticket = hold.detach();
    auto [failure, none] = co_await client.lock("other").async_adopt(ticket, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::invalid_argument);
    std::tie(failure, none) = co_await lock.async_adopt("no ticket", kAsTuple);
    EXPECT_EQ(failure.code(), Errc::invalid_argument);
    Hold again = co_await lock.async_adopt(ticket, {.lease = fixed(1h)}, use_awaitable);
    EXPECT_GT(again.valid_for(), 50min);
    co_await again.async_release(use_awaitable);
  }());
}

/// What a handle says of its holds' ends is true of adopted ones, too.
TEST_P(AsyncTravel, TheEndOfAnAdoptedHoldWaitsIfItsHandleSaysSo) {
  if (home() == Home::caller) GTEST_SKIP() << "an end that waits would wait for its own thread";
  Config settings = config();
  settings.timing.release_timeout = 1s;
  Client patient = make_client(settings);
  for (const bool waits : {false, true}) {
    run([&]() -> awaitable<void> {
      Hold hold = co_await lock.async_acquire({.lease = fixed(1min)}, use_awaitable);
      const std::string ticket = hold.detach();
      const Lock handle = patient.lock("orders", {.end_waits = waits});
      std::optional<Hold> adopted(co_await handle.async_adopt(ticket, use_awaitable));
      server.freeze();
      const auto took = duration_of([&] { adopted.reset(); });
      server.thaw();
      EXPECT_EQ(took >= 900ms, waits);
      EXPECT_TRUE(co_await soon([&] { return !raw.exists("orders"); }));
    }());
  }
}

TEST_P(AsyncTravel, ACancelledAdoptionLeavesTheTicketGood) {
  asio::cancellation_signal cancel;
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire({.lease = fixed(1min)}, use_awaitable);
    const std::string ticket = hold.detach();
    server.freeze();
    std::optional<Failure> ended;
    lock.async_adopt(ticket, asio::bind_cancellation_slot(
                                 cancel.slot(),
                                 asio::bind_executor(context, [&](const Failure& failure, Hold) { ended = failure; })));
    cancel.emit(asio::cancellation_type::total);
    EXPECT_TRUE(co_await soon([&] { return ended.has_value(); }));
    EXPECT_EQ(ended->code(), Errc::cancelled);
    server.thaw();
    co_await client.async_ping(use_awaitable);  // behind its answer
    EXPECT_EQ(client.counters().holding, 0U);
    EXPECT_TRUE(raw.exists("orders")) << "it is not given back either";
    Hold again = co_await lock.async_adopt(ticket, use_awaitable);
    EXPECT_EQ(co_await again.async_release(use_awaitable), ReleaseOutcome::released);
  }());
}

TEST_P(AsyncTravel, AWriterGoesOnAsAReader) {
  Client other = make_client();
  run([&]() -> awaitable<void> {
    Hold hold = co_await table.writer().async_acquire(use_awaitable);
    MaybeHold none = co_await other.read_write_lock("table").reader().async_try_acquire(use_awaitable);
    EXPECT_FALSE(none);
    co_await table.async_downgrade(hold, use_awaitable);
    co_await table.async_downgrade(hold, use_awaitable);  // it reads already
    MaybeHold reader = co_await other.read_write_lock("table").reader().async_try_acquire(use_awaitable);
    EXPECT_TRUE(reader);
    MaybeHold writer = co_await other.read_write_lock("table").writer().async_try_acquire(use_awaitable);
    EXPECT_FALSE(writer);
    EXPECT_GT(hold.valid_for(), 0ms);
    co_await hold.async_release(use_awaitable);
    co_await (*std::move(reader)).async_release(use_awaitable);
    EXPECT_FALSE(raw.exists("table"));
  }());
  close({&client, &other});
}

TEST_P(AsyncTravel, ADowngradeIsToldTruthfully) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await table.writer().async_acquire(use_awaitable);
    Hold other = co_await lock.async_acquire(use_awaitable);
    auto [failure] = co_await table.async_downgrade(other, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::invalid_argument);
    std::tie(failure) = co_await table.async_downgrade(Hold(), kAsTuple);
    EXPECT_EQ(failure.code(), Errc::invalid_argument);
    raw.command("DEL", "table");
    std::tie(failure) = co_await table.async_downgrade(hold, kAsTuple);
    EXPECT_EQ(failure.code(), Errc::lost);
    EXPECT_TRUE(hold.is_lost());
  }());
}

TEST_P(AsyncTravel, AllHoldsAreGivenBack) {
  run([&]() -> awaitable<void> {
    Hold hold = co_await lock.async_acquire(use_awaitable);
    const Hold writer = co_await table.writer().async_acquire(use_awaitable);
    EXPECT_EQ(co_await client.async_release_all(1min, use_awaitable), 0U);
    EXPECT_FALSE(raw.exists("orders"));
    EXPECT_FALSE(raw.exists("table"));
    EXPECT_EQ(hold.loss_reason(), LossReason::closed);
    Hold again = co_await lock.async_acquire(use_awaitable);
    EXPECT_EQ(co_await again.async_release(use_awaitable), ReleaseOutcome::released) << "the client stays usable";
  }());
}

TEST_P(AsyncTravel, GivingAllBackSaysWhatIsNotConfirmedInTime) {
  run([&]() -> awaitable<void> {
    const Hold hold = co_await lock.async_acquire(use_awaitable);
    server.freeze();
    EXPECT_EQ(co_await client.async_release_all(50ms, use_awaitable), 1U);
    server.thaw();
    EXPECT_TRUE(co_await soon([&] { return !raw.exists("orders"); })) << "it goes on";
  }());
}

}  // namespace
}  // namespace holdfast::test::async_travel_test
