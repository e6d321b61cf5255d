// SPDX-License-Identifier: Apache-2.0
// What an observer hears of waits, what counters say of now, and how many the server says are waiting.
#include "faults.hpp"

namespace holdfast::test::waits_test {
namespace {

using testing::ElementsAre;

/// `waiting orders`, `granted orders`, … as they came.
class WaitLog final : public Observer {
 public:
  void on_waiting(const WaitingEvent& event) override { add("waiting", event.name, event.waiter); }
  void on_wait_ended(const WaitEndedEvent& event) override {
    {
      const std::scoped_lock guard(mutex_);
      longest_ = std::max(longest_, event.waited);
    }
    // Last: a test that has heard of it reads the rest.
    add(to_string(event.outcome) + (event.cause.empty() ? std::string() : " (" + event.cause + ")"), event.name,
        event.waiter);
  }
  void on_granted(const GrantedEvent& event) override {
    const std::scoped_lock guard(mutex_);
    granted_.push_back(event);
  }
  std::vector<GrantedEvent> granted() const {
    const std::scoped_lock guard(mutex_);
    return granted_;
  }
  std::vector<std::string> heard() const {
    const std::scoped_lock guard(mutex_);
    return heard_;
  }
  /// Each wait that has begun has ended, and no other.
  bool paired() const {
    const std::scoped_lock guard(mutex_);
    return open_.empty();
  }
  std::chrono::nanoseconds longest() const {
    const std::scoped_lock guard(mutex_);
    return longest_;
  }

 private:
  void add(const std::string& what, const std::string& name, const std::string& waiter) {
    const std::scoped_lock guard(mutex_);
    heard_.push_back(what + " " + name);
    if (what == "waiting") {
      EXPECT_TRUE(open_.insert(waiter).second);
    } else {
      EXPECT_EQ(open_.erase(waiter), 1U);
    }
  }

