// SPDX-License-Identifier: Apache-2.0
// A client on the caller's io_context: no thread, nothing that waits, and an orderly end however the context ends.
#include <filesystem>
#include <thread>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_future.hpp>

#include "async.hpp"
#include "support/counter.hpp"
#include "support/held_lock.hpp"
#include "support/names.hpp"

namespace holdfast::test::guest_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::size_t threads_of_this_process() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// A thread that was joined may still be in the list for a moment.
std::size_t threads_that_stay() {
  std::size_t threads = threads_of_this_process();
  for (std::size_t before = 0; before != threads; threads = threads_of_this_process()) {
    before = threads;
    std::this_thread::sleep_for(50ms);
  }
  return threads;
}

class Guest : public Async {
 protected:
  explicit Guest(ServerOptions options = {}) : Async(std::move(options)) {}
};

TEST_F(Guest, HasNoThread) {
  const std::size_t before = threads_that_stay();
  Client client = make_client();
  bool told = false;
  run([&]() -> awaitable<void> {
    AcquireOptions options;
    options.on_lost = [&](const LostEvent&) { told = true; };
    Hold hold = co_await client.lock("orders").async_acquire(options);
    const std::stop_callback seen(hold.lost_token(), [] {});
    raw.command("DEL", "orders");
    EXPECT_TRUE(co_await soon([&] { return told; }));
    EXPECT_TRUE(hold.lost_token().stop_requested());
  }());
  EXPECT_EQ(threads_that_stay(), before);
  EXPECT_EQ(log->count("granted"), 1U) << "and still the observer is told";
  close(client);
  EXPECT_EQ(threads_that_stay(), before);
}

class GuestOnTcp : public Guest {
 protected:
  GuestOnTcp() : Guest({.listen = ServerOptions::Listen::tcp}) {}
};

TEST_F(GuestOnTcp, HasNoThreadForAnAddressEither) {
  const std::size_t before = threads_that_stay();
  Client client = make_client();
  run([&]() -> awaitable<void> { co_await client.async_ping(); }());
  EXPECT_EQ(threads_that_stay(), before);
  close(client);
}

TEST_F(Guest, RefusesCallsThatWouldWaitForThemselves) {
  Client client = make_client();
  Lock lock = client.lock("orders");
  const auto refused = IsError(Errc::would_deadlock, "orders", client.node(), HasSubstr("async.hpp"));
  EXPECT_THAT(error_of([&] { return lock.acquire(); }), refused);
  EXPECT_THAT(error_of([&] { return lock.acquire(); })->what(), testing::Not(HasSubstr("holds it"))) << "nobody does";
  EXPECT_THAT(error_of([&] { return lock.try_acquire(); }), refused);
  EXPECT_THAT(error_of([&] { return (lock.lock(), 0); }), refused);
  EXPECT_THAT(error_of([&] { return lock.try_lock(); }), refused);
  EXPECT_THAT(error_of([&] { return lock.is_locked(); }), refused);
  EXPECT_THAT(error_of([&] { return lock.force_release(); }), refused);
  EXPECT_EQ(error_of([&] { return (client.ping(), 0); })->code(), Errc::would_deadlock);
  EXPECT_EQ(error_of([&] { return client.list(); })->code(), Errc::would_deadlock);
  close(client);
}

TEST_F(Guest, AHoldsEndDoesNotWaitForTheServer) {
  Config settings = config();
  settings.timing.release_timeout = 20s;
  Client client = make_client(settings);
  std::optional<Hold> first, second;
  run([&]() -> awaitable<void> {
    first = co_await client.lock("first").async_acquire();
    second = co_await client.lock("second").async_acquire();
  }());
  server.freeze();
  EXPECT_LT(duration_of([&] { first.reset(); }), 5s);
  EXPECT_LT(duration_of([&] { EXPECT_EQ(second->release(), ReleaseOutcome::unknown); }), 5s);
  server.thaw();
  EXPECT_TRUE(turn_until([&] { return !raw.exists("first") && !raw.exists("second"); }));
  close(client);
}

/// Nobody has looked at the clock since: neither the client, whose context stands still, nor the holder.
TEST_F(Guest, AReleaseAfterTheDeadlineFindsTheLossItself) {
  Client client = make_client();
  std::optional<Hold> hold;
  run([&]() -> awaitable<void> { hold = co_await client.lock("orders").async_acquire({.lease = fixed(200ms)}); }());
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(hold->release(), ReleaseOutcome::unknown);
  EXPECT_EQ(hold->loss_reason(), LossReason::expired);
  EXPECT_TRUE(turn_until([&] { return log->count("lost") == 1 && log->count("released") == 1; }));
  EXPECT_EQ(client.counters().lost, 1U);
  close(client);
}

