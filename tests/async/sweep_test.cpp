// SPDX-License-Identifier: Apache-2.0
// Cancelled after the k-th step, for every k: each scenario runs once for each number of handlers after which it can be
// stopped, and never leaves anything behind: no key, no hold, no waiter in somebody's way, and (the leak check of the
// address sanitizer) no memory.
#include <boost/asio/bind_cancellation_slot.hpp>

#include "async.hpp"

namespace holdfast::test::sweep_test {
namespace {

using testing::IsEmpty;

/// Three servers, a client on the context for each, and one of somebody else's with a thread of its own.
class Sweep : public Async {
 public:
  /// So long that a key that is gone has been released.
  static Config settings(const RedisServer& on) {
    Config config = quick_config(on.url());
    config.lease = 60s;
    return config;
  }

  RedisServer second, third;
  Raw raw2{second}, raw3{third};
  Client client = client_on(context, settings(server));
  Client client2 = client_on(context, settings(second));
  Client client3 = client_on(context, settings(third));
  Client other{settings(server)};
  std::optional<Hold> others_hold;
  std::optional<Hold> kept;  // of the scenario's

  using Async::run;
  bool server_is_empty() { return raw.send({"KEYS", "*"}).elements.empty(); }
};

/// What is swept: a coroutine, and what happens outside of it when it has come to rest.
struct Scenario {
  const char* name;
  std::function<void(Sweep&)> prepare;
  std::function<awaitable<void>(Sweep&)> work;
  std::function<void(Sweep&)> at_rest;
};
void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

void nothing(Sweep&) {}
void others_acquire(Sweep& sweep) { sweep.others_hold = sweep.other.lock("orders").acquire(); }
void others_release(Sweep& sweep) { sweep.others_hold.reset(); }

awaitable<void> acquire_and_release(BasicLock lock) {
  Hold hold = co_await lock.async_acquire(use_awaitable);
  co_await hold.async_release(use_awaitable);
}

awaitable<void> acquire_and_drop(BasicLock lock) {
  const Hold hold = co_await lock.async_acquire(use_awaitable);
  co_await asio::post(use_awaitable);
}

awaitable<void> body(Hold& hold) {
  co_await asio::post(use_awaitable);
  co_await pause(1ms);
  EXPECT_GT(hold.valid_for(), 0ms);
}

/// One after another for the same lock, so that it is passed on inside the client.
awaitable<void> take_turns(Sweep& sweep) {
  Lock lock = sweep.client.lock("orders");
  Hold first = co_await lock.async_acquire(use_awaitable);
  auto second = asio::co_spawn(co_await asio::this_coro::executor, acquire_and_release(lock), asio::deferred);
  auto release = [&]() -> awaitable<void> {
    co_await asio::post(use_awaitable);
    co_await first.async_release(use_awaitable);
  };
  auto first_ends = asio::co_spawn(co_await asio::this_coro::executor, release(), asio::deferred);
  co_await asio::experimental::make_parallel_group(std::move(second), std::move(first_ends))
      .async_wait(asio::experimental::wait_for_all(), use_awaitable);
}

const Scenario kScenarios[] = {
    {"AFreeLock", nothing, [](Sweep& s) { return acquire_and_release(s.client.lock("orders")); }, nothing},
    {"AHoldThatIsDropped", nothing, [](Sweep& s) { return acquire_and_drop(s.client.lock("orders")); }, nothing},
    {"ALockOfSomebodyElse", others_acquire, [](Sweep& s) { return acquire_and_release(s.client.lock("orders")); },
     others_release},
    {"ALockOfTheSameClient",
     [](Sweep& s) {
       s.run([&s]() -> awaitable<void> { s.kept = co_await s.client.lock("orders").async_acquire(use_awaitable); }());
     },
     [](Sweep& s) { return acquire_and_release(s.client.lock("orders")); }, [](Sweep& s) { s.kept.reset(); }},
    {"ALockThatIsPassedOn", nothing, take_turns, nothing},
    {"ASimpleLock", nothing, [](Sweep& s) { return acquire_and_release(s.client.simple_lock("orders")); }, nothing},
    {"AWaitWithALimit", others_acquire,
     [](Sweep& s) -> awaitable<void> {
       const AcquireOptions options{.wait = 15ms};
       std::optional<Hold> hold = co_await s.client.lock("orders").async_try_acquire(options, use_awaitable);
       EXPECT_FALSE(hold);
     },
     [](Sweep&) {}},
    {"SeveralLocks", nothing, [](Sweep& s) { return acquire_and_release(s.client.multi_lock({"a", "b", "c"})); },
     nothing},
    {"SeveralServers", nothing,
     [](Sweep& s) { return acquire_and_release(MultiLock({s.client.lock("orders"), s.client2.lock("orders")})); },
     nothing},
    {"AMajority", nothing,
     [](Sweep& s) {
       return acquire_and_release(
           RedLock({s.client.lock("orders"), s.client2.lock("orders"), s.client3.lock("orders")}));
     },
     nothing},
    {"WithLock", nothing, [](Sweep& s) -> awaitable<void> { return with_lock(s.client.lock("orders"), &body); },
     nothing},
    {"WithLockOfSomebodyElse", others_acquire,
     [](Sweep& s) -> awaitable<void> { return with_lock(s.client.lock("orders"), &body); }, others_release},
    {"Questions", nothing,
     [](Sweep& s) -> awaitable<void> {
       co_await s.client.async_ping(use_awaitable);
       co_await s.client.lock("orders").async_info(use_awaitable);
       co_await s.client.lock("orders").async_force_release(use_awaitable);
       co_await s.client.async_list("*", use_awaitable);
     },
     nothing},
    {"TheWaitForALoss",
     [](Sweep& s) {
       s.run([&s]() -> awaitable<void> { s.kept = co_await s.client.lock("orders").async_acquire(use_awaitable); }());
     },
     [](Sweep& s) -> awaitable<void> { co_await s.kept->async_wait_lost(asio::as_tuple(use_awaitable)); },
     [](Sweep& s) { s.kept.reset(); }},
};

class CancelledAfterEveryStep : public Sweep, public testing::WithParamInterface<Scenario> {
 protected:
  /// One run, cancelled after this many handlers. False if it had come to its end before.
  bool cancelled_after(int steps, asio::cancellation_type type) {
    const Scenario& scenario = GetParam();
    scenario.prepare(*this);
    asio::cancellation_signal signal;
    int ended = 0;
    std::exception_ptr problem;
    asio::co_spawn(context, scenario.work(*this),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr thrown) {
                     ++ended;
                     problem = thrown;
                   }));
    bool rested = false;
    const auto step = [&] {
      context.restart();
      if (context.run_one_for(10ms) > 0) return;
      if (!std::exchange(rested, true)) scenario.at_rest(*this);
    };
    for (int i = 0; i < steps && ended == 0; ++i) step();
    const bool in_time = ended == 0;
    signal.emit(type);
    const auto end = steady_clock::now() + kPatience;
    while (ended == 0 && steady_clock::now() < end) step();
    EXPECT_EQ(ended, 1) << "it hangs";
    if (!in_time && problem) std::rethrow_exception(problem);
    expect_nothing_left();
    return in_time;
  }

