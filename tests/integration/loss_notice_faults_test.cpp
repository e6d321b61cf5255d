// SPDX-License-Identifier: Apache-2.0
// Notices that are late, lost, false or too many: none of them makes a loss, and none costs more than is written down.
#include <functional>

#include "access.hpp"
#include "notice.hpp"

namespace holdfast::test::loss_notice_faults_test {
namespace {

using testing::Each;
using testing::IsEmpty;
using testing::Le;
using testing::Lt;

class NoticeFaults : public Notice {
 protected:
  NoticeFaults() : Notice({.listen = ServerOptions::Listen::tcp}) {}

  /// The connections that are told of changes.
  std::vector<std::string> trackers_ids() {
    std::vector<std::string> ids;
    std::istringstream lines(raw.command("CLIENT", "LIST").text);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t flags = line.find(" flags=");
      if (line.substr(flags, line.find(' ', flags + 1) - flags).find('t') == std::string::npos) continue;
      ids.push_back(line.substr(3, line.find(' ') - 3));
    }
    return ids;
  }
};

TEST_F(NoticeFaults, OwnRenewalsAreNoLoss) {
  Client client(config());
  std::vector<Hold> holds;
  for (int i = 0; i < 150; ++i) {
    holds.push_back(client.lock("orders:" + std::to_string(i)).acquire({.lease = renewed(900ms)}));
  }
  EXPECT_TRUE(eventually([&] { return client.counters().renewals >= 20 * holds.size(); }));
  const Counters counters = client.counters();
  EXPECT_EQ(counters.watched, holds.size());
  EXPECT_EQ(counters.lost, 0U);
  EXPECT_EQ(counters.suspect, 0U);
  EXPECT_THAT(counters.notices, Lt(5 * holds.size())) << "of these renewals the server does not tell";
  // The first looks, and one question in each renewal.
  EXPECT_THAT(static_cast<std::uint64_t>(raw.calls("hexists")),
              Lt(client.counters().renewals * 5 / 4 + 5 * holds.size()));
  for (Hold& hold : holds) EXPECT_EQ(hold.release(), ReleaseOutcome::released);
}

TEST_F(NoticeFaults, AReleaseWhileTheKeyIsLookedAtIsNoLoss) {
  Client client(long_lived());
  for (int round = 0; round < 30; ++round) {
    Hold hold = client.lock("orders").acquire({.lease = renewed(300ms)});
    const std::stop_token token = hold.lost_token();
    EXPECT_TRUE(eventually([&] { return tracked(raw) == 1; }));
    raw.command("PEXPIRE", "orders", 60'000);  // a change, and so a look, as it is released
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_FALSE(token.stop_requested());
  }
  EXPECT_EQ(client.counters().lost, 0U);
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

TEST_F(NoticeFaults, TheNextOwnerOfThisClientIsNotTakenForThePreviousOne) {
  Client client(long_lived());
  Lock lock = client.lock("orders");
  Hold first = lock.acquire();
  ASSERT_TRUE(tracks(raw, 1));
  raw.command("DEL", "orders");
  EXPECT_TRUE(told(first));
  Hold second = lock.acquire();
  EXPECT_TRUE(eventually([&] { return client.counters().watched == 2; }));
  ASSERT_TRUE(tracks(raw, 1));
  EXPECT_EQ(first.release(), ReleaseOutcome::was_lost);
  EXPECT_FALSE(told(second, 300ms));
  EXPECT_EQ(second.release(), ReleaseOutcome::released);
  EXPECT_EQ(client.counters().lost, 1U);
}

// --- The connection that is told ---

TEST_F(NoticeFaults, AConnectionThatBreaksIsMadeGoodByALookAtAll) {
  Client client(long_lived());
  std::vector<Hold> holds;
  for (int i = 0; i < 3; ++i) holds.push_back(client.lock("orders:" + std::to_string(i)).acquire());
  const Hold fixed_hold = client.lock("fixed").acquire({.lease = fixed(kLong)});
  ASSERT_TRUE(tracks(raw, 4));
  for (std::size_t round = 0; round < 3; ++round) {
    ASSERT_TRUE(eventually([&] { return trackers(raw) == 1; }));
    // At the same moment, so that nobody is told of it.
    const std::vector<std::string> ids = trackers_ids();
    raw.command("MULTI");
    for (const std::string& id : ids) raw.command("CLIENT", "KILL", "ID", id);
    raw.command("DEL", "orders:" + std::to_string(round));
    raw.command("EXEC");
    EXPECT_TRUE(told(holds[round])) << round;
    for (std::size_t i = round + 1; i < 3; ++i) EXPECT_FALSE(holds[i].lost_token().stop_requested());
  }
  EXPECT_EQ(client.counters().lost, 3U);
  EXPECT_EQ(client.counters().connections, 1U) << "the other one is not touched";
  EXPECT_EQ(fixed_hold.state(), HoldState::held);
}

TEST_F(NoticeFaults, AKeyThatGoesWhileThereIsNoConnectionIsToldOnTheNext) {
  Proxy proxy(server);
  Client client(long_lived(proxy.url()));
  const Hold hold = client.lock("orders").acquire({.lease = fixed(kLong)});
  const Hold kept = client.lock("kept").acquire({.lease = fixed(kLong)});
  ASSERT_TRUE(tracks(raw, 2));
  proxy.refuse(true);
  proxy.cut();
  raw.command("DEL", "orders");
  EXPECT_FALSE(told(hold, 300ms));
  proxy.refuse(false);
  EXPECT_TRUE(told(hold));
  EXPECT_EQ(kept.state(), HoldState::held);
}

TEST_F(NoticeFaults, AConnectionThatBreaksWhileItAsksForNoticesForgetsNoKey) {
  Proxy proxy(server);
  proxy.cut_after_next_request("TRACKING");
  Client client(long_lived(proxy.url()));
  const Hold hold = client.lock("orders").acquire({.lease = fixed(kLong)});
  ASSERT_TRUE(eventually([&] { return proxy.fired() == 1; }));
  ASSERT_TRUE(tracks(raw, 1));
  raw.command("DEL", "orders");
  EXPECT_TRUE(told(hold));
  EXPECT_EQ(client.counters().watch_refusals, 0U);
}

TEST_F(NoticeFaults, AServerThatIsRestartedEmptyTellsOfFixedHoldsToo) {
  Client client(long_lived());
  const Hold fixed_hold = client.lock("fixed").acquire({.lease = fixed(kLong)});
  const Hold renewed_hold = client.lock("renewed").acquire();
  ASSERT_TRUE(tracks(raw, 2));
  server.restart(Data::lose);
  EXPECT_TRUE(told(renewed_hold));
  EXPECT_TRUE(told(fixed_hold));
}

TEST_F(NoticeFaults, AServerThatIsFrozenTellsAfterwardsAndNothingElse) {
  Client client(long_lived());
  const Hold taken = client.lock("taken").acquire();
  const Hold kept = client.lock("kept").acquire({.lease = fixed(kLong)});
  ASSERT_TRUE(tracks(raw, 2));
  raw.command("CLIENT", "PAUSE", 1500);
  auto deleted = in_thread([&] {
    Raw own(server);
    own.command("DEL", "taken");
  });
  EXPECT_FALSE(told(taken, 300ms));
  EXPECT_TRUE(told(taken));
  deleted.get();
  server.freeze();
  std::this_thread::sleep_for(300ms);
  server.thaw();
  EXPECT_EQ(kept.state(), HoldState::held);
  EXPECT_EQ(client.counters().lost, 1U);
}

// --- Servers that tell too much ---

TEST_F(NoticeFaults, AServerThatForgetsWhatItIsToTellIsNotAskedForEver) {
  raw.command("CONFIG", "SET", "tracking-table-max-keys", 1);
  Client client(long_lived());
  std::vector<Hold> holds;
  for (int i = 0; i < 20; ++i) holds.push_back(client.lock("orders:" + std::to_string(i)).acquire());
  // Each look makes the server forget another key, which it tells as a change.
  EXPECT_TRUE(eventually([&] { return client.counters().notices > 30; }));
  const long long before = raw.calls("hexists");
  std::this_thread::sleep_for(2s);
  const long long looks = raw.calls("hexists") - before;
  EXPECT_LE(looks, 100);
  EXPECT_EQ(client.counters().lost, 0U);
  raw.command("DEL", "orders:7");
  EXPECT_TRUE(told(holds[7], kPatience)) << "by its renewal, at the latest";
}

TEST_F(NoticeFaults, KeysThatOthersChangeAllTheTimeAreLookedAtNowAndThen) {
  Client client(long_lived());
  const Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(tracks(raw, 1));
  const long long before = raw.calls("hexists");
  const auto until = steady_clock::now() + 1s;
  long long changes = 0;
  for (; steady_clock::now() < until; ++changes) raw.command("PEXPIRE", "orders", 50'000 + changes);
  const long long looks = raw.calls("hexists") - before;
  EXPECT_LT(looks, 10) << "of " << changes << " changes";
  EXPECT_EQ(hold.state(), HoldState::held);
}

// --- Servers that do not tell ---

class NoticeRefused : public Access {
 protected:
  Config long_lived() const {
    Config settings = as_app();
    settings.lease = 6s;
    return settings;
  }
};

TEST_F(NoticeRefused, WithoutPermissionToTrackRenewalsTell) {
  grant(kRights, {"-client|tracking"});
  Client client(long_lived());
  const Hold hold = client.lock("app:orders").acquire();
  EXPECT_TRUE(eventually([&] { return client.counters().watch_refusals == 1; }));
  const Hold later = client.lock("app:later").acquire();
  std::this_thread::sleep_for(1100ms);
  EXPECT_EQ(client.counters().watched, 1U) << "no more of them";
  raw.command("DEL", "app:orders");
  EXPECT_TRUE(told(hold, kPatience));
  EXPECT_EQ(later.state(), HoldState::held);
  EXPECT_EQ(client.counters().watch_refusals, 1U);
  EXPECT_THAT(log->details("suspect"), IsEmpty());
}

TEST_F(NoticeRefused, IsAskedForAgainOnTheNextConnection) {
  grant(kRights, {"-client|tracking"});
  Client client(long_lived());
  const Hold hold = client.lock("app:orders").acquire({.lease = fixed(kLong)});
  EXPECT_TRUE(eventually([&] { return client.counters().watch_refusals == 1; }));
  grant(kRights);
  raw.command("CLIENT", "KILL", "TYPE", "normal");
  EXPECT_TRUE(eventually([&] { return trackers(raw) == 1; }));
  const Hold later = client.lock("app:later").acquire({.lease = fixed(kLong)});
  ASSERT_TRUE(tracks(raw, 1));
  raw.command("DEL", "app:later");
  EXPECT_TRUE(told(later));
}

TEST_F(NoticeRefused, AServerThatDoesNotKnowItLeavesItToRenewals) {
  const RedisServer other({.renamed_commands = {{"CLIENT", "NOT-THIS-ONE"}}});
  Raw its(other);
  Config settings = config(other.url());
  settings.client_name.clear();
  settings.lease = 6s;
  Client client(settings);
  const Hold hold = client.lock("orders").acquire();
  EXPECT_TRUE(eventually([&] { return client.counters().watch_refusals == 1; }));
  its.command("DEL", "orders");
  EXPECT_TRUE(told(hold, kPatience));
}

}  // namespace
}  // namespace holdfast::test::loss_notice_faults_test
