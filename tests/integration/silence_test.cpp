// SPDX-License-Identifier: Apache-2.0
// A server that is silent for a while, in all the ways there are. Every call ends within its bounds, every hold knows
// in time, and nothing is left behind once the server speaks again.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/server_program.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::silence_test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Lt;
using testing::Not;
using testing::SizeIs;

enum class Silence {
  frozen,         ///< SIGSTOP: connections stay open, nothing is read.
  paused,         ///< CLIENT PAUSE: every command of a client waits.
  writes_paused,  ///< CLIENT PAUSE WRITE: only what may write waits.
  asleep,         ///< DEBUG SLEEP: the server does nothing for a fixed time.
  requests_lost,  ///< A black hole on the way to the server.
  replies_lost,   ///< A black hole on the way back: commands are carried out.
};

struct Kind {
  Silence silence;
  std::string label;
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.label; }

class Silent : public Faults, public testing::WithParamInterface<Kind> {
 protected:
  /// Where a silence can only be given a length.
  static constexpr milliseconds kLongest = 2000ms;

  Silent() : Faults({.listen = ServerOptions::Listen::tcp, .config = {"enable-debug-command yes"}}) {
    settings = Faults::config(proxy.url());
    settings.timing.command_timeout = 300ms;
    settings.timing.connect_timeout = 300ms;
    settings.timing.release_timeout = 300ms;
  }
  void SetUp() override {
    if (GetParam().silence == Silence::writes_paused && !server_like_redis(6, 2)) {
      GTEST_SKIP() << "only all or nothing before 6.2";
    }
  }
  ~Silent() override { speak(); }

  /// From now on the server does not answer.
  void fall_silent() {
    switch (GetParam().silence) {
      case Silence::frozen:
        server.freeze();
        return;
      case Silence::paused:
        raw.command("CLIENT", "PAUSE", kLongest.count());
        return;
      case Silence::writes_paused:
        raw.command("CLIENT", "PAUSE", 60'000, "WRITE");
        return;
      case Silence::asleep: {
        sleeper_ =
            in_thread([this] { Raw(server).command("DEBUG", "SLEEP", std::to_string(kLongest.count() / 1000.0)); });
        // Asleep when it does not answer within a time that a server that is awake does not need.
        while (answers()) continue;
        return;
      }
      case Silence::requests_lost:
        proxy.drop_requests(true);
        return;
      case Silence::replies_lost:
        proxy.drop_replies(true);
        return;
    }
  }

  /// The server answers again when this returns.
  void speak() {
    switch (GetParam().silence) {
      case Silence::frozen:
        server.thaw();
        return;
      case Silence::paused:  // Cannot be ended early: what would end it waits too.
        raw.command("PING");
        return;
      case Silence::writes_paused:
        raw.command("CLIENT", "UNPAUSE");
        return;
      case Silence::asleep:
        if (sleeper_.valid()) sleeper_.get();
        return;
      case Silence::requests_lost:
        proxy.drop_requests(false);
        return;
      case Silence::replies_lost:
        proxy.drop_replies(false);
        return;
    }
  }

  Proxy proxy{server};
  Config settings;

 private:
  bool answers() {
    try {
      Raw(Endpoint::of(server), 100ms).command("PING");
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  }

  std::future<void> sleeper_;
};

const Kind kKinds[] = {{Silence::frozen, "Frozen"},
                       {Silence::paused, "Paused"},
                       {Silence::writes_paused, "WritesPaused"},
                       {Silence::asleep, "Asleep"},
                       {Silence::requests_lost, "RequestsLost"},
                       {Silence::replies_lost, "RepliesLost"}};
std::string label_of(const testing::TestParamInfo<Kind>& info) { return info.param.label; }
INSTANTIATE_TEST_SUITE_P(Server, Silent, testing::ValuesIn(kKinds), label_of);

TEST_P(Silent, AnAcquireReturnsNearItsLimitAndLeavesNothing) {
  const Standstill still;
  Client client(settings);
  client.ping();
  fall_silent();
  Lock lock = client.lock("orders");
  const auto said = IsError(Errc::unknown_outcome, "orders", client.node(), Not(""));
  for (const milliseconds limit : {1ms, 250ms, 700ms}) {
    const Timed acquire = timed_error_of([&] { return lock.acquire({.wait = limit}); });
    EXPECT_THAT(acquire.error, testing::Optional(testing::Property(
                                   &Error::code, AnyOf(code(Errc::unknown_outcome), code(Errc::unreachable)))))
        << acquire.error->what();
    EXPECT_THAT(acquire.took, AllOf(Ge(limit), Lt(limit + 500ms + still.total())));
  }
  const Timed once = timed_error_of([&] { return lock.try_acquire(); });
  EXPECT_TRUE(once.error);
  EXPECT_LT(once.took, 3 * settings.timing.command_timeout);
  speak();
  // What was under way may be carried out now; its release is behind it.
  EXPECT_TRUE(eventually([&] { return client.counters().connections > 0 && !error_of([&] { client.ping(); }); }));
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); }, settings.lease / 2)) << "not only by the lease's end";
  EXPECT_TRUE(stays_absent(raw, "orders", 200ms));
  EXPECT_TRUE(lock.acquire());
}

