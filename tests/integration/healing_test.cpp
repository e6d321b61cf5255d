// SPDX-License-Identifier: Apache-2.0
// A vote that was forgotten and is taken again, and what must not be taken back with it.
#include "notice.hpp"

namespace holdfast::test::healing_test {
namespace {

class Healing : public testing::Test {
 protected:
  Healing() : third_(thirds_, Proxy::Listen::unix_socket) {
    for (const std::string& url : {first_.url(), second_.url(), third_.url()}) {
      Config config = quick_config(url);
      config.kinds.handoff = 1min;  // callers of this client pass it on without asking
      config.timing.node_timeout = 600ms;
      clients_.emplace_back(config);
      members_.push_back(clients_.back().lock("orders"));
      clients_.back().ping();
    }
  }
  bool third_has(const std::string& owner) { return Raw(thirds_).hgetall("orders").contains(owner); }

  RedisServer first_, second_, thirds_;
  Proxy third_;
  std::vector<Client> clients_;
  std::vector<Lock> members_;
};

TEST_F(Healing, OfAHoldThatWasPassedOnIsNotTakenBackFromItsSuccessor) {
  RedLock lock(members_);
  Hold first = lock.acquire();
  const std::string owner = first.owner();
  ASSERT_TRUE(eventually([&] { return third_has(owner); }));
  auto waiting = in_thread([lock]() mutable { return lock.acquire(); });
  third_.delay(Proxy::Direction::to_client, 400ms);
  Raw(thirds_).command("DEL", "orders");
  // The renewal finds it gone there, and it is healed; the reply is on its way when the hold ends.
  ASSERT_TRUE(eventually([&] { return third_has(owner); }));
  EXPECT_EQ(first.release(), ReleaseOutcome::released);
  Hold second = waiting.get();
  ASSERT_EQ(second.owner(), owner);
  EXPECT_FALSE(eventually([&] { return !third_has(owner); }, 1500ms)) << "the successor has lost a vote";
  third_.delay(Proxy::Direction::to_client, 0ms);
  EXPECT_EQ(second.release(), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return !third_has(owner); }));
}

TEST_F(Healing, OfAHoldThatHasEndedIsTakenBack) {
  RedLock lock(members_);
  Hold hold = lock.acquire({.lease = renewed(10min)});
  const std::string owner = hold.owner();
  ASSERT_TRUE(eventually([&] { return third_has(owner) && clients_[2].counters().watched > 0; }));
  third_.delay(Proxy::Direction::to_client, 400ms);
  Raw(thirds_).command("DEL", "orders");
  ASSERT_TRUE(eventually([&] { return third_has(owner); }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return !third_has(owner); }));
}

/// The renewal's answer, that it is gone there, comes when the hold has ended and its release was sent.
TEST_F(Healing, EndsWithItsHold) {
  RedLock lock(members_);
  Hold hold = lock.acquire({.lease = renewed(10min)});
  const std::string owner = hold.owner();
  Raw third(thirds_);
  ASSERT_TRUE(eventually([&] { return third_has(owner); }));
  ASSERT_TRUE(tracks(third, 1));
  const long long grants = third.calls("hset"), questions = third.calls("hexists");
  third_.delay(Proxy::Direction::to_client, 400ms);
  third.command("DEL", "orders");
  ASSERT_TRUE(eventually([&] { return third.calls("hexists") >= questions + 2; })) << "the look, and the renewal";
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  clients_[2].ping();  // answered behind the renewal,
  clients_[2].ping();  // and executed behind whatever that has caused
  EXPECT_EQ(third.calls("hset"), grants);
  EXPECT_FALSE(third_has(owner));
}

}  // namespace
}  // namespace holdfast::test::healing_test
