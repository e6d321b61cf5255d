// SPDX-License-Identifier: Apache-2.0
// Limits are kept whatever the server does: an acquire returns when `wait`, `command_timeout` or `patience` is over, be
// the server frozen, killed, never there, or a black hole; and a cut attempt is undone, without holding up a close.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/standstill.hpp"
#include "support/stranger.hpp"

namespace holdfast::test::limits_test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Lt;
using testing::Optional;
using testing::Property;

/// For a machine that is busy with other things. What used to be added was a multiple of the settings here.
constexpr milliseconds kSlack = 800ms;

testing::Matcher<std::optional<Error>> Says(Errc errc) { return Optional(Property("code", &Error::code, code(errc))); }

class Limits : public Faults {
 protected:
  Limits() : Faults({.listen = ServerOptions::Listen::tcp}) {
    settings = config();
    settings.timing.command_timeout = 1500ms;
    settings.timing.release_timeout = 3000ms;
    settings.timing.patience = 2000ms;
    settings.lease = 30s;
    settings.timing.safety_poll = 100ms;
  }
  testing::Matcher<steady_clock::duration> Takes(milliseconds time) const {
    return AllOf(Ge(time), Lt(time + kSlack + still_.total()));
  }
  void expect_unreachable_in_time(Lock& lock) const {
    const Timed limited = timed_error_of([&] { return lock.acquire({.wait = 600ms}); });
    EXPECT_THAT(limited.error, Says(Errc::unreachable));
    EXPECT_THAT(limited.took, Takes(600ms));
    const Timed once = timed_error_of([&] { return lock.try_acquire(); });
    EXPECT_THAT(once.error, Says(Errc::unreachable));
    EXPECT_THAT(once.took, Takes(settings.timing.command_timeout));
  }

  const Standstill still_;
  Config settings;
};

TEST_F(Limits, OfAFrozenServer) {
  Client client(settings);
  client.ping();
  server.freeze();
  Lock lock = client.lock("orders");
  for (const milliseconds wait : {100ms, 600ms, 1800ms}) {
    const Timed acquire = timed_error_of([&] { return lock.acquire({.wait = wait}); });
    EXPECT_THAT(acquire.error, Says(Errc::unknown_outcome));
    EXPECT_THAT(acquire.took, Takes(wait));
  }
  const Timed once = timed_error_of([&] { return lock.try_acquire(); });
  EXPECT_THAT(once.error, Says(Errc::unknown_outcome));
  EXPECT_THAT(once.took, Takes(settings.timing.command_timeout));
  const Timed patient = timed_error_of([&] { return lock.acquire(); });
  EXPECT_THAT(patient.error, Says(Errc::unknown_outcome));
  EXPECT_THAT(patient.took, Takes(settings.timing.patience));
  server.thaw();
  EXPECT_TRUE(eventually([&] { return client.counters().unknown > 0 && !raw.exists("orders"); }, 10s));
  EXPECT_TRUE(stays_absent(raw, "orders", 200ms));
}

TEST_F(Limits, AnUndoDoesNotHoldUpAClose) {
  settings.timing.release_timeout = 20s;
  std::optional<Client> client(settings);
  client->ping();
  server.freeze();
  EXPECT_THAT(error_of([&] { return client->lock("orders").acquire({.wait = 200ms}); }), Says(Errc::unknown_outcome));
  EXPECT_LT(duration_of([&] { client.reset(); }), 5s);
  server.thaw();
  // The release stands behind the acquire, in the same stream of bytes.
  EXPECT_TRUE(eventually([&] { return raw.command("INFO", "commandstats").text.find("hdel") != std::string::npos; }));
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(Limits, OfAServerThatFreezesWhileSomebodyElseHasIt) {
  put_held_lock(raw, "orders");
  Client client(settings);
  Lock lock = client.lock("orders");
  steady_clock::duration took{};
  auto waiting = in_thread([&] {
    std::optional<Hold> hold;
    took = duration_of([&] { hold = lock.try_acquire({.wait = 2000ms}); });
    return hold.has_value();
  });
  auto patient = in_thread([&] { return error_of([&] { return client.lock("orders").acquire(); }); });
  ASSERT_TRUE(listeners(raw, "orders"));
  const auto frozen = steady_clock::now();
  server.freeze();
  EXPECT_FALSE(waiting.get()) << "timed out, since somebody else was seen to have it";
  EXPECT_THAT(took, Takes(2000ms));
  EXPECT_THAT(patient.get(), Says(Errc::unknown_outcome));
  EXPECT_LT(steady_clock::now() - frozen, 2000ms + settings.timing.patience + kSlack + still_.total());
}

TEST_F(Limits, OfAServerThatWasKilled) {
  Client client(settings);
  client.ping();
  server.kill();
  ASSERT_TRUE(log->wait_for("down"));
  Lock lock = client.lock("orders");
  expect_unreachable_in_time(lock);
  const Timed patient = timed_error_of([&] { return lock.acquire(); });
  EXPECT_THAT(patient.error, Says(Errc::unreachable));
  EXPECT_THAT(patient.took, Takes(settings.timing.patience));
}

TEST_F(Limits, OfAServerThatIsNotConnectedYet) {
  const Stranger mute("");
  settings.server = NodeAddress{"127.0.0.1", mute.port()};
  for (const bool tls : {false, true}) {
    settings.tls.enabled = tls;
    settings.tls.verify = TlsConfig::Verify::none;
    Client client(settings);
    Lock lock = client.lock("orders");
    expect_unreachable_in_time(lock);
  }
}

}  // namespace
}  // namespace holdfast::test::limits_test