  void expect_nothing_left() {
    others_hold.reset();
    kept.reset();
    EXPECT_TRUE(turn_until([&] { return server_is_empty(); }));
    for (Raw* each : {&raw2, &raw3}) {
      EXPECT_TRUE(turn_until([&] { return each->send({"KEYS", "*"}).elements.empty(); }));
    }
    EXPECT_TRUE(turn_until([&] {
      const Counters counters = client.counters();
      return counters.granted == counters.released + counters.lost;
    })) << "a hold is left";
    EXPECT_TRUE(turn_until([&] {
      const MaybeHold free = other.lock("orders").try_acquire();
      return free.has_value();
    })) << "somebody is in the way";
  }

  void sweep(asio::cancellation_type type) {
    run([&]() -> awaitable<void> {  // connected, so that the first steps are not always the same
      co_await client.async_ping();
      co_await client2.async_ping();
      co_await client3.async_ping();
    }());
    int steps = 0;
    while (!HasFailure() && cancelled_after(steps, type)) ++steps;
    EXPECT_GE(steps, 3) << "there was hardly anything to cancel";
    RecordProperty("steps", steps);
    close({&client, &client2, &client3});
  }
};

TEST_P(CancelledAfterEveryStep, LeavesNothingBehind) { sweep(asio::cancellation_type::terminal); }

TEST_P(CancelledAfterEveryStep, LeavesNothingBehindBeforeItIsConnected) {
  for (int steps = 0; steps < 12 && !HasFailure(); ++steps) {
    client = client_on(context, settings(server));
    cancelled_after(steps, asio::cancellation_type::terminal);
  }
  close({&client, &client2, &client3});
}

INSTANTIATE_TEST_SUITE_P(Of, CancelledAfterEveryStep, testing::ValuesIn(kScenarios),
                         [](const auto& of) { return std::string(of.param.name); });

/// With a thread of its own the client's steps cannot be counted, but cut at every moment.
TEST(CancelledAtEveryMoment, LeavesNothingBehind) {
  RedisServer server;
  Raw raw(server);
  asio::io_context context{1};
  Client client(Sweep::settings(server));
  client.ping();
  bool finished = false;
  int cancelled = 0;
  for (auto moment = 0us; !finished || moment < 500us; moment += 10us) {
    ASSERT_LT(moment, 1s);
    asio::cancellation_signal signal;
    bool ended = false;
    asio::co_spawn(context, with_lock(client.lock("orders"), &body),
                   asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr problem) {
                     ended = true;
                     finished = !problem;
                     if (problem) ++cancelled;
                   }));
    asio::steady_timer timer(context, moment);
    timer.async_wait([&](boost::system::error_code) { signal.emit(asio::cancellation_type::terminal); });
    context.restart();
    context.run_for(kPatience);
    ASSERT_TRUE(ended);
    ASSERT_TRUE(eventually([&] { return raw.send({"KEYS", "*"}).elements.empty(); }));
  }
  EXPECT_GT(cancelled, 10);
  EXPECT_TRUE(eventually([&] { return client.counters().granted == client.counters().released; }));
}

}  // namespace
}  // namespace holdfast::test::sweep_test
