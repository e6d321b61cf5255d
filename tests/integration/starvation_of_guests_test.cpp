// SPDX-License-Identifier: Apache-2.0
// Each allocation fails once: in a client on the caller's io_context.
#include "async/async.hpp"
#include "starving.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::starvation_of_guests_test {
namespace {

/// What came of an operation: its results, or that its handler was dropped, since there was no memory to pass them on.
template <class... Results>
class Told {
 public:
  /// Once.
  auto handler() {
    auto alive = std::make_shared<int>();
    handler_ = alive;
    return [this, alive = std::move(alive)](Results... results) { results_.emplace(std::move(results)...); };
  }
  bool ended() const { return results_ || handler_.expired(); }
  std::optional<std::tuple<Results...>>& results() { return results_; }

 private:
  std::weak_ptr<int> handler_;
  std::optional<std::tuple<Results...>> results_;
};

class StarvationOfGuests : public Async, protected Starving {
 protected:
  ~StarvationOfGuests() override { allocations::before_failure = -1; }

  static constexpr milliseconds kLease{300};

  Config settings(milliseconds lease = kLease) const {
    Config settings = config();
    settings.observer = nullptr;
    settings.lease = lease;
    settings.timing.patience = 2s;
    settings.timing.release_timeout = 500ms;
    return settings;
  }
  Client warm_client(const Config& settings) {
    Client client = client_on(context, settings);
    for (int i = 0; i < 10; ++i) use(client);
    return client;
  }
  /// With a lease that does not end on a busy machine; its timer is the one that goes off first on a path behind it.
  void use(Client& client) {
    run([&]() -> awaitable<void> {
      Hold hold = co_await client.lock("orders").async_acquire({.wait = 10s, .lease = renewed(5 * kLease)});
      EXPECT_EQ(co_await hold.async_release(), ReleaseOutcome::released);
    }());
  }

  /// Runs the context without being exempt.
  template <class Predicate>
  void turn(Predicate&& predicate, const char* what) {
    const auto end = steady_clock::now() + kPatience;
    while (!predicate()) {
      ASSERT_LT(steady_clock::now(), end) << "it hangs: " << what;
      try_to([this] { context.run_one_for(5ms); });
      context.restart();
    }
  }
  template <class... Results>
  void await(Told<Results...>& told, const char* what) {
    turn([&] { return told.ended(); }, what);
  }

  /// The hold, if there is one. This and release() can be cancelled, which takes memory as well: once the operation has
  /// been made, and before it starts.
  Hold acquire(Lock& lock, AcquireOptions options = {}) {
    Told<Failure, Hold> told;
    asio::cancellation_signal signal;
    bool begun = false;
    try_to([&] {
      lock.async_acquire(std::move(options), asio::bind_cancellation_slot(signal.slot(), told.handler()));
      begun = true;
    });
    if (!begun) return {};
    await(told, "an acquire");
    if (!told.results()) return note("dropped"), Hold();
    auto& [failure, hold] = *told.results();
    note(failure ? to_string(static_cast<Errc>(failure.code().value())) : "granted");
    return std::move(hold);
  }
  void release(Hold hold) {
    if (!hold) return;
    Told<ReleaseOutcome> told;
    asio::cancellation_signal signal;
    bool begun = false;
    try_to([&] {
      hold.async_release(asio::bind_cancellation_slot(signal.slot(), told.handler()));
      begun = true;
    });
    if (begun) await(told, "a release");
    note(told.results() ? to_string(std::get<0>(*told.results())) : "dropped");
  }