  mutable std::mutex mutex_;
  std::vector<std::string> heard_;
  std::set<std::string> open_;
  std::chrono::nanoseconds longest_{};
  std::vector<GrantedEvent> granted_;
};

class Waits : public Faults {
 protected:
  static bool gets(Client& client, const AcquireOptions& options = {}) {
    const MaybeHold hold = client.lock("orders").try_acquire(options);
    return hold.has_value();
  }
  Config watched() const {
    Config watched = config();
    watched.observer = waits;
    return watched;
  }
  bool heard(std::size_t events) const {
    return eventually([&] { return waits->heard().size() >= events; });
  }
  const std::shared_ptr<WaitLog> waits = std::make_shared<WaitLog>();
};

TEST_F(Waits, AFreeLockAndAnAttemptAreNone) {
  Client holder(config());
  Client client(watched());
  {
    const Hold free = client.lock("orders").acquire();
  }
  const Hold hold = holder.lock("orders").acquire();
  EXPECT_FALSE(gets(client));
  EXPECT_THAT(waits->heard(), ElementsAre());
  EXPECT_EQ(client.counters().waiting, 0U);
}

TEST_F(Waits, AGrantSaysForHowLongAndWhenItWasWoken) {
  Client holder(config());
  Client client(watched());
  EXPECT_TRUE(gets(client));
  std::optional<Hold> hold = holder.lock("orders").acquire();
  auto waiter = in_thread([&] { return gets(client, {.wait = 30s}); });
  ASSERT_TRUE(heard(1));
  ASSERT_TRUE(listeners(raw, "orders"));
  std::this_thread::sleep_for(30ms);
  hold.reset();
  EXPECT_TRUE(waiter.get());
  ASSERT_TRUE(eventually([&] { return waits->granted().size() == 2; }));
  const GrantedEvent free = waits->granted()[0], waited = waits->granted()[1];
  EXPECT_FALSE(free.contended);
  EXPECT_EQ(free.waiting, 0ns);
  EXPECT_EQ(free.woken, 0ns);
  EXPECT_TRUE(waited.contended);
  EXPECT_GT(waited.woken, 0ns);
  EXPECT_GE(waited.waiting - waited.woken, 30ms);
  EXPECT_GE(waited.waited, waited.waiting);
}

TEST_F(Waits, EachEndIsHeardOf) {
  Client holder(config());
  Client client(watched());
  std::optional<Hold> hold = holder.lock("orders").acquire();
  const auto begun = [&](std::size_t calls) { return eventually([&] { return client.counters().waiting == calls; }); };

  EXPECT_FALSE(gets(client, {.wait = 500ms}));
  ASSERT_TRUE(heard(2));
  EXPECT_THAT(waits->heard(), ElementsAre("waiting orders", "timed_out orders"));
  EXPECT_GE(waits->longest(), 20ms);

  std::stop_source stop;
  auto cancelled =
      std::async(std::launch::async, [&] { return gets(client, {.wait = kPatience, .stop = stop.get_token()}); });
  ASSERT_TRUE(begun(1));
  // A second one stands in line behind it.
  auto granted = std::async(std::launch::async, [&] { client.lock("orders").acquire({.wait = kPatience}).release(); });
  ASSERT_TRUE(begun(2));
  stop.request_stop();
  EXPECT_FALSE(cancelled.get());
  hold->release();
  granted.get();
  ASSERT_TRUE(heard(6));
  EXPECT_THAT(waits->heard(), ElementsAre("waiting orders", "timed_out orders", "waiting orders", "waiting orders",
                                          "cancelled orders", "granted orders"));

  hold.emplace(holder.lock("orders").acquire());
  auto closed = std::async(std::launch::async, [&] { error_of([&] { return client.lock("orders").acquire(); }); });
  ASSERT_TRUE(begun(1));
  client.close();
  closed.get();
  EXPECT_EQ(waits->heard().back(), "failed (" + make_error_code(Errc::closed).message() + ") orders");
  EXPECT_TRUE(waits->paired());
  EXPECT_EQ(client.counters().waiting, 0U);
}

TEST_F(Waits, CountersSayHowManyHoldsStand) {
  Client client(config());
  EXPECT_EQ(client.counters().holding, 0U);
  {
    Hold a = client.lock("a").acquire();
    const Hold b = client.lock("b").acquire({.lease = fixed(10s)});
    EXPECT_EQ(client.counters().holding, 2U);
    a.release();
    a.release();
    EXPECT_EQ(client.counters().holding, 1U);
  }
  EXPECT_EQ(client.counters().holding, 0U);
  const Hold taken = client.lock("c").acquire();
  const Hold expires = client.lock("d").acquire({.lease = fixed(50ms)});
  raw.command("DEL", "c");
  EXPECT_TRUE(eventually([&] { return client.counters().holding == 0; }));
  EXPECT_EQ(client.counters().lost, 2U);
}

TEST_F(Waits, APassedOnLockIsOneHold) {
  Client client(config());
  std::optional<Hold> first = client.lock("orders").acquire();
  auto second = std::async(std::launch::async, [&] { return client.lock("orders").acquire({.wait = kPatience}); });
  ASSERT_TRUE(eventually([&] { return client.counters().waiting == 1; }));
  first->release();
  Hold hold = second.get();
  EXPECT_EQ(client.counters().holding, 1U);
  hold.release();
  EXPECT_EQ(client.counters().holding, 0U);
}

TEST_F(Waits, TheServerSaysHowManyListen) {
  Client holder(config());
  Client first(config());
  Client second(config());
  std::optional<Hold> hold = holder.lock("orders").acquire();
  Lock lock = holder.lock("orders");
  EXPECT_EQ(lock.info().listeners, 0U);
  const auto wait = [](Client& client) { client.lock("orders").acquire({.wait = kPatience}).release(); };
  auto one = std::async(std::launch::async, [&] { wait(first); });
  auto another = std::async(std::launch::async, [&] { wait(second); });
  auto beside = std::async(std::launch::async, [&] { wait(second); });
  EXPECT_TRUE(eventually([&] { return lock.info().listeners == 2U; })) << "clients, not their callers";
  const std::vector<LockInfo> listed = holder.list();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().listeners, 2U);
  EXPECT_EQ(lock.info(InfoDetail::owner).listeners, std::nullopt) << "not asked for";
  EXPECT_EQ(holder.list("*", InfoDetail::owner).front().listeners, std::nullopt);
  const std::uint64_t commands = holder.counters().commands;
  std::ignore = lock.info();
  EXPECT_EQ(holder.counters().commands - commands, 4U) << "HGETALL, PTTL, PUBSUB NUMSUB in one write; CLIENT LIST";
  hold->release();
}

TEST_F(Waits, WithoutPermissionTheRestIsTold) {
  raw.command("ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-pubsub");
  raw.command("ACL", "SETUSER", "app", "&*");  // refused where nobody needs it
  Config limited = config();
  limited.username = "app";
  limited.password = "pw";
  Client client(limited);
  const Hold hold = client.lock("orders").acquire();
  const LockInfo info = client.lock("orders").info();
  EXPECT_EQ(info.owner, hold.owner());
  EXPECT_EQ(info.listeners, std::nullopt);
  EXPECT_EQ(info.holder->connection, Holder::Connection::open);
  EXPECT_EQ(client.list().front().listeners, std::nullopt);
}

TEST_F(Waits, AKeyOfAnotherTypeIsAnErrorStill) {
  raw.command("SET", "orders", "x");
  Client client(config());
  EXPECT_EQ(error_of([&] { return client.lock("orders").info(); })->code(), code(Errc::wrong_type));
}

}  // namespace
}  // namespace holdfast::test::waits_test
