// SPDX-License-Identifier: Apache-2.0
// Many clients wait for one lock: those far back ask only if nobody ahead does, and say what they find.
#include "faults.hpp"
#include "support/held_lock.hpp"
#include "support/listen.hpp"

namespace holdfast::test::crowd_test {
namespace {

constexpr int kClients = 40;
const std::string kChannel = "redisson_lock__channel:{orders}";

class CrowdOnOneLock : public Faults {
 protected:
  /// All of them wait for what a stranger has, and each gives it back as soon as it has it.
  void SetUp() override {
    put_held_lock(raw, "orders");
    for (int i = 0; i < kClients; ++i) clients_.emplace_back(config());
    for (Client& client : clients_) {
      waits_.push_back(in_thread([&client] { return client.lock("orders").acquire().release(); }));
    }
    ASSERT_TRUE(listeners(raw, "orders", kClients));
    ASSERT_TRUE(eventually([&] { return asked() >= 2 * kClients; })) << "once more, after they had subscribed";
  }
  long long asked() { return raw.calls("pttl"); }
  /// The latest release by the stranger was none, as far as anybody can see.
  void publish(const std::vector<std::string>& messages) {
    for (const std::string& each : messages) script_ += "redis.call('PUBLISH', '" + kChannel + "', '" + each + "')";
    raw.command("EVAL", std::exchange(script_, {}), 0);
  }
  void all_get_it() {
    raw.command("DEL", "orders");
    publish({"0"});
    for (auto& each : waits_) {
      ASSERT_TRUE(ready(each));
      EXPECT_EQ(each.get(), ReleaseOutcome::released);
    }
  }

  std::string script_;
  std::deque<Client> clients_;
  std::vector<std::future<ReleaseOutcome>> waits_;
};

TEST_F(CrowdOnOneLock, HearsFromOneOfItThatItIsBusy) {
  Subscriber subscriber(server, {kChannel});
  const auto said = [&] {
    return std::ranges::any_of(subscriber.messages(), [](const Message& each) { return each.payload.front() == '-'; });
  };
  bool heard = false;
  for (int i = 0; i < 30 && !heard; ++i) {  // now and then chance chooses nobody
    publish({"0"});
    heard = eventually(said, 300ms);
  }
  EXPECT_TRUE(heard);
  all_get_it();
}

TEST_F(CrowdOnOneLock, AsksNotWhenItHasHeardThat) {
  const long long before = asked();
  for (int i = 0; i < 3; ++i) publish({"0", "-3600000"});
  for (Client& client : clients_) client.ping();  // has heard it all
  EXPECT_LT(asked() - before, kClients) << "three times that number if all of them asked";
  all_get_it();
}

/// The holder died, and nobody releases it.
TEST_F(CrowdOnOneLock, AsksWhenTheTimeIsOverThatItHasHeard) {
  publish({"0", "-300"});
  for (Client& client : clients_) client.ping();
  raw.command("DEL", "orders");
  for (auto& each : waits_) ASSERT_TRUE(ready(each));
}

}  // namespace
}  // namespace holdfast::test::crowd_test