  template <class Path>
  void fail_everywhere(Client& client, Path&& path) {
    fail_each(path, [&] {
      ASSERT_TRUE(turn_until([&] { return !raw.exists("orders"); }, 10s)) << "its lease: " << raw.pttl("orders");
      ASSERT_NO_THROW(use(client));
    });
  }
  long long connections() { return std::atoll(raw.info("clients", "connected_clients").c_str()); }
};

TEST_F(StarvationOfGuests, OnAcquireAndRelease) {
  Client client = warm_client(settings());
  Lock lock = client.lock("orders");
  fail_everywhere(client, [&] { release(acquire(lock)); });
  close(client);
}

TEST_F(StarvationOfGuests, OnAContendedAcquire) {
  Client client = warm_client(settings());
  Lock lock = client.lock("orders");
  fail_everywhere(client, [&] {
    put_held_lock(raw, "orders");
    const auto freeing = free_once_awaited(server, "orders");
    release(acquire(lock, {.wait = 2s}));
    freeing.wait();
  });
  close(client);
}

TEST_F(StarvationOfGuests, OnAWaitThatRunsOut) {
  Client client = warm_client(settings());
  Lock lock = client.lock("orders");
  fail_everywhere(client, [&] {
    put_held_lock(raw, "orders");
    release(acquire(lock, {.wait = 20ms}));
    raw.command("DEL", "orders");
  });
  close(client);
}

TEST_F(StarvationOfGuests, OnPassingItOnInsideTheClient) {
  Client client = warm_client(settings());
  Lock lock = client.lock("orders");
  fail_everywhere(client, [&] {
    Hold first = spared([&] {
      Told<Failure, Hold> told;
      lock.async_acquire(told.handler());
      turn([&] { return told.ended(); }, "the first");
      return std::move(std::get<1>(*told.results()));
    });
    Told<Failure, Hold> second;
    bool begun = false;
    try_to([&] {
      lock.async_acquire({.wait = 2s}, second.handler());
      begun = true;
    });
    release(std::move(first));
    if (!begun) return;
    await(second, "the second");
    if (second.results()) release(std::move(std::get<1>(*second.results())));
  });
  close(client);
}

TEST_F(StarvationOfGuests, OnARenewal) {
  Client client = warm_client(settings(1500ms));
  Lock lock = client.lock("orders");
  fail_everywhere(client, [&] {
    Hold hold = spared([&] { return acquire(lock); });
    ASSERT_TRUE(hold);
    const std::stop_token lost = hold.lost_token();
    const std::uint64_t renewals = client.counters().renewals;
    turn([&] { return lost.stop_requested() || client.counters().renewals > renewals; }, "a renewal");
    EXPECT_FALSE(lost.stop_requested()) << "one renewal that fails is no loss";
    spared([&] { return release(std::move(hold)), 0; });
  });
  close(client);
}

TEST_F(StarvationOfGuests, OnALoss) {
  Client client = warm_client(settings());
  Lock lock = client.lock("orders");
  fail_everywhere(client, [&] {
    int told = 0;
    Hold hold = spared([&] { return acquire(lock, {.on_lost = [&](const LostEvent&) { ++told; }}); });
    ASSERT_TRUE(hold);
    bool stopped = false;
    const std::stop_callback callback(hold.lost_token(), [&] { stopped = true; });
    raw.command("DEL", "orders");
    turn([&] { return stopped && told == 1; }, "the loss is told");
    EXPECT_EQ(hold.state(), HoldState::lost);
    spared([&] { return release(std::move(hold)), 0; });
  });
  close(client);
}

/// Behind it the context has nothing left to do.
TEST_F(StarvationOfGuests, OfAClientThatBeginsAndIsClosedWithAHold) {
  run(client_on(context, settings()).async_close(use_awaitable));  // the context has its own descriptors
  const std::size_t descriptors = open_descriptors();
  fail_each(
      [&] {
        std::optional<Client> client;
        try_to([&] { client = client_on(context, settings()); });
        if (!client) return;
        std::optional<Lock> lock;
        try_to([&] { lock = client->lock("orders"); });
        const Hold hold = lock ? acquire(*lock, {.wait = 2s}) : Hold();
        Told<> told;
        bool begun = false;
        try_to([&] {
          client->async_close(told.handler());
          begun = true;
        });
        if (begun) await(told, "a close");
        if (begun) {
          EXPECT_EQ(hold.valid_for(), 0ms) << "what a closed client held is not valid";
        }
      },
      [&] {
        context.restart();
        context.run_for(kPatience);
        ASSERT_TRUE(context.stopped()) << "it has run out of work";
        ASSERT_TRUE(eventually([&] { return connections() == 1; })) << "connections at the server: " << connections();
        ASSERT_TRUE(eventually([&] { return open_descriptors() <= descriptors; })) << descriptors_in_words();
        ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s)) << "its lease: " << raw.pttl("orders");
      });
}

}  // namespace
}  // namespace holdfast::test::starvation_of_guests_test
