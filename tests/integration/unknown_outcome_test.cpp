// SPDX-License-Identifier: Apache-2.0
// Acquires that are cancelled, or run out of time, at every point of their way: nothing is left behind.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/standstill.hpp"
#include "support/tried.hpp"

namespace holdfast::test::unknown_outcome_test {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::IsEmpty;
using testing::SizeIs;

class UnknownOutcome : public Faults {
 protected:
  UnknownOutcome() : Faults({.listen = ServerOptions::Listen::tcp}) {
    const Hold warm = Client(config()).lock("warm").acquire();
  }

  static void give_back(std::optional<Hold>& hold) {
    if (!hold) return;
    EXPECT_EQ(hold->release(), ReleaseOutcome::released);
  }

  /// Acquires, cancels after a while, and gives back what was granted all the same.
  static std::error_code acquire_and_cancel(Client& client, const std::string& name, std::chrono::microseconds after) {
    std::stop_source stop;
    std::error_code error;
    auto acquire = in_thread([&] {
      std::optional<Hold> hold = tried(client.lock(name), {.wait = 20s, .stop = stop.get_token()}, error);
      give_back(hold);
    });
    std::this_thread::sleep_for(after);
    stop.request_stop();
    EXPECT_LT(duration_of([&] { acquire.get(); }), 1s) << "a cancelled acquire returns at once";
    return error;
  }

  /// Requests may still be on their way, and what undoes them behind them; but all of it is over long before a lease.
  void expect_nothing_left() {
    auto empty_since = steady_clock::now();
    const auto stays_empty = [&] {
      const auto now = steady_clock::now();
      if (raw.command("DBSIZE").integer != 0) empty_since = now;
      return now - empty_since > 200ms;
    };
    EXPECT_TRUE(eventually(stays_empty, config().lease / 2)) << raw.command("DBSIZE").integer << " keys are left";
  }

  Proxy proxy{server};
};

TEST_F(UnknownOutcome, ACancelAtAnyPointOfTheWayLeavesNothing) {
  Client client(config(proxy.url()));
  client.ping();
  proxy.delay(Proxy::Direction::to_server, 6ms);
  proxy.delay(Proxy::Direction::to_client, 6ms);
  int cancelled = 0;
  int granted = 0;
  for (int i = 0; i < 60; ++i) {
    const std::error_code error =
        acquire_and_cancel(client, "orders:" + std::to_string(i), std::chrono::microseconds(i * 800));
    ASSERT_THAT(error, AnyOf(std::error_code(), code(Errc::cancelled)));
    ++(error ? cancelled : granted);
  }
  EXPECT_GT(cancelled, 10);
  EXPECT_GT(granted, 10);
  expect_nothing_left();
  EXPECT_LE(client.counters().not_granted, static_cast<std::uint64_t>(cancelled)) << "less: cancelled before the start";
  EXPECT_EQ(client.counters().granted, static_cast<std::uint64_t>(granted));
}

TEST_F(UnknownOutcome, ACancelWhileTheReplyIsLateLeavesNothing) {
  Client client(config(proxy.url()));
  client.ping();
  proxy.delay(Proxy::Direction::to_client, 150ms);
  EXPECT_EQ(acquire_and_cancel(client, "orders", 50ms), Errc::cancelled);
  EXPECT_TRUE(raw.exists("orders")) << "this is the point: it was granted, and nobody knows yet";
  expect_nothing_left();
}

TEST_F(UnknownOutcome, ACancelWhileWaitingLeavesNothing) {
  Client client(config(proxy.url()));
  put_held_lock(raw, "orders");
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(acquire_and_cancel(client, "orders", milliseconds(i)), Errc::cancelled);
  }
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(kSomebodyElse));
  raw.flushall();
  expect_nothing_left();
}

TEST_F(UnknownOutcome, ACancelAroundAHandOverLeavesNothing) {
  Client client(config(proxy.url()));
  Client other(config());
  proxy.delay(Proxy::Direction::to_server, 3ms);
  for (int i = 0; i < 30; ++i) {
    Hold hold = other.lock("orders").acquire();
    const std::uint64_t before = client.counters().commands;
    std::stop_source stop;
    std::error_code error;
    auto waiting = in_thread([&] {
      std::optional<Hold> next = tried(client.lock("orders"), {.wait = 20s, .stop = stop.get_token()}, error);
      give_back(next);
    });
    ASSERT_TRUE(eventually([&] { return client.counters().commands > before; }));
    std::this_thread::sleep_for(5ms);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    std::this_thread::sleep_for(std::chrono::microseconds(i * 300));
    stop.request_stop();
    waiting.get();
    ASSERT_THAT(error, AnyOf(std::error_code(), code(Errc::cancelled)));
  }
  expect_nothing_left();
}