TEST_F(Guest, TheContextRunsOutOfWorkOnceTheClientIsClosed) {
  Client client = make_client();
  std::optional<Hold> hold;
  Failure failure;
  asio::co_spawn(
      context,
      [&]() -> awaitable<void> {
        hold = co_await client.lock("orders").async_acquire();
        std::tuple waited = co_await client.lock("orders").async_acquire(asio::as_tuple(use_awaitable));
        failure = std::get<0>(waited);
      },
      asio::detached);
  asio::co_spawn(
      context,
      [&]() -> awaitable<void> {
        const bool held = co_await soon([&] { return hold.has_value(); });
        EXPECT_TRUE(held);
        co_await client.async_close();
        EXPECT_FALSE(raw.exists("orders")) << "given back before the close is over";
      },
      asio::detached);
  EXPECT_GT(context.run_for(kPatience), 0U);
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(failure, Errc::closed);
  EXPECT_EQ(hold->state(), HoldState::lost);
  EXPECT_THAT(log->details("lost"), ElementsAre("closed"));
  run([&]() -> awaitable<void> { co_await client.async_close(); }());  // again: at once
}

TEST_F(Guest, TheDestructorClosesInTheBackground) {
  std::optional<Hold> hold;
  {
    Client client = make_client();
    run([&]() -> awaitable<void> { hold = co_await client.lock("orders").async_acquire(); }());
  }
  EXPECT_TRUE(raw.exists("orders"));
  context.restart();
  context.run_for(kPatience);
  EXPECT_TRUE(context.stopped()) << "it ran out of work";
  EXPECT_FALSE(raw.exists("orders"));
  EXPECT_EQ(hold->valid_for(), 0ms);
}

/// Between the close and the moment in which the loop comes to it nobody has the hold any more.
TEST_F(Guest, AHoldThatGoesWhileItsClientIsClosingEndsAsTheClientsHoldsDo) {
  const std::function<void(Hold)> ways[] = {
      [](const Hold&) {},
      [](Hold hold) { hold.release(); },
      [](Hold hold) { hold.leave(1min); },
      [](Hold hold) { hold.async_release(asio::detached); },
  };
  for (const OnClose on_close : {OnClose::release, OnClose::leave_to_expire}) {
    for (const auto& go : ways) {
      Config settings = config();
      settings.on_close = on_close;
      Client client = make_client(settings);
      Hold hold;
      run([&]() -> awaitable<void> { hold = co_await client.lock("orders").async_acquire(); }());
      client.close();
      go(std::move(hold));
      close(client);
      EXPECT_EQ(raw.exists("orders"), on_close == OnClose::leave_to_expire);
      raw.command("DEL", "orders");
    }
  }
}

/// Everything that can be under way, and then the context is gone. The leak check of the address sanitizer is the judge
/// of what is left; none of the handlers may run.
TEST_F(Guest, TheContextMayBeDestroyedWithEverythingUnderWay) {
  for (const int turns : {0, 1, 2, 3, 5, 10, 20, 50, 200}) {
    auto own = std::make_unique<asio::io_context>();
    std::optional<Client> client = client_on(*own, config());
    int handlers = 0;
    const auto count = [&](auto&&...) { ++handlers; };
    asio::cancellation_signal signal;
    for (const char* name : {"a", "a", "a", "b", "c"}) {
      asio::co_spawn(
          *own,
          [&, name]() -> awaitable<void> {
            Lock lock = client->lock(name);
            Hold hold = co_await lock.async_acquire();
            co_await (hold.async_wait_lost(use_awaitable));
            count();
          },
          count);
      client->lock(name).async_acquire(asio::bind_cancellation_slot(signal.slot(), count));
      client->lock(name).async_is_locked(count);
    }
    client->async_list("*", count);
    own->poll();
    for (int i = 0; i < turns; ++i) own->run_one_for(1ms);
    if (turns == 200) client->async_close(count);
    const int before = handlers;
    client.reset();
    own.reset();
    EXPECT_EQ(handlers, before);
    raw.command("FLUSHALL");
  }
}

/// What an end of the context leaves: nothing, not even a client that some waiter keeps alive.
class EndOfContext : public Guest {
 protected:
  void end() {
    const std::weak_ptr<EventLog> kept_by_the_client = observer;
    observer.reset();
    lock.reset();
    client.reset();
    own.reset();
    EXPECT_TRUE(kept_by_the_client.expired()) << "the client lives on";
  }
  Config observed() {
    Config settings = config();
    settings.observer = observer;
    return settings;
  }
  void turn_own_until(const std::function<bool()>& predicate) {
    EXPECT_TRUE(eventually([&] {
      own->run_for(2ms);
      return predicate();
    }));
  }

  std::shared_ptr<EventLog> observer = std::make_shared<EventLog>();
  std::unique_ptr<asio::io_context> own = std::make_unique<asio::io_context>();
  std::optional<Client> client = client_on(*own, observed());
  std::optional<Lock> lock = client->lock("orders");
};

TEST_F(EndOfContext, ReachesThoseBehindTheFirstInTheQueue) {
  put_held_lock(raw, "orders");
  for (int i = 0; i < 3; ++i) {
    lock->async_acquire([](auto&&...) { ADD_FAILURE() << "called"; });
  }
  turn_own_until([&] { return raw.command("PUBSUB", "NUMSUB", channel_of("orders")).elements.at(1).integer == 1; });
  end();
}

