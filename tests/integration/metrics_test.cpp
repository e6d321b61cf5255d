// SPDX-License-Identifier: Apache-2.0
// What a client measures of what it really does.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "faults.hpp"
#include "support/key_kinds.hpp"

namespace holdfast::test::metrics_test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

class MetricsOfAClient : public Faults {
 protected:
  static std::string text(const Client& client) {
    std::ostringstream out;
    client.metrics().write_openmetrics(out);
    return out.str();
  }
  /// The value behind `series `; NaN if there is no such line.
  static double value(const Client& client, const std::string& series) {
    const std::string all = "\n" + text(client);
    const std::size_t at = all.find("\n" + series + " ");
    if (at == std::string::npos) return std::nan("");
    return std::strtod(all.c_str() + at + series.size() + 2, nullptr);
  }
  static double acquires(const Client& client, const std::string& result) {
    return value(client, "holdfast_acquire_wait_seconds_count{result=\"" + result + "\"}");
  }
  static double lost(const Client& client, const std::string& reason) {
    return value(client, "holdfast_lost_total{reason=\"" + reason + "\"}");
  }
  static double commands(const Client& client, const std::string& operation) {
    return value(client, "holdfast_command_seconds_count{operation=\"" + operation + "\"}");
  }
};

TEST_F(MetricsOfAClient, CountEachResultOfAnAcquire) {
  Client client(config());
  Client other(config());
  Hold hold = other.lock("orders").acquire();
  const std::optional<Hold> once = client.lock("orders").try_acquire();
  const std::optional<Hold> limited = client.lock("orders").try_acquire({.wait = 30ms});
  EXPECT_FALSE(once || limited);
  std::stop_source stop;
  std::future<std::optional<Hold>> waiting = in_thread([&]() -> std::optional<Hold> {
    return client.lock("orders").try_acquire({.wait = 1min, .stop = stop.get_token()});
  });
  ASSERT_TRUE(eventually([&] { return value(client, "holdfast_waiters") == 1; }));
  EXPECT_GT(value(client, "holdfast_oldest_wait_seconds"), 0);
  stop.request_stop();
  EXPECT_FALSE(waiting.get());
  EXPECT_EQ(value(client, "holdfast_oldest_wait_seconds"), 0);
  hold.release();
  client.lock("orders").acquire().release();
  EXPECT_EQ(acquires(client, "busy"), 1);
  EXPECT_EQ(acquires(client, "timed_out"), 1);
  EXPECT_EQ(acquires(client, "cancelled"), 1);
  EXPECT_EQ(acquires(client, "granted"), 1);
  EXPECT_EQ(acquires(client, "error"), 0);
  EXPECT_EQ(acquires(client, "crowded"), 0);
  EXPECT_GE(value(client, "holdfast_acquire_wait_seconds_sum{result=\"timed_out\"}"), 0.03);
  EXPECT_EQ(value(client, "holdfast_waiters"), 0);
}

TEST_F(MetricsOfAClient, CountTheHoldsOfEachKind) {
  const auto expect_counted = [&](const std::string& kind, const std::function<Hold(const Client&)>& acquire) {
    Client client(config());
    acquire(client).release();
    EXPECT_GE(acquires(client, "granted"), 1) << kind;
    EXPECT_GE(value(client, "holdfast_hold_seconds_count"), 1) << kind;
  };
  for (const KeyKind& kind : kKeyKinds) {
    expect_counted(kind.word, [&](const Client& client) { return kind.make(client, kind.word).acquire(); });
  }
  expect_counted("reader", [](const Client& client) { return client.read_write_lock("shared").reader().acquire(); });
  expect_counted("several", [](const Client& client) { return client.multi_lock({"a", "b"}).acquire(); });
  expect_counted("any", [](const Client& client) { return client.any_lock({"a", "b"}).acquire(); });
  expect_counted("majority", [](const Client& client) { return RedLock(std::vector{client.lock("a")}).acquire(); });
  expect_counted("permit", [](const Client& client) {
    const LeasedSemaphore permits = client.leased_semaphore("permits");
    EXPECT_TRUE(permits.init(1));
    return permits.acquire();
  });
}

TEST_F(MetricsOfAClient, CountAnErrorAsOne) {
  raw.command("SET", "orders", "text");
  Client client(config());
  EXPECT_THROW(static_cast<void>(client.lock("orders").acquire()), Error);
  EXPECT_EQ(acquires(client, "error"), 1);
}

TEST_F(MetricsOfAClient, SayHowLongAHoldLasted) {
  Client client(config());
  Hold hold = client.lock("orders").acquire();
  EXPECT_EQ(value(client, "holdfast_holds"), 1);
  EXPECT_THAT(value(client, "holdfast_lowest_validity_seconds"), AllOf(Ge(0.001), Le(30)));
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count"), 0);
  hold.release();
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count"), 1);
  EXPECT_GE(value(client, "holdfast_hold_seconds_sum"), 0.02);
  EXPECT_EQ(value(client, "holdfast_holds"), 0);
  EXPECT_EQ(value(client, "holdfast_lowest_validity_seconds"), std::numeric_limits<double>::infinity());
}

