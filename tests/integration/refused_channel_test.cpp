// SPDX-License-Identifier: Apache-2.0
// Channels that a user may not subscribe to, or not leave: told to the one who asks, and no reply reaches the wrong
// command.
#include "access.hpp"
#include "support/held_lock.hpp"
#include "support/tried.hpp"

namespace holdfast::test::refused_channel_test {
namespace {

using testing::AllOf;
using testing::Gt;
using testing::HasSubstr;
using testing::Le;
using testing::Optional;

class RefusedChannel : public Access {
 protected:
  /// Every reply takes a while, so that commands of several threads are under way at any time.
  RefusedChannel() { proxy_.delay(Proxy::Direction::to_client, 5ms); }

  Config as_app() const {
    Config config = Access::as_app();
    std::get<NodeAddress>(config.server).port = proxy_.port();
    config.timing.release_timeout = 10s;  // how long a release takes is not the point here
    return config;
  }
  std::string node() const { return as_app().node(); }

  Proxy proxy_{server};
};

/// Locks of one client, each with a lease of its own, so that a reply that reached the wrong command shows.
class Traffic {
 public:
  Traffic(Client& client, int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this, &client, i] { run(client, i); });
  }
  ~Traffic() { stop(); }
  /// After this many rounds more.
  void stop_after(std::size_t rounds) {
    const std::size_t goal = rounds_ + rounds;
    EXPECT_TRUE(eventually([&] { return rounds_ >= goal; }));
    stop();
  }
  void stop() {
    stop_ = true;
    threads_.clear();
  }

 private:
  void run(Client& client, int i) {
    while (!stop_) {
      const std::optional<Error> error = error_of([&] { round(client, i); });
      EXPECT_FALSE(error) << error->what();
    }
  }

  void round(Client& client, int i) {
    const milliseconds lease = 100s * (i + 1);
    Lock lock = client.lock("app:mine:" + std::to_string(i));
    Hold hold = lock.acquire({.wait = 20s, .lease = fixed(lease)});
    EXPECT_TRUE(lock.is_held_by(hold.owner()));
    EXPECT_FALSE(lock.is_held_by("nobody"));
    EXPECT_THAT(lock.remaining(), Optional(AllOf(Gt(lease - 50s), Le(lease))));
    EXPECT_EQ(lock.info().owner, hold.owner());
    EXPECT_GT(hold.valid_for(), lease - 50s);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    ++rounds_;
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> rounds_{0};
  std::vector<std::jthread> threads_;
};

TEST_F(RefusedChannel, ARefusedChannelIsToldAndNoReplyReachesAnotherCommand) {
  grant({"on", ">s3cret", "~app:*", "resetchannels", "&redisson_lock__channel:{app:mine:*}", "+@all"});
  Client client(as_app());
  Traffic traffic(client, 4);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "app:busy:" + std::to_string(i);
    put_held_lock(raw, name);
    for (int times = 0; times < 2; ++times) {  // the second time it is known
      ASSERT_THAT(error_of([&] { return client.lock(name).try_acquire({.wait = 20s}); }),
                  IsError(Errc::denied, name, node(), AllOf(HasSubstr("SUBSCRIBE"), HasSubstr("NOPERM"))));
    }
    EXPECT_THAT(raw.hgetall(name), HeldBy(kSomebodyElse));
  }
  EXPECT_EQ(raw.info("errorstats", "errorstat_NOPERM"), "count=20");
  traffic.stop_after(20);
  EXPECT_EQ(client.counters().connections, 1U);
  EXPECT_EQ(client.counters().unknown, 0U);
}

TEST_F(RefusedChannel, WithoutTheCommandAllWhoContendAreToldAndNobodyIsCut) {
  grant(kRights, {"-subscribe"});
  Client client(as_app());
  Traffic traffic(client, 4);
  std::vector<std::future<std::optional<Error>>> calls;
  for (int i = 0; i < 10; ++i) {
    const std::string name = "app:busy:" + std::to_string(i);
    put_held_lock(raw, name);
    for (int times = 0; times < 2; ++times) {
      calls.push_back(in_thread([&client, name] { return error_of([&] { return client.lock(name).acquire(); }); }));
    }
  }
  for (auto& call : calls) {
    const std::optional<Error> error = call.get();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), code(Errc::denied)) << error->what();
    EXPECT_THAT(error->cause(), HasSubstr("subscribe"));
  }
  traffic.stop_after(20);
  EXPECT_EQ(client.counters().connections, 1U);
  EXPECT_EQ(client.counters().unknown, 0U);
}

