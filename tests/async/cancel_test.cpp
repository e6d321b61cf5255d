// SPDX-License-Identifier: Apache-2.0
// Cancellation, as Asio's users write it, and what it leaves behind: nothing.
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/parallel_group.hpp>

#include "async.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::cancel_test {
namespace {

using asio::cancellation_type;
using namespace asio::experimental::awaitable_operators;

class Cancel : public BothHomes {
 protected:
  /// Somebody else's hold.
  void take(const std::string& name) {
    put_held_lock(raw, name);
    raw.command("PEXPIRE", name, 60'000);
  }
  /// Whoever comes next has it at once: no message is missed, nothing of ours is in the way.
  void expect_free(const std::string& name) {
    Client next(config());
    EXPECT_TRUE(next.lock(name).try_acquire()) << name << " is not free";
  }

  Client client = make_client();
  Lock lock = client.lock("orders");
};

TEST_P(Cancel, CancelAfterEndsTheWait) {
  take("orders");
  run([&]() -> awaitable<void> {
    const auto began = steady_clock::now();
    std::tuple result = co_await lock.async_acquire(asio::cancel_after(50ms, asio::as_tuple(use_awaitable)));
    EXPECT_EQ(std::get<0>(result), Errc::cancelled);
    EXPECT_EQ(std::get<0>(result), std::errc::operation_canceled);
    EXPECT_FALSE(std::get<1>(result));
    EXPECT_GE(steady_clock::now() - began, 50ms);
    EXPECT_EQ(raw.hgetall("orders").count(kSomebodyElse), 1U);
    raw.command("DEL", "orders");
    Hold hold = co_await lock.async_acquire(asio::cancel_after(30s, use_awaitable));
    EXPECT_TRUE(hold);
  }());
}

TEST_P(Cancel, TheFirstOfTwoWinsAndTheOtherEnds) {
  take("orders");
  run([&]() -> awaitable<void> {
    // A timer is quicker than the lock, ...
    std::variant slow = co_await (lock.async_acquire(use_awaitable) || pause(30ms));
    EXPECT_EQ(slow.index(), 1U);
    // ... a free lock than a timer, ...
    std::variant quick = co_await (client.lock("free").async_acquire(use_awaitable) || pause(20s));
    EXPECT_EQ(quick.index(), 0U);
    EXPECT_TRUE(raw.exists("free"));
    // ... and one lock than another.
    std::variant either =
        co_await (lock.async_acquire(use_awaitable) || client.lock("also free").async_acquire(use_awaitable));
    EXPECT_EQ(either.index(), 1U);
  }());
  EXPECT_TRUE(turn_until([&] { return !raw.exists("free") && !raw.exists("also free"); }));
  raw.command("DEL", "orders");
  expect_free("orders");
}

TEST_P(Cancel, TheFirstOfAGroupWinsAndTheOthersLeaveNothing) {
  take("orders");
  run([&]() -> awaitable<void> {
    const auto executor = co_await asio::this_coro::executor;
    const auto one_of_us = asio::bind_executor(executor, asio::deferred);
    std::tuple result = co_await asio::experimental::make_parallel_group(lock.async_acquire(one_of_us),
                                                                         client.lock("free").async_acquire(one_of_us),
                                                                         lock.async_acquire({.wait = 20s}, one_of_us))
                            .async_wait(asio::experimental::wait_for_one_success(), use_awaitable);
    EXPECT_EQ(std::get<0>(result)[0], 1U) << "the free one completed first";
    EXPECT_EQ(std::get<1>(result), Errc::cancelled);
    EXPECT_TRUE(std::get<4>(result));
    EXPECT_EQ(std::get<5>(result), Errc::cancelled);
  }());
  EXPECT_TRUE(turn_until([&] { return !raw.exists("free"); })) << "the result was destroyed, and so given back";
  raw.command("DEL", "orders");
  expect_free("orders");
}

TEST_P(Cancel, BothOfTwoMayBeHad) {
  run([&]() -> awaitable<void> {
    std::tuple both = co_await (lock.async_acquire(use_awaitable) && client.lock("other").async_acquire(use_awaitable));
    EXPECT_TRUE(std::get<0>(both) && std::get<1>(both));
  }());
}

TEST_P(Cancel, EveryKindOfCancellationEndsAWait) {
  take("orders");
  for (const cancellation_type type :
       {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
    asio::cancellation_signal signal;
    std::optional<Failure> told;
    lock.async_acquire(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(context, [&](const Failure& failure, const Hold&) { told = failure; })));
    EXPECT_FALSE(turn_until([&] { return told.has_value(); }, 100ms));
    signal.emit(type);
    EXPECT_FALSE(told) << "not from within the emission";
    EXPECT_TRUE(turn_until([&] { return told.has_value(); }));
    EXPECT_EQ(*told, Errc::cancelled);
    signal.emit(type);  // once more, after its end: nothing happens
  }
}

TEST_P(Cancel, AReleaseGoesOnInTheBackground) {
  Config settings = config();
  settings.timing.release_timeout = 20s;
  Client patient = make_client(settings);
  std::optional<Hold> hold;
  run([&]() -> awaitable<void> { hold = co_await patient.lock("orders").async_acquire(); }());
  server.freeze();
  asio::cancellation_signal signal;
  std::optional<ReleaseOutcome> told;
  hold->async_release(asio::bind_cancellation_slot(
      signal.slot(), asio::bind_executor(context, [&](ReleaseOutcome outcome) { told = outcome; })));
  EXPECT_FALSE(turn_until([&] { return told.has_value(); }, 50ms));
  signal.emit(cancellation_type::total);
  EXPECT_FALSE(turn_until([&] { return told.has_value(); }, 50ms)) << "a release may have had its effect";
  signal.emit(cancellation_type::partial);
  EXPECT_TRUE(turn_until([&] { return told.has_value(); }));
  EXPECT_EQ(told, ReleaseOutcome::unknown);
  server.thaw();
  EXPECT_TRUE(turn_until([&] { return !raw.exists("orders"); }));
}

TEST_P(Cancel, QuestionsAreForgotten) {
  run([&]() -> awaitable<void> {
    server.freeze();
    std::tuple result = co_await lock.async_is_locked(asio::cancel_after(50ms, asio::as_tuple(use_awaitable)));
    EXPECT_EQ(std::get<0>(result), Errc::cancelled);
    server.thaw();
    EXPECT_FALSE(co_await lock.async_is_locked());
  }());
}

TEST_P(Cancel, EveryKindOfCancellationEndsAQuestionOfEachKind) {
  const Semaphore plain = client.semaphore("plain");
  const LeasedSemaphore leased = client.leased_semaphore("leased");
  const Latch latch = client.latch("latch");
  using Told = std::function<void(const Failure&)>;
  const auto to = [&](asio::cancellation_signal& signal, Told told) {
    return asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(context, [told](const Failure& failure, const auto&...) { told(failure); }));
  };
  const std::map<std::string, std::function<void(asio::cancellation_signal&, Told)>> questions = {
      {"is_locked", [&](auto& signal, Told told) { lock.async_is_locked(to(signal, told)); }},
      {"remaining", [&](auto& signal, Told told) { lock.async_remaining(to(signal, told)); }},
      {"info", [&](auto& signal, Told told) { lock.async_info(to(signal, told)); }},
      {"list", [&](auto& signal, Told told) { client.async_list("*", to(signal, told)); }},
      {"ping", [&](auto& signal, Told told) { client.async_ping(to(signal, told)); }},
      {"available", [&](auto& signal, Told told) { plain.async_available(to(signal, told)); }},
      {"available of leased", [&](auto& signal, Told told) { leased.async_available(to(signal, told)); }},
      {"count", [&](auto& signal, Told told) { latch.async_count(to(signal, told)); }},
  };
  run([&]() -> awaitable<void> { co_await client.async_ping(); }());
  server.freeze();
  for (const auto& [name, ask] : questions) {
    for (const auto type : {cancellation_type::terminal, cancellation_type::partial, cancellation_type::total}) {
      asio::cancellation_signal signal;
      std::optional<Failure> told;
      ask(signal, [&](const Failure& failure) { told = failure; });
      signal.emit(type);
      ASSERT_TRUE(turn_until([&] { return told.has_value(); })) << name;
      EXPECT_EQ(*told, Errc::cancelled) << name;
    }
  }
  server.thaw();
}

TEST_P(Cancel, TryingFailsWithCancelledButIsEmptyWhenTheCallerStopsIt) {
  take("orders");
  run([&]() -> awaitable<void> {
    const AcquireOptions patient{.wait = 20s};
    std::tuple cancelled =
        co_await lock.async_try_acquire(patient, asio::cancel_after(30ms, asio::as_tuple(use_awaitable)));
    EXPECT_EQ(std::get<0>(cancelled), Errc::cancelled);
    std::stop_source stop;
    const AcquireOptions stoppable{.wait = 20s, .stop = stop.get_token()};
    auto waiting = lock.async_try_acquire(stoppable, use_awaitable);
    std::jthread stopper([&] { stop.request_stop(); });
    std::optional<Hold> none = co_await std::move(waiting);
    EXPECT_FALSE(none);
  }());
}

/// While the server sleeps an attempt is under way; it is granted later, to nobody.
TEST_P(Cancel, AnAttemptUnderWayIsUndone) {
  run([&]() -> awaitable<void> {
    co_await client.async_ping();
    server.freeze();
    std::tuple result = co_await lock.async_acquire(asio::cancel_after(50ms, asio::as_tuple(use_awaitable)));
    EXPECT_EQ(std::get<0>(result), Errc::cancelled);
    server.thaw();
    co_await client.async_ping();  // behind the attempt
    const bool undone = co_await soon([&] { return !raw.exists("orders"); });
    EXPECT_TRUE(undone);
  }());
  expect_free("orders");
}

TEST_P(Cancel, TwentyThousandWaitersOfOneLockEndTogetherAndALeaseBesideThemIsRenewed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kWaiters = 5'000;  // a sanitizer needs ten times the time
#else
  constexpr int kWaiters = 20'000;
#endif
  take("orders");
  Hold beside;
  run([&]() -> awaitable<void> {
    beside = co_await client.lock("beside").async_acquire({.lease = renewed(6s)}, use_awaitable);
  }());
  std::vector<asio::cancellation_signal> signals(kWaiters);
  int cancelled = 0;
  for (asio::cancellation_signal& signal : signals) {
    lock.async_acquire(asio::bind_cancellation_slot(
        signal.slot(), asio::bind_executor(context, [&](const Failure& failure, const Hold&) {
          if (failure == Errc::cancelled) ++cancelled;
        })));
  }
  EXPECT_TRUE(turn_until([&] {
    const Reply reply = raw.command("PUBSUB", "NUMSUB", channel_of("orders"));
    return reply.elements[1].integer == 1;
  }));
  const std::uint64_t renewals = client.counters().renewals;
  for (asio::cancellation_signal& signal : signals) signal.emit(cancellation_type::terminal);
  EXPECT_TRUE(turn_until([&] { return cancelled == kWaiters; }));
  EXPECT_TRUE(turn_until([&] { return client.counters().renewals > renewals; }));
  EXPECT_FALSE(beside.is_lost());
  raw.command("DEL", "orders");
  expect_free("orders");
}

HOLDFAST_BOTH_HOMES(Cancel);

}  // namespace
}  // namespace holdfast::test::cancel_test