TEST_F(MetricsOfAClient, KnowTheLowestValidityOfMany) {
  Client client(config());
  std::vector<Hold> holds;
  for (int i = 0; i < 1200; ++i)
    holds.push_back(client.lock("many " + std::to_string(i)).acquire({.lease = fixed(1h)}));
  const Hold shorter = client.lock("shorter").acquire({.lease = fixed(20min)});
  holds.push_back(client.lock("last").acquire({.lease = fixed(2h)}));
  EXPECT_THAT(value(client, "holdfast_lowest_validity_seconds"), AllOf(Ge(600), Le(1200)));
}

TEST_F(MetricsOfAClient, CountALossOnceByItsReasonAndEndTheHoldWithIt) {
  Config quick = config();
  quick.lease = 300ms;
  Client client(quick);
  Hold hold = client.lock("orders").acquire();
  raw.command("DEL", "orders");
  ASSERT_TRUE(eventually([&] { return hold.is_lost(); }));
  ASSERT_TRUE(eventually([&] { return lost(client, "taken") == 1; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost);
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count"), 1);
  EXPECT_EQ(lost(client, "expired"), 0);
}

TEST_F(MetricsOfAClient, CountAnExpiryByItsReason) {
  Client client(config());
  Hold hold = client.lock("orders").acquire({.lease = fixed(50ms)});
  ASSERT_TRUE(eventually([&] { return lost(client, "expired") == 1; }));
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count"), 1);
}

TEST_F(MetricsOfAClient, MeasureCommandsByWhatTheyAreFor) {
  Config quick = config();
  quick.lease = 300ms;
  Client client(quick);
  Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(eventually([&] { return commands(client, "renew") >= 1; }));
  EXPECT_GE(value(client, "holdfast_renewal_lateness_seconds_count"), 1);
  EXPECT_EQ(commands(client, "release"), 0);
  hold.release();
  EXPECT_EQ(commands(client, "acquire"), 1);
  EXPECT_EQ(commands(client, "release"), 1);
  EXPECT_GT(value(client, "holdfast_command_seconds_sum{operation=\"acquire\"}"), 0);
}

TEST_F(MetricsOfAClient, CountWhatIsPassedOnInsideTheClient) {
  Config settings = config();
  settings.kinds.handoff = 1min;
  Client client(settings);
  Hold first = client.lock("orders").acquire();
  std::future<Hold> waiting = in_thread([&] { return client.lock("orders").acquire(); });
  ASSERT_TRUE(eventually([&] { return value(client, "holdfast_waiters") == 1; }));
  first.release();
  const Hold second = waiting.get();
  EXPECT_EQ(value(client, "holdfast_local_handoffs_total"), 1);
  EXPECT_EQ(client.counters().local_handoffs, 1U);
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count"), 1);
  EXPECT_EQ(value(client, "holdfast_contended_total"), 1);
}

TEST_F(MetricsOfAClient, CountByClassesIfTheUserSaysSo) {
  Config settings = config();
  settings.lock_class = lock_class;
  Client client(settings);
  for (int i = 0; i < 3; ++i) client.lock("order:" + std::to_string(i)).acquire().release();
  client.simple_lock("nightly").acquire().release();
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count{lock=\"order:*\"}"), 3);
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count{lock=\"nightly\"}"), 1);
  EXPECT_EQ(value(client, "holdfast_acquire_wait_seconds_count{lock=\"order:*\",result=\"granted\"}"), 3);
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count{lock=\"other\"}"), 0);
  EXPECT_EQ(value(client, "holdfast_label_overflow_total"), 0);
}

TEST_F(MetricsOfAClient, LoseTheLabelAndNotTheLockWhenTheFunctionThrows) {
  Config settings = config();
  settings.lock_class = [](std::string_view) -> std::string { throw std::runtime_error("no label"); };
  Client client(settings);
  EXPECT_EQ(client.lock("orders").acquire().release(), ReleaseOutcome::released);
  EXPECT_EQ(value(client, "holdfast_hold_seconds_count{lock=\"other\"}"), 1);
}

TEST_F(MetricsOfAClient, SayWhetherThereIsAConnection) {
  Proxy proxy(server);
  Client client(config(proxy.url()));
  const std::string series = "holdfast_connected{node=\"" + client.node() + "\"}";
  client.ping();
  EXPECT_EQ(value(client, series), 1);
  proxy.refuse(true);
  proxy.cut();
  EXPECT_TRUE(eventually([&] { return value(client, series) == 0; }));
}

TEST_F(MetricsOfAClient, AreThereBeforeAnythingHappens) {
  Config settings = config();
  settings.server = UnixSocket{"/nowhere/redis.sock"};
  const Client client(settings);
  EXPECT_EQ(value(client, "holdfast_connected{node=\"/nowhere/redis.sock\"}"), 0);
  for (const char* series :
       {"holdfast_contended_total", "holdfast_unknown_outcomes_total", "holdfast_suspect_total",
        "holdfast_missed_wakes_total", "holdfast_acks_missed_total", "holdfast_local_handoffs_total",
        "holdfast_events_dropped_total", "holdfast_holds", "holdfast_waiters"}) {
    EXPECT_EQ(value(client, series), 0) << series;
  }
  EXPECT_THAT(text(client), HasSubstr("holdfast_build_info{version=\"" HOLDFAST_VERSION_STRING "\"} 1\n"));
}

}  // namespace
}  // namespace holdfast::test::metrics_test