TEST_F(RefusedChannel, ASimpleLocksWaitersDoWithoutIt) {
  grant({"on", ">s3cret", "~app:*", "resetchannels", "&redisson_lock__channel:{app:mine:*}", "+@all"});
  Client client(as_app());
  Traffic traffic(client, 4);
  std::vector<std::future<MaybeHold>> waiting;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "app:simple:" + std::to_string(i);
    raw.command("SET", name, "somebody");
    waiting.push_back(in_thread([&client, name] { return client.simple_lock(name).try_acquire({.wait = 30s}); }));
  }
  ASSERT_TRUE(eventually([&] { return raw.info("errorstats", "errorstat_NOPERM") == "count=20"; }));
  for (int i = 0; i < 20; ++i) raw.command("DEL", "app:simple:" + std::to_string(i));
  for (auto& each : waiting) EXPECT_TRUE(each.get());
  traffic.stop_after(20);
  EXPECT_EQ(client.counters().connections, 1U);
  EXPECT_EQ(client.counters().unknown, 0U);
}

TEST_F(RefusedChannel, ASimpleLocksWaiterHearsOfReleasesOnceItMay) {
  grant({"on", ">s3cret", "~app:*", "resetchannels", "+@all"});
  Client client(as_app());
  raw.command("SET", "app:busy", "somebody");
  auto waiting = in_thread([&] { return client.simple_lock("app:busy").try_acquire({.wait = 30s}); });
  ASSERT_TRUE(eventually([&] { return raw.info("errorstats", "errorstat_NOPERM") == "count=1"; }));
  grant({"on", ">s3cret", "~app:*", "allchannels", "+@all"});
  const std::string channel = "holdfast_simple_lock__channel:{app:busy}";
  EXPECT_TRUE(eventually([&] { return raw.command("PUBSUB", "NUMSUB", channel).elements[1].integer == 1; }));
  raw.command("DEL", "app:busy");
  EXPECT_TRUE(waiting.get());
}

TEST_F(RefusedChannel, AServerThatIsBusyHasNotDeniedIt) {
  grant(kRights);
  raw.command("CONFIG", "SET", "busy-reply-threshold", 20);
  Config settings = as_app();
  settings.timing.patience = 1min;
  Client client(settings);
  put_held_lock(raw, "app:busy");
  raw.command("PEXPIRE", "app:busy", 60'000);
  auto waiting = in_thread([&] { return client.lock("app:busy").acquire(); });
  ASSERT_TRUE(listeners(raw, "app:busy"));
  auto script = in_thread([&] { return Raw(server).command("EVAL", "while true do end", 0); });
  ASSERT_TRUE(eventually([&] { return raw.command("PING").text.starts_with("BUSY"); }));
  // A new connection, on which the waiter must subscribe again; all it hears for a while is BUSY.
  proxy_.cut();
  ASSERT_TRUE(eventually([&] { return client.counters().connections == 2; }));
  EXPECT_FALSE(ready(waiting, 300ms));
  raw.command("SCRIPT", "KILL");
  EXPECT_TRUE(script.get().is_error());
  ASSERT_TRUE(listeners(raw, "app:busy"));
  raw.command("DEL", "app:busy");
  raw.command("PUBLISH", channel_of("app:busy"), "0");
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(client.counters().connections, 2U);
}

TEST_F(RefusedChannel, AChannelThatIsGrantedLaterIsTriedAgain) {
  grant({"on", ">s3cret", "~app:*", "resetchannels", "+@all"});
  Client client(as_app());
  put_held_lock(raw, "app:busy");
  raw.command("PEXPIRE", "app:busy", 60'000);
  EXPECT_THAT(error_of([&] { return client.lock("app:busy").acquire(); }),
              IsError(Errc::denied, "app:busy", node(), HasSubstr("NOPERM")));
  grant(kRights);
  std::optional<Hold> hold;
  auto waiting = in_thread([&] {
    return eventually([&] {
      std::error_code error;
      hold = tried(client.lock("app:busy"), {.wait = 10s}, error);
      return hold.has_value();
    });
  });
  ASSERT_TRUE(listeners(raw, "app:busy"));
  raw.command("DEL", "app:busy");
  raw.command("PUBLISH", channel_of("app:busy"), "0");
  EXPECT_TRUE(waiting.get());
}

TEST_F(RefusedChannel, AnIdleChannelThatMayNotBeLeftIsKeptAndNoReplyReachesAnotherCommand) {
  grant(kRights, {"-unsubscribe"});
  Config settings = as_app();
  settings.timing.subscription_linger = 50ms;
  Client client(settings);
  Traffic traffic(client, 4);
  put_held_lock(raw, "app:busy");
  EXPECT_EQ(client.lock("app:busy").try_acquire({.wait = 100ms}), std::nullopt);
  ASSERT_TRUE(eventually([&] { return raw.info("errorstats", "errorstat_NOPERM") == "count=1"; }));
  EXPECT_EQ(client.lock("app:busy").try_acquire({.wait = 200ms}), std::nullopt);
  EXPECT_TRUE(listeners(raw, "app:busy"));
  traffic.stop_after(20);
  EXPECT_EQ(raw.info("errorstats", "errorstat_NOPERM"), "count=1") << "one refusal is enough to know";
  EXPECT_EQ(client.counters().connections, 1U);
}

}  // namespace
}  // namespace holdfast::test::refused_channel_test
