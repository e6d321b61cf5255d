// SPDX-License-Identifier: Apache-2.0
// Renewals of watched holds go where these are watched: the server does not tell of them, and does of what comes next.
#include "access.hpp"
#include "notice.hpp"

namespace holdfast::test::watched_renewals_test {
namespace {

using testing::Ge;
using testing::Lt;

const char* const kTakeOver =
    "redis.call('DEL', KEYS[1]) redis.call('HSET', KEYS[1], 'other:1', 1) return redis.call('PEXPIRE', KEYS[1], 60000)";

class WatchedRenewals : public Notice {
 protected:
  WatchedRenewals() : Notice({.listen = ServerOptions::Listen::tcp}) {}

  Config quick() const { return quick(server.url()); }
  Config quick(const std::string& url) const {
    Config settings = config(url);
    settings.lease = 3s;
    return settings;
  }
  /// The connections of clients, by whether they are told of changes.
  std::vector<std::string> connections(bool told) {
    std::vector<std::string> ids;
    std::istringstream lines(raw.command("CLIENT", "LIST").text);
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" name=holdfast") == std::string::npos) continue;
      const std::size_t flags = line.find(" flags=");
      const bool its = line.substr(flags, line.find(' ', flags + 1) - flags).find('t') != std::string::npos;
      if (its == told) ids.push_back(line.substr(3, line.find(' ') - 3));
    }
    return ids;
  }
  /// How many transactions there were.
  long long untold() { return raw.calls("exec"); }
};

TEST_F(WatchedRenewals, AChangeBehindThemIsToldAtOnce) {
  Config settings = config();
  settings.lease = 9s;
  Client client(settings);
  const Hold deleted = client.lock("deleted").acquire();
  const Hold taken = client.lock("taken").acquire();
  const Hold simple = client.simple_lock("simple").acquire();
  const Hold stays = client.lock("stays").acquire();
  ASSERT_TRUE(eventually([&] { return client.counters().renewals >= 4; }));
  EXPECT_THAT(untold(), Ge(2)) << "the trial, and the renewals";
  const auto renewals = client.counters().renewals;
  raw.command("DEL", "deleted");
  raw.command("EVAL", kTakeOver, 1, "taken");
  raw.command("SET", "simple", "other");
  for (const Hold* hold : {&deleted, &taken, &simple}) EXPECT_TRUE(told(*hold, 2s)) << hold->name();
  EXPECT_EQ(stays.state(), HoldState::held);
  EXPECT_THAT(client.counters().renewals, Lt(renewals + 4)) << "the next renewals would have told as well";
}

TEST_F(WatchedRenewals, GoThereOnANewConnectionWhenTheOtherOneIsNew) {
  Client client(quick());
  const Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(eventually([&] { return untold() >= 2; }));
  const std::vector<std::string> before = connections(true);
  for (const std::string& id : connections(false)) raw.command("CLIENT", "KILL", "ID", id);
  EXPECT_TRUE(eventually([&] {
    const std::vector<std::string> now = connections(true);
    return now.size() == 1 && now != before;
  })) << "who knows which server that one is connected to";
  const long long until_now = untold();
  EXPECT_TRUE(eventually([&] { return untold() >= until_now + 2; }));
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(WatchedRenewals, DoNotGoThereWhileTheOtherConnectionIsAway) {
  Proxy proxy(server);
  Client client(quick(proxy.url()));
  const Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(eventually([&] { return untold() >= 2; }));
  proxy.refuse(true);
  for (const std::string& id : connections(false)) raw.command("CLIENT", "KILL", "ID", id);
  EXPECT_TRUE(told(hold)) << "as a server would be that has a successor, and does not know it";
  EXPECT_EQ(hold.loss_reason(), LossReason::expired);
  EXPECT_EQ(trackers(raw), 1);
}

TEST_F(WatchedRenewals, AreSentAgainAtOnceWhereTheirConnectionBreaks) {
  Proxy proxy(server);
  Client client(quick(proxy.url()));
  const Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(eventually([&] { return untold() >= 1; }));
  const auto renewals = client.counters().renewals;
  proxy.hold_next_request("EXEC");
  ASSERT_TRUE(eventually([&] { return proxy.fired() == 1; }));
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > renewals; }, 900ms)) << "not at the next retry";
  EXPECT_EQ(log->count("suspect"), 0U);
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(WatchedRenewals, OfAWriterKeepTheirOrderWithItsDowngrade) {
  Client client(quick());
  const Hold hold = client.read_write_lock("orders").writer().acquire();
  ASSERT_TRUE(eventually([&] { return client.counters().renewals >= 2; }));
  EXPECT_EQ(untold(), 1) << "the trial";
}

TEST_F(WatchedRenewals, DoNotHaveTheLastWordAboutWhatIsLeft) {
  Client client(long_lived());
  Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(tracks(raw, 1));
  const long long before = untold();
  EXPECT_EQ(hold.leave(10s), ReleaseOutcome::left);
  EXPECT_TRUE(eventually([&] { return untold() == before + 1; })) << "it is said on both connections";
  EXPECT_THAT(raw.pttl("orders"), testing::Le(10'000));
}

class WatchedRenewalsRefused : public Access {};

TEST_F(WatchedRenewalsRefused, GoAsAllElseDoesAndAreTold) {
  for (const char* const command : {"-multi", "-exists"}) {
    grant(kRights, {command});
    Config settings = as_app();
    settings.lease = 3s;
    Client client(settings);
    const Hold hold = client.lock("app:orders").acquire();
    ASSERT_TRUE(eventually([&] { return client.counters().renewals >= 3; })) << command;
    EXPECT_THAT(client.counters().notices, Ge(2U)) << command;
    raw.command("DEL", "app:orders");
    EXPECT_TRUE(told(hold)) << command;
    EXPECT_EQ(client.counters().suspect, 0U) << command;
  }
}

}  // namespace
}  // namespace holdfast::test::watched_renewals_test