TEST_F(UnknownOutcome, ATimeLimitThatEndsBeforeTheReplyLeavesNothing) {
  const Standstill still;
  Config settings = config(proxy.url());
  settings.timing.command_timeout = 150ms;
  Client client(settings);
  client.ping();
  const long long granted = raw.calls("hset");
  proxy.delay(Proxy::Direction::to_client, 400ms);
  const Timed once = timed_error_of([&] { return client.lock("once").try_acquire(); });
  const Timed limited = timed_error_of([&] { return client.lock("limited").acquire({.wait = 50ms}); });
  EXPECT_THAT(once.error, IsError(Errc::unknown_outcome, "once", client.node(), testing::HasSubstr("no reply within")));
  EXPECT_THAT(limited.error,
              IsError(Errc::unknown_outcome, "limited", client.node(), testing::HasSubstr("no reply within")));
  EXPECT_LT(limited.took, 350ms + still.total());
  EXPECT_GE(raw.calls("hset"), granted + 2) << "both were granted, though nobody knew";
  proxy.delay(Proxy::Direction::to_client, 0ms);
  expect_nothing_left();
  EXPECT_GE(client.counters().unknown, 2U);
  EXPECT_EQ(client.counters().failed, 2U);
}

TEST_F(UnknownOutcome, ACutAtAnyPointOfACancelledAcquireLeavesNothing) {
  Client client(config(proxy.url()));
  client.ping();
  proxy.delay(Proxy::Direction::to_server, 3ms);
  proxy.delay(Proxy::Direction::to_client, 3ms);
  for (int i = 0; i < 40; ++i) {
    auto cutter = in_thread([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 200));
      proxy.cut();
    });
    // Around the cut, sometimes before, sometimes behind it.
    const std::error_code error = acquire_and_cancel(client, "orders:" + std::to_string(i),
                                                     std::chrono::microseconds(i * 200 + (i % 5 - 2) * 1000));
    cutter.get();
    ASSERT_THAT(error, AnyOf(std::error_code(), code(Errc::cancelled)));
  }
  expect_nothing_left();
}

TEST_F(UnknownOutcome, ACutWithTheReplyUnderWayAndNoWayBackForAWhileLeavesNothing) {
  Client client(config(proxy.url()));
  client.ping();
  proxy.delay(Proxy::Direction::to_client, 100ms);
  auto acquire = in_thread([&] { return error_of([&] { return client.lock("orders").acquire({.wait = 300ms}); }); });
  ASSERT_TRUE(eventually([&] { return raw.exists("orders"); }));
  proxy.refuse(true);
  proxy.cut();
  const std::optional<Error> error = acquire.get();
  ASSERT_TRUE(error);
  EXPECT_THAT(error->code(), AnyOf(code(Errc::unknown_outcome), code(Errc::unreachable)));
  EXPECT_TRUE(raw.exists("orders"));
  proxy.refuse(false);
  expect_nothing_left();
}

TEST_F(UnknownOutcome, ManyWaitersWithOddLimitsLeaveNothing) {
  Client client(config(proxy.url()));
  Client other(config());
  proxy.delay(Proxy::Direction::to_client, 2ms);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        Lock lock = (i % 2 == 0 ? client : other).lock("orders");
        for (int round = 0; round < 40; ++round) {
          std::error_code error;
          std::optional<Hold> hold = tried(lock, {.wait = milliseconds((round * 7 + i) % 15)}, error);
          // Unknown, if the machine stands still for as long as an attempt may take.
          EXPECT_THAT(error,
                      AnyOf(std::error_code(), code(Errc::busy), code(Errc::timed_out), code(Errc::unknown_outcome)));
          give_back(hold);
        }
      });
    }
  }
  expect_nothing_left();
}

}  // namespace
}  // namespace holdfast::test::unknown_outcome_test