TEST_F(EndOfContext, ReachesWhoWasCancelledWhileAReplyWasOnItsWay) {
  lock->async_acquire([](auto&&...) {});
  turn_own_until([&] { return observer->count("released") == 1; });
  server.freeze();
  asio::cancellation_signal signal;
  int cancelled = 0;
  lock->async_acquire(asio::bind_cancellation_slot(signal.slot(), [&](auto&&...) { ++cancelled; }));
  own->run_for(20ms);
  signal.emit(asio::cancellation_type::all);
  turn_own_until([&] { return cancelled == 1; });
  end();
  server.thaw();
}

TEST_F(Guest, EndsWhileItsNameIsLookedUp) {
  Name name("silent.test");
  name.silent(true);
  Config settings = config("redis://silent.test");
  {
    asio::io_context own;
    std::optional<Client> client = client_on(own, settings);
    own.run_for(50ms);
    EXPECT_FALSE(own.stopped()) << "it is open";
    bool closed = false;
    client->async_close([&] { closed = true; });
    EXPECT_LT(duration_of([&] { own.run(); }), 1s);
    EXPECT_TRUE(closed);
  }
  {
    asio::io_context own;
    const Client client = client_on(own, settings);
    own.run_for(50ms);
  }
  EXPECT_TRUE(eventually([&] { return name.asked() == 2; }));
}

TEST_F(Guest, SeveralThreadsMayRunTheContext) {
  constexpr int kCoroutines = 32, kTimes = 20;
  const auto lost_counts = [this](bool locked) {
    asio::io_context shared;
    Client client = client_on(shared, config());
    Client other = client_on(shared, config());
    Counter counter;
    std::atomic<int> ended{0};
    for (int i = 0; i < kCoroutines; ++i) {
      asio::co_spawn(
          shared,
          [&, i]() -> awaitable<void> {
            Lock lock = (i % 2 == 0 ? client : other).lock("orders");
            for (int n = 0; n < kTimes; ++n) {
              std::optional<Hold> hold;
              if (locked) hold = co_await lock.async_acquire();
              const long long before = counter.read();
              co_await asio::post(asio::use_awaitable);  // others may come in between, on any of the threads
              counter.write_next(before);
              if (!hold) continue;
              EXPECT_EQ(co_await hold->async_release(), ReleaseOutcome::released);
            }
          },
          [&](std::exception_ptr problem) {
            EXPECT_FALSE(problem);
            if (++ended < kCoroutines) return;
            client.async_close(asio::detached);
            other.async_close(asio::detached);
          });
    }
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { shared.run_for(kPatience); });
    threads.clear();
    EXPECT_EQ(counter.calls(), kCoroutines * kTimes);
    return counter.lost();
  };
  EXPECT_EQ(lost_counts(true), 0);
  EXPECT_GT(lost_counts(false), 0) << "the control";
}

TEST_F(Guest, ServesItsWaitersThroughARestartOfTheServer) {
  Client client = make_client();
  run([&]() -> awaitable<void> {
    Hold hold = co_await client.lock("orders").async_acquire();
    server.restart(Data::lose);
    std::tuple lost = co_await hold.async_wait_lost(asio::as_tuple(use_awaitable));
    EXPECT_FALSE(std::get<0>(lost));
    EXPECT_EQ(std::get<1>(lost), LossReason::taken);
    Hold again = co_await client.lock("orders").async_acquire();
    EXPECT_GT(again.valid_for(), 0ms);
    EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::was_lost);
  }());
  close(client);
}

/// The context stands still for longer than the lease: nothing is renewed, and whoever looks knows it.
TEST_F(Guest, AHandlerThatBlocksTheContextLosesTheHoldAndIsTold) {
  Client client = make_client();
  run([&]() -> awaitable<void> {
    Hold hold = co_await client.lock("orders").async_acquire({.lease = renewed(300ms)});
    while (raw.exists("orders")) std::this_thread::sleep_for(1ms);
    EXPECT_EQ(hold.valid_for(), 0ms);
    EXPECT_TRUE(hold.lost_token().stop_requested());
    std::tuple lost = co_await hold.async_wait_lost(asio::as_tuple(use_awaitable));
    EXPECT_EQ(std::get<1>(lost), LossReason::expired);
    EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::was_lost);
  }());
  close(client);
}

TEST_F(Guest, AServerThatIsNotThereIsToldAtOnce) {
  Config settings = config();
  settings.server = UnixSocket{"/nonexistent/holdfast.sock"};
  Client client = make_client(settings);
  run([&]() -> awaitable<void> {
    std::tuple result = co_await client.lock("orders").async_acquire(asio::as_tuple(use_awaitable));
    EXPECT_EQ(std::get<0>(result), Errc::unreachable);
    EXPECT_THAT(std::get<0>(result).what(), HasSubstr("/nonexistent/holdfast.sock"));
  }());
  close(client);
}

}  // namespace
}  // namespace holdfast::test::guest_test