TEST_P(Silent, AWaiterIsStillThereWhenTheServerSpeaksAgain) {
  put_held_lock(raw, "orders");
  Client client(settings);
  auto waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(listeners(raw, "orders"));
  raw.command("DEL", "orders");
  fall_silent();
  Lock other = client.lock("other");
  EXPECT_TRUE(error_of([&] { return other.acquire({.wait = 700ms}); }));
  EXPECT_FALSE(ready(waiting, 0ms));
  speak();
  raw.command("PUBLISH", channel_of("orders"), "0");
  ASSERT_TRUE(ready(waiting));
  const Hold hold = waiting.get();
  EXPECT_THAT(raw.hgetall("orders"), HeldBy(hold.owner()));
}

TEST_P(Silent, AHoldIsLostInTimeWhenTheSilenceIsLongerThanItsLease) {
  const Standstill still;
  settings.lease = 900ms;
  Client client(settings);
  const Hold hold = client.lock("orders").acquire();
  fall_silent();
  const auto limit = steady_clock::now() + settings.lease;
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::suspect; }));
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
  EXPECT_LT(steady_clock::now(), limit + 500ms + still.total());
  EXPECT_EQ(hold.valid_for(), 0ms);
  EXPECT_TRUE(log->wait_for("lost"));
  EXPECT_THAT(log->details("suspect"), ElementsAre(Not("")));
  EXPECT_THAT(log->details("lost"), ElementsAre("expired"));
}

TEST_P(Silent, AHoldIsHeldAgainAfterASilenceShorterThanItsLease) {
  settings.lease = 6s;
  Client client(settings);
  Hold hold = client.lock("orders").acquire();
  EXPECT_TRUE(eventually([&] { return hold.valid_for() < 4300ms; }));
  fall_silent();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::suspect; }));
  speak();
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::held; }));
  EXPECT_GT(hold.valid_for(), 3s);
  EXPECT_FALSE(hold.lost_token().stop_requested());
  EXPECT_EQ(client.counters().suspect, 1U);
  EXPECT_EQ(client.counters().lost, 0U);
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_P(Silent, AReleaseIsBoundedAndGoesOnInTheBackground) {
  const Standstill still;
  settings.lease = 1min;
  Client client(settings);
  Hold hold = client.lock("orders").acquire();
  fall_silent();
  ReleaseOutcome outcome{};
  const auto took = duration_of([&] { outcome = hold.release(); });
  EXPECT_THAT(took,
              AllOf(Ge(settings.timing.release_timeout), Lt(settings.timing.release_timeout + 500ms + still.total())));
  EXPECT_EQ(outcome, ReleaseOutcome::unknown);
  EXPECT_EQ(hold.release(), ReleaseOutcome::unknown);
  speak();
  EXPECT_TRUE(eventually([&] { return !raw.exists("orders"); })) << "a minute before its lease ends";
  EXPECT_TRUE(log->wait_for("released"));
  EXPECT_THAT(log->details("released"), ElementsAre("released"));
}

TEST_P(Silent, DestructorsAndCloseAreBounded) {
  const Standstill still;
  std::optional<Client> client(settings);
  std::optional<Hold> first = client->lock("first").acquire();
  std::optional<Hold> second = client->lock("second").acquire();
  Lock third = client->lock("third");
  third.lock();
  fall_silent();
  const auto bound = settings.timing.release_timeout + 700ms;
  const auto by_hold = duration_of([&] { first.reset(); });
  const auto by_lock = duration_of([&] { third.unlock(); });
  const auto by_client = duration_of([&] { client.reset(); });
  const auto when_closed = duration_of([&] { second.reset(); });
  EXPECT_LT(by_hold, bound + still.total());
  EXPECT_LT(by_lock, bound + still.total());
  EXPECT_LT(by_client, bound + settings.timing.release_timeout + still.total());
  EXPECT_LT(when_closed, 500ms + still.total());
}

}  // namespace
}  // namespace holdfast::test::silence_test
