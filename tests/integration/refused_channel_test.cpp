// Channels that a user may not subscribe to, or not leave: told to the one who asks, and no reply reaches the wrong
// command.
#include "access.hpp"

namespace holdfast::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
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
    config.port = proxy_.port();
    return config;
  }
  std::string node() const { return as_app().node(); }

 private:
  Proxy proxy_{server};
};

/// Locks of one client, each with a lease of its own, so that a reply that reached the wrong command shows.
class Traffic {
 public:
  Traffic(Client& client, int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this, &client, i] { run(client, i); });
  }
  ~Traffic() { stop(); }
  std::size_t stop() {
    stop_ = true;
    threads_.clear();
    return rounds_;
  }

 private:
  /// A query may fail, but only because the connection was lost meanwhile.
  template <class Query>
  static void ask(Query query) {
    const std::optional<Error> error = error_of(query);
    if (!error) return;
    EXPECT_THAT(error->code(), AnyOf(code(Errc::unknown_outcome), code(Errc::unreachable))) << error->what();
  }

  void run(Client& client, int i) {
    while (!stop_) {
      const std::optional<Error> error = error_of([&] { round(client, i); });
      EXPECT_FALSE(error) << error->what();
    }
  }

  void round(Client& client, int i) {
    const milliseconds lease = 100s * (i + 1);
    Lock lock = client.lock("app:mine:" + std::to_string(i));
    Hold hold = lock.acquire({.lease = fixed(lease)});
    ask([&] { EXPECT_TRUE(lock.is_held_by(hold.owner())); });
    ask([&] { EXPECT_FALSE(lock.is_held_by("nobody")); });
    ask([&] { EXPECT_THAT(lock.remaining(), Optional(AllOf(Gt(lease - 50s), Le(lease)))); });
    ask([&] { EXPECT_EQ(lock.info().owner, hold.owner()); });
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
    raw.command("HSET", name, "somebody", 1);
    EXPECT_THAT(error_of([&] { return client.lock(name).try_acquire({.wait = 1min}); }),
                IsError(Errc::denied, name, node(), AllOf(HasSubstr("SUBSCRIBE"), HasSubstr("NOPERM"))));
    // Known by now: the connection must not be lost for it again.
    const std::uint64_t connections = static_cast<std::uint64_t>(i) + 2;
    ASSERT_TRUE(eventually([&] { return client.counters().connections == connections; }));
    EXPECT_THAT(error_of([&] { return client.lock(name).acquire(); }),
                IsError(Errc::denied, name, node(), HasSubstr("NOPERM")));
    EXPECT_EQ(client.counters().connections, connections);
    EXPECT_THAT(raw.hgetall(name), HeldBy("somebody"));
  }
  EXPECT_GT(traffic.stop(), 20U);
}

TEST_F(RefusedChannel, AChannelThatIsGrantedLaterIsTriedAgain) {
  grant({"on", ">s3cret", "~app:*", "resetchannels", "+@all"});
  Client client(as_app());
  raw.command("HSET", "app:busy", "somebody", 1);
  raw.command("PEXPIRE", "app:busy", 60'000);
  EXPECT_THAT(error_of([&] { return client.lock("app:busy").acquire(); }),
              IsError(Errc::denied, "app:busy", node(), HasSubstr("NOPERM")));
  grant(kRights);
  std::optional<Hold> hold;
  auto waiting = in_thread([&] {
    return eventually([&] {
      std::error_code error;
      hold = client.lock("app:busy").try_acquire({.wait = 10s}, error);
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
  settings.subscription_linger = 50ms;
  Client client(settings);
  Traffic traffic(client, 4);
  raw.command("HSET", "app:busy", "somebody", 1);
  EXPECT_FALSE(client.lock("app:busy").try_acquire({.wait = 100ms}));
  ASSERT_TRUE(eventually([&] { return raw.info("errorstats", "errorstat_NOPERM") == "count=1"; }));
  EXPECT_TRUE(eventually([&] { return client.counters().connections == 2; }));
  EXPECT_FALSE(client.lock("app:busy").try_acquire({.wait = 200ms}));
  EXPECT_TRUE(listeners(raw, "app:busy"));
  EXPECT_GT(traffic.stop(), 4U);
  EXPECT_EQ(client.counters().connections, 2U) << "one refusal is enough to know";
}

}  // namespace
}  // namespace holdfast::test
