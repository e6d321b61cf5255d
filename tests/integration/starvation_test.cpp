// SPDX-License-Identifier: Apache-2.0
// Each allocation fails once: on what a client does besides taking and giving back a lock, and on the asynchronous
// face.
#include <holdfast/probe.hpp>

#include "starving.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::starvation_test {
namespace {

/// Clients that come and go.
class Starvation : public Faults, protected Starving {
 protected:
  Starvation() : descriptors_(open_descriptors()) {}

  Config settings() const {
    Config settings = config();
    settings.observer = nullptr;
    settings.lease = 300ms;
    settings.timing.patience = 2s;
    settings.timing.release_timeout = 500ms;
    return settings;
  }
  long long connections() { return std::atoll(raw.info("clients", "connected_clients").c_str()); }

  /// Behind a path that leaves no client: nothing of it is left, and another one finds all free.
  void expect_nothing_left() {
    ASSERT_TRUE(eventually([&] { return connections() == 1; })) << "connections at the server: " << connections();
    ASSERT_TRUE(eventually([&] { return open_descriptors() <= descriptors_; }))
        << "more than " << descriptors_ << " descriptors: " << descriptors_in_words();
    ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s)) << "its lease: " << raw.pttl("orders");
  }
  void expect_free(Client& client) {
    ASSERT_TRUE(eventually([&] { return !raw.exists("orders"); }, 10s)) << "its lease: " << raw.pttl("orders");
    ASSERT_NO_THROW(static_cast<void>(client.lock("orders").acquire({.wait = 10s})));
  }

 private:
  const std::size_t descriptors_;
};

TEST_F(Starvation, OfAClientThatBeginsAndEnds) {
  fail_each([&] { try_to([&] { Client(settings()).ping(); }); }, [&] { expect_nothing_left(); });
}

TEST_F(Starvation, OfAClientThatIsClosedWithAHoldAndAWaiter) {
  fail_each(
      [&] {
        std::optional<Client> client;
        std::optional<Hold> hold;
        spared([&] {
          client.emplace(settings());
          hold = client->lock("orders").acquire();
        });
        auto waiting = in_thread([&] {
          const Exempt here;
          try_to([&] { const Hold second = client->lock("orders").acquire({.wait = 5s}); });
        });
        try_to([&] { client->close(); });
        waiting.wait();
        EXPECT_EQ(hold->valid_for(), 0ms) << "what a closed client held is not valid";
        hold.reset();
        client.reset();
      },
      [&] { expect_nothing_left(); });
}

TEST_F(Starvation, OfAWaitThatRunsOut) {
  Client client(settings());
  client.ping();
  fail_each(
      [&] {
        put_held_lock(raw, "orders");
        try_to([&] { const MaybeHold hold = client.lock("orders").try_acquire({.wait = 20ms}); });
        raw.command("DEL", "orders");
      },
      [&] { expect_free(client); });
}

TEST_F(Starvation, OfAWaitThatIsStopped) {
  Client client(settings());
  client.ping();
  fail_each(
      [&] {
        put_held_lock(raw, "orders");
        std::stop_source stop;
        auto stopping = in_thread([&] {
          const Exempt here;
          std::this_thread::sleep_for(5ms);
          stop.request_stop();
        });
        try_to([&] { const Hold hold = client.lock("orders").acquire({.stop = stop.get_token()}); });
        stopping.wait();
        raw.command("DEL", "orders");
      },
      [&] { expect_free(client); });
}

TEST_F(Starvation, OfLooking) {
  Client client(settings());
  Lock lock = client.lock("orders");
  client.ping();
  fail_each(
      [&] {
        try_to([&] { client.ping(); });
        try_to([&] { std::ignore = lock.is_locked(); });
        try_to([&] { std::ignore = lock.info(); });
        try_to([&] { client.list(); });
        try_to([&] { lock.force_release(); });
      },
      [&] { expect_free(client); });
}

TEST_F(Starvation, OfTheDoctor) {
  Client client(settings());
  client.ping();
  fail_each([&] { try_to([&] { probe(client); }); }, [&] { expect_free(client); }, 500);
}

TEST_F(Starvation, OfANoticeOfLoss) {
  Config watching = settings();
  watching.lease = 600ms;
  fail_each(
      [&] {
        std::optional<Client> client;
        std::optional<Hold> hold;
        spared([&] {
          client.emplace(watching);
          hold = client->lock("orders").acquire();
        });
        // The watch begins at a sixth of the lease.
        EXPECT_TRUE(eventually([&] { return has_failed() || raw.info("clients", "tracking_clients") == "1"; }, 1s));
        raw.command("DEL", "orders");
        EXPECT_TRUE(eventually([token = hold->lost_token()] { return token.stop_requested(); })) << "the loss is told";
        note(to_string(hold->state()));
        hold.reset();
        client.reset();
      },
      [&] { expect_nothing_left(); }, 5);
}

}  // namespace
}  // namespace holdfast::test::starvation_test
