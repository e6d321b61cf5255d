// SPDX-License-Identifier: Apache-2.0
// A client with threads of its own, and contexts that end before it: what was to run there ends with them.
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include "async.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::end_of_context_test {
namespace {

/// Says when it is destroyed.
struct Passenger {
  explicit Passenger(bool& flag) : gone(&flag) {}
  Passenger(Passenger&& other) noexcept : gone(std::exchange(other.gone, nullptr)) {}
  Passenger& operator=(Passenger&&) = delete;
  ~Passenger() {
    if (gone != nullptr) *gone = true;
  }
  bool* gone;
};

class ContextEndsFirst : public Faults {
 protected:
  void taken(const std::string& name) {
    put_held_lock(raw, name);
    raw.command("PEXPIRE", name, 60'000);
  }
  /// Whoever waited there does not any more, nor has it: the next comer is served at once, and gives it back.
  void expect_free(const std::string& name) {
    raw.command("DEL", name);
    Hold hold = client.lock(name).acquire({.wait = kPatience});
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_FALSE(raw.exists(name));
  }
  bool has_waiter(const std::string& name) {
    return raw.command("PUBSUB", "NUMSUB", channel_of(name)).elements.at(1).integer == 1;
  }
  static auto never(Passenger passenger) {
    return [passenger = std::move(passenger)](const Failure&, const Hold&) { ADD_FAILURE() << "called"; };
  }

  Client client{config()};
};

TEST_F(ContextEndsFirst, WithACoroutineThatWaits) {
  taken("orders");
  bool gone = false;
  {
    asio::io_context context;
    asio::co_spawn(
        context,
        [&]() -> awaitable<void> {
          const Passenger passenger(gone);
          const asio::steady_timer timer(context, 30s);  // it dies with its service, at the latest
          const Hold hold = co_await client.lock("orders").async_acquire(use_awaitable);
          ADD_FAILURE() << "granted";
        },
        asio::detached);
    EXPECT_TRUE(eventually([&] {
      context.run_for(2ms);
      return has_waiter("orders");
    }));
  }
  EXPECT_TRUE(gone) << "the coroutine goes with its context";
  expect_free("orders");
}

TEST_F(ContextEndsFirst, WithACallback) {
  taken("orders");
  bool gone = false;
  {
    asio::io_context context;
    client.lock("orders").async_acquire(asio::bind_executor(context, never(Passenger(gone))));
    EXPECT_TRUE(eventually([&] { return has_waiter("orders"); }));
  }
  EXPECT_TRUE(gone);
  EXPECT_TRUE(eventually([&] { return client.counters().not_granted == 1; })) << "the wait ends as well";
  expect_free("orders");
}

TEST_F(ContextEndsFirst, WithAFutureAndWithADeferredOperation) {
  taken("orders");
  std::future<Hold> future;
  bool gone = false;
  {
    asio::io_context context;
    future = client.lock("orders").async_acquire(asio::bind_executor(context, asio::use_future));
    auto deferred = client.lock("orders").async_acquire(asio::bind_executor(context, asio::deferred));
    std::move(deferred)(never(Passenger(gone)));
    EXPECT_TRUE(eventually([&] { return has_waiter("orders"); }));
  }
  EXPECT_TRUE(gone);
  ASSERT_TRUE(ready(future));
  EXPECT_THROW(static_cast<void>(future.get()), std::future_error) << "a broken promise";
  expect_free("orders");
}

TEST_F(ContextEndsFirst, OnAPoolOfThreadsOnAStrandAndBehindAnyExecutor) {
  taken("orders");
  bool gone[3] = {};
  {
    asio::thread_pool pool(2);
    const asio::any_io_executor any = pool.get_executor();
    client.lock("orders").async_acquire(asio::bind_executor(pool, never(Passenger(gone[0]))));
    client.lock("orders").async_acquire(asio::bind_executor(any, never(Passenger(gone[1]))));
    client.lock("orders").async_acquire(asio::bind_executor(asio::make_strand(any), never(Passenger(gone[2]))));
    EXPECT_TRUE(eventually([&] { return has_waiter("orders"); }));
  }
  EXPECT_TRUE(gone[0] && gone[1] && gone[2]);
  expect_free("orders");
}

/// A client on one context, and a handler on another.
TEST_F(ContextEndsFirst, WhereTheClientRunsOnAnotherContext) {
  taken("orders");
  bool gone = false;
  asio::io_context home;
  Client guest = client_on(home, config());
  {
    asio::io_context context;
    guest.lock("orders").async_acquire(asio::bind_executor(context, never(Passenger(gone))));
    EXPECT_TRUE(eventually([&] {
      home.run_for(2ms);
      return has_waiter("orders");
    }));
  }
  EXPECT_TRUE(gone);
  guest.async_close(asio::detached);
  home.run_for(kPatience);
  EXPECT_TRUE(home.stopped());
  expect_free("orders");
}

TEST_F(ContextEndsFirst, WithEveryKindOfOperation) {
  Hold hold = client.lock("held").acquire();
  const Hold watched = client.lock("watched").acquire();
  Client closing{config()};
  taken("orders");
  server.freeze();
  {
    asio::io_context context;
    const auto uncalled = asio::bind_executor(context, [](auto&&...) { ADD_FAILURE() << "called"; });
    const Lock lock = client.lock("orders");
    lock.async_acquire(uncalled);
    lock.async_try_acquire(uncalled);
    lock.async_is_locked(uncalled);
    lock.async_is_held_by(kSomebodyElse, uncalled);
    lock.async_remaining(uncalled);
    lock.async_info(uncalled);
    lock.async_force_release("nobody:1", uncalled);
    lock.async_acquire({.lease = fixed(1ms)}, uncalled);  // known at once to be refused
    client.async_ping(uncalled);
    client.async_list("*", uncalled);
    hold.async_release(uncalled);
    watched.async_wait_lost(uncalled);
    closing.async_close(uncalled);
  }
  server.thaw();
  EXPECT_TRUE(eventually([&] { return !raw.exists("held"); })) << "a release goes on";
  EXPECT_TRUE(raw.exists("watched"));
  EXPECT_GT(watched.valid_for(), 0ms);
  expect_free("orders");
}

/// The handler's memory, too, may be gone once its context is.
struct Arena {
  bool open = true;
  long taken = 0;
};
template <class T>
struct FromArena {
  using value_type = T;
  explicit FromArena(Arena& from) : arena(&from) {}
  template <class U>
  explicit(false) FromArena(const FromArena<U>& other) : arena(other.arena) {}
  T* allocate(std::size_t n) {
    arena->taken += static_cast<long>(n * sizeof(T));
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* place, std::size_t n) {
    EXPECT_TRUE(arena->open);
    arena->taken -= static_cast<long>(n * sizeof(T));
    std::allocator<T>().deallocate(place, n);
  }
  template <class U>
  friend bool operator==(const FromArena& a, const FromArena<U>& b) {
    return a.arena == b.arena;
  }
  Arena* arena;
};

TEST_F(ContextEndsFirst, TheHandlersMemoryIsGivenBackByThen) {
  taken("orders");
  bool gone = false;
  Arena arena;
  {
    asio::io_context context;
    client.lock("orders").async_acquire(
        asio::bind_allocator(FromArena<int>(arena), asio::bind_executor(context, never(Passenger(gone)))));
    EXPECT_GT(arena.taken, 0);
    EXPECT_TRUE(eventually([&] { return has_waiter("orders"); }));
  }
  EXPECT_EQ(arena.taken, 0);
  arena.open = false;
  expect_free("orders");
}

/// The end of the context and the end of the operation at the same time, a little earlier and a little later, from one
/// thread and from several: a grant on its way is given back.
TEST_F(ContextEndsFirst, AtWhateverMoment) {
  constexpr int kRounds = 400;
  Config settings = config();  // only a message ends a wait in time
  settings.lease = settings.timing.safety_poll = 2 * kPatience;
  const Client asks(settings);
  const auto attempt = [&](const auto& executor) {
    asks.lock("orders").async_acquire(
        asio::bind_executor(executor, [](const Failure&, Hold hold) { hold.async_release(asio::detached); }));
  };
  for (int round = 0; round < kRounds; ++round) {
    const auto moment = std::chrono::microseconds(round % 100 * 5);
    {
      asio::io_context context;
      asio::thread_pool pool(1);
      for (int i = 0; i < 3; ++i) {
        attempt(context.get_executor());
        attempt(asio::any_io_executor(pool.get_executor()));
      }
      context.run_for(moment);
    }
    ASSERT_TRUE(asks.lock("orders").try_acquire({.wait = kPatience})) << "round " << round;
  }
}

/// Keeps itself until it is abandoned, and a stay for as long as it lives.
class Keeper final : public detail::Operation, public std::enable_shared_from_this<Keeper> {
 public:
  explicit Keeper(asio::io_context& context) : stay_(detail::stay_on(context)) {}
  void start() override {
    self_ = shared_from_this();
    EXPECT_TRUE(stay_->begin(self_));
  }
  void cancel() noexcept override {}
  void abandon() noexcept override { self_.reset(); }

 private:
  detail::StayPtr stay_;
  std::shared_ptr<Keeper> self_;
};

/// The end of the context has the last reference to the operation then. A stay that ends takes the mutex of all that
/// are with the context: this hangs if that is locked.
TEST_F(ContextEndsFirst, WithNobodyElseToReferToAnOperation) {
  std::weak_ptr<Keeper> gone;
  {
    asio::io_context context;
    auto keeper = std::make_shared<Keeper>(context);
    keeper->start();
    gone = keeper;
    keeper.reset();
  }
  EXPECT_TRUE(gone.expired());
}

/// The client's own context ends, and takes a handler along that owns the context it was to run on.
TEST_F(ContextEndsFirst, AsPartOfItsHandler) {
  taken("orders");
  bool gone = false;
  {
    asio::io_context home;
    Client guest = client_on(home, config());
    auto context = std::make_shared<asio::io_context>();
    const auto executor = context->get_executor();
    guest.lock("orders").async_acquire(asio::bind_executor(
        executor, [context = std::move(context), passenger = Passenger(gone)](const Failure&, const Hold&) {}));
    EXPECT_TRUE(eventually([&] {
      home.run_for(2ms);
      return has_waiter("orders");
    }));
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace holdfast::test::end_of_context_test
