// SPDX-License-Identifier: Apache-2.0
// A loss that the server knows of first is told at once, whatever it was that took the key, for every kind of hold.
#include <deque>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include "notice.hpp"

namespace holdfast::test::loss_notice_test {
namespace {

using testing::Each;
using testing::Ge;
using testing::IsEmpty;

// --- Whatever takes it ---

struct Way {
  std::string name;
  /// Does it to this key, a hash or, of a simple lock, a string.
  std::function<void(RedisServer& server, Raw& raw, const std::string& key)> take;
};

const char* const kReplace =
    "local string = redis.call('TYPE', KEYS[1]).ok == 'string' redis.call('DEL', KEYS[1]) "
    "if string then redis.call('SET', KEYS[1], 'other:1') else redis.call('HSET', KEYS[1], 'other:1', 1) end "
    "return redis.call('PEXPIRE', KEYS[1], 60000)";

std::vector<Way> ways() {
  return {
      {"Del", [](RedisServer&, Raw& raw, const std::string& key) { raw.command("DEL", key); }},
      {"Unlink", [](RedisServer&, Raw& raw, const std::string& key) { raw.command("UNLINK", key); }},
      {"ForceReleaseAsRedissonDoes",
       [](RedisServer&, Raw& raw, const std::string& key) {
         raw.command("DEL", key);
         raw.command("PUBLISH", channel_of(key), 0);
       }},
      {"ForceReleaseByAnotherClient",
       [](RedisServer& server, Raw& raw, const std::string& key) {
         Client other(quick_config(server.url()));
         if (raw.type(key) == "string") {
           other.simple_lock(key).force_release();
         } else {
           other.lock(key).force_release();
         }
       }},
      {"Flushall", [](RedisServer&, Raw& raw, const std::string&) { raw.command("FLUSHALL"); }},
      {"Flushdb", [](RedisServer&, Raw& raw, const std::string&) { raw.command("FLUSHDB", "ASYNC"); }},
      {"AnotherOwner", [](RedisServer&, Raw& raw, const std::string& key) { raw.command("EVAL", kReplace, 1, key); }},
      {"Rename", [](RedisServer&, Raw& raw, const std::string& key) { raw.command("RENAME", key, key + ":away"); }},
      {"Migrate",
       [](RedisServer&, Raw& raw, const std::string& key) {
         const RedisServer other({.listen = ServerOptions::Listen::tcp});
         raw.command("MIGRATE", "127.0.0.1", other.port(), key, 0, 5000);
       }},
      {"Expire", [](RedisServer&, Raw& raw, const std::string& key) { raw.command("PEXPIRE", key, 1); }},
      {"AnotherType",
       [](RedisServer&, Raw& raw, const std::string& key) {
         raw.command("DEL", key);
         raw.command("LPUSH", key, "mine now");
       }},
      {"Overwritten", [](RedisServer&, Raw& raw, const std::string& key) { raw.command("SET", key, "mine now"); }},
  };
}

class TakenBy : public Notice, public testing::WithParamInterface<Way> {};

TEST_P(TakenBy, IsToldAtOnce) {
  Client client(long_lived());
  std::vector<std::pair<std::string, Hold>> holds;
  holds.emplace_back("renewed", client.lock("renewed").acquire());
  holds.emplace_back("fixed", client.lock("fixed").acquire({.lease = fixed(kLong)}));
  holds.emplace_back("capped", client.lock("capped").acquire({.max_hold = kLong / 2}));
  holds.emplace_back("simple", client.simple_lock("simple").acquire());
  holds.emplace_back("b", MultiLock({client.lock("a"), client.lock("b")}).acquire());
  holds.emplace_back("c", MultiLock({client.lock("c"), client.lock("d")}).acquire({.lease = fixed(kLong)}));
  ASSERT_TRUE(tracks(raw, 8));
  EXPECT_EQ(client.counters().lost, 0U);
  for (auto& [key, hold] : holds) {
    GetParam().take(server, raw, key);
    EXPECT_TRUE(told(hold)) << key;
    EXPECT_EQ(hold.loss_reason(), LossReason::taken) << key;
    EXPECT_EQ(hold.valid_for(), 0ms) << key;
    EXPECT_EQ(hold.release(), ReleaseOutcome::was_lost) << key;
  }
  EXPECT_TRUE(log->wait_for("lost", holds.size()));
  EXPECT_THAT(log->details("lost"), Each("taken"));
  EXPECT_EQ(client.counters().lost, holds.size());
  EXPECT_EQ(client.counters().watched, 8U);
  EXPECT_GT(client.counters().notices, 0U);
}

INSTANTIATE_TEST_SUITE_P(Notice, TakenBy, testing::ValuesIn(ways()), [](const auto& way) { return way.param.name; });

// --- Whoever is told ---

TEST_F(Notice, IsLeftToRenewalsWhereItIsSwitchedOff) {
  Config settings = long_lived();
  settings.loss_notice = false;
  settings.lease = 12s;  // renewed after four seconds
  Client client(settings);
  const Hold hold = client.lock("renewed").acquire();
  const Hold stays = client.lock("fixed").acquire({.lease = fixed(kLong)});
  std::this_thread::sleep_for(1200ms);  // watched it would be by now
  raw.flushall();
  EXPECT_FALSE(told(hold, 300ms));
  EXPECT_EQ(trackers(raw), 0);
  EXPECT_TRUE(told(hold, kPatience));
  EXPECT_EQ(stays.state(), HoldState::held) << "nobody asks";
  EXPECT_EQ(client.counters().watched, 0U);
}

TEST_F(Notice, ReachesCallbacksObserversAndTheStdFace) {
  Client client(long_lived());
  std::promise<LossReason> reason;
  const Hold hold =
      client.lock("hold").acquire({.on_lost = [&](const LostEvent& event) { reason.set_value(event.reason); }});
  Lock lock = client.lock("std");
  lock.lock();
  ASSERT_TRUE(tracks(raw, 2));
  raw.command("DEL", "hold", "std");
  auto told_reason = reason.get_future();
  ASSERT_TRUE(ready(told_reason, kAtOnce));
  EXPECT_EQ(told_reason.get(), LossReason::taken);
  EXPECT_TRUE(eventually([&] { return lock.this_thread().valid_for() == 0ms; }, kAtOnce));
  EXPECT_TRUE(log->wait_for("lost", 2));
  lock.unlock();
}

TEST_F(Notice, OfAHoldThatIsNextInLineComesToo) {
  Client client(long_lived());
  Lock lock = client.lock("orders");
  Hold first = lock.acquire();
  ASSERT_TRUE(tracks(raw, 1));
  auto second = in_thread([&] { return lock.acquire(); });
  EXPECT_FALSE(ready(second, 100ms));
  first.release();
  const Hold hold = second.get();
  EXPECT_TRUE(eventually([&] { return client.counters().watched == 2 && tracked(raw) == 1; }));
  raw.command("DEL", "orders");
  EXPECT_TRUE(told(hold));
}

TEST_F(Notice, IsNothingToAForkedChildAndGoesOnInTheParent) {
  Client client(long_lived());
  const Hold hold = client.lock("orders").acquire();
  ASSERT_TRUE(tracks(raw, 1));
  const pid_t child = fork();
  if (child == 0) _exit(hold.valid_for() == 0ms && hold.loss_reason() == LossReason::forked ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(hold.lost_token().stop_requested());
  raw.command("DEL", "orders");
  EXPECT_TRUE(told(hold));
}

TEST_F(Notice, IsToldBesideACallerWhoDrivesTheLoop) {
  Client client(long_lived());
  std::vector<Hold> holds;
  for (int i = 0; i < 10; ++i) holds.push_back(client.lock("orders:" + std::to_string(i)).acquire());
  ASSERT_TRUE(tracks(raw, 10));
  std::jthread caller([&client](const std::stop_token& stop) {
    Lock lock = client.lock("other");
    while (!stop.stop_requested()) {
      lock.lock();
      lock.unlock();
      std::this_thread::sleep_for(50ms);
    }
  });
  for (int i = 0; i < 10; ++i) {
    raw.command("DEL", "orders:" + std::to_string(i));
    EXPECT_TRUE(told(holds[static_cast<std::size_t>(i)]));
  }
}

TEST_F(Notice, CostsShortHoldsNothing) {
  Client client(long_lived());
  Lock lock = client.lock("orders");
  for (int i = 0; i < 500; ++i) {
    Hold hold = lock.acquire();
    hold.release();
  }
  EXPECT_EQ(client.counters().watched, 0U);
  EXPECT_EQ(trackers(raw), 0);
  EXPECT_EQ(raw.calls("hexists"), 0);
}

TEST_F(Notice, IsNotAskedForLeasesThatAreRenewedTenTimesASecond) {
  Client client(config());
  const Hold brief = client.lock("brief").acquire({.lease = renewed(250ms)});
  const Hold longer = client.lock("longer").acquire({.lease = renewed(300ms)});
  EXPECT_TRUE(eventually([&] { return client.counters().watched == 1; }));
  EXPECT_TRUE(eventually([&] { return client.counters().renewals > 20; }));
  EXPECT_EQ(client.counters().watched, 1U);
  EXPECT_EQ(client.counters().lost, 0U);
}

// --- Groups ---

class GroupNotice : public Notice {
 protected:
  GroupNotice() {
    others_.emplace_back();
    others_.emplace_back();
    clients_.push_back(std::make_unique<Client>(long_lived()));
    raws_.push_back(std::make_unique<Raw>(server));
    for (const RedisServer& other : others_) {
      clients_.push_back(std::make_unique<Client>(long_lived(other.url())));
      raws_.push_back(std::make_unique<Raw>(other));
    }
    for (const auto& client : clients_) locks_.push_back(client->lock("orders"));
  }
  bool watched() {
    return std::ranges::all_of(raws_, [](const auto& each) { return tracks(*each, 1); });
  }

  std::deque<RedisServer> others_;
  std::vector<std::unique_ptr<Raw>> raws_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<Lock> locks_;
};

TEST_F(GroupNotice, OfOneOfThreeHealsIt) {
  const Hold hold = RedLock(locks_).acquire();
  ASSERT_TRUE(watched());
  for (int round = 0; round < 3; ++round) {
    raws_[1]->command("DEL", "orders");
    EXPECT_TRUE(eventually([&] { return raws_[1]->exists("orders"); }, kAtOnce)) << "a renewal round took it again";
  }
  EXPECT_FALSE(hold.lost_token().stop_requested());
  EXPECT_EQ(hold.state(), HoldState::held);
}

TEST_F(GroupNotice, OfTwoOfThreeIsALoss) {
  const Hold hold = RedLock(locks_).acquire();
  ASSERT_TRUE(watched());
  for (const std::size_t i : {1, 2}) {
    raws_[i]->command("EVAL", kReplace, 1, "orders");
  }
  EXPECT_TRUE(told(hold));
  EXPECT_EQ(hold.loss_reason(), LossReason::taken);
}

TEST_F(GroupNotice, OfAFixedLeaseCountsTheMembers) {
  const Hold hold = RedLock(locks_).acquire({.lease = fixed(kLong)});
  ASSERT_TRUE(watched());
  raws_[1]->command("DEL", "orders");
  raws_[1]->command("SET", "orders", "again");  // the same member twice
  EXPECT_FALSE(told(hold, 500ms));
  raws_[2]->command("DEL", "orders");
  EXPECT_TRUE(told(hold));
  EXPECT_EQ(hold.loss_reason(), LossReason::taken);
}

TEST_F(GroupNotice, OfOneOfAllIsALoss) {
  const Hold renewed = MultiLock(locks_).acquire();
  ASSERT_TRUE(watched());
  raws_[2]->command("DEL", "orders");
  EXPECT_TRUE(told(renewed));
  std::vector<Lock> others;
  for (const auto& client : clients_) others.push_back(client->lock("fixed"));
  const Hold fixed_hold = MultiLock(others).acquire({.lease = fixed(kLong)});
  EXPECT_TRUE(eventually([&] { return clients_[2]->counters().watched == 2; }));
  EXPECT_TRUE(eventually([&] { return tracked(*raws_[2]) == 2; }));
  raws_[2]->command("DEL", "fixed");
  EXPECT_TRUE(told(fixed_hold));
}

TEST_F(GroupNotice, IsASuspicionWhereTooFewAnswer) {
  Hold hold = RedLock(locks_).acquire();
  ASSERT_TRUE(watched());
  clients_[2].reset();
  raws_[1]->command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.state() == HoldState::suspect; }, kAtOnce));
  EXPECT_FALSE(hold.lost_token().stop_requested());
}

}  // namespace
}  // namespace holdfast::test::loss_notice_test
