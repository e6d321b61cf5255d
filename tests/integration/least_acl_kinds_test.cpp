// SPDX-License-Identifier: Apache-2.0
// What docs/least-acl.acl names for each kind suffices for all that can be done with it: the server refuses nothing.
#include <algorithm>

#include "access.hpp"
#include "support/least_acl.hpp"

namespace holdfast::test::least_acl_kinds_test {
namespace {

using testing::IsEmpty;

constexpr auto kLimit = 30s;
const std::string kName = "lock:orders";

class LeastAclOfKinds : public Access {
 protected:
  using Words = std::vector<std::string>;

  /// The rights of a Lock, and what the file names for these kinds, but not what they do without.
  void grant_for(const Words& kinds, const Words& without = {}) {
    Words rights = least_rights(kSecret);
    std::erase_if(rights, [&](const std::string& right) { return std::ranges::find(without, right) != without.end(); });
    for (const std::string& kind : kinds) std::ranges::copy(rights_named_for(kind), std::back_inserter(rights));
    // What the file calls a comfort.
    grant(rights, {"+client|tracking", "+multi", "+exec", "+exists", "+script|load", "+pubsub|numsub", "+info"});
    raw.command("ACL", "LOG", "RESET");
  }

  /// Whatever the server has refused since.
  Words refused() {
    Words found;
    for (const Reply& entry : raw.command("ACL", "LOG").elements) {
      std::string words;
      for (std::size_t i = 0; i + 1 < entry.elements.size(); i += 2) {
        const std::string& name = entry.elements[i].text;
        if (name == "reason" || name == "context" || name == "object") words += entry.elements[i + 1].text + " ";
      }
      found.push_back(std::move(words));
    }
    return found;
  }

  Config settings() const {
    Config config = as_app();
    config.lease = 6s;  // renewed soon
    return config;
  }

  static bool gets(const auto& lock, const AcquireOptions& options = {}) {
    const MaybeHold hold = lock.try_acquire(options);
    return hold.has_value();
  }

  /// What every lock can do; `lock_of` makes it from a client.
  void use(const auto& lock_of, KeyForm listed = KeyForm::locks) {
    const Client client(settings()), other(settings());
    const auto lock = lock_of(client);
    Hold hold = lock.acquire();
    EXPECT_FALSE(gets(lock_of(other), {.wait = 20ms}));
    auto waiting = in_thread([&] { return gets(lock_of(other), {.wait = kLimit}); });
    EXPECT_TRUE(eventually([&] { return client.counters().renewals > 0; }, kLimit));
    EXPECT_TRUE(lock.is_locked() && lock.is_held_by(hold.owner()) && lock.remaining() != 0ms);
    EXPECT_EQ(lock.info().holders.size(), 1U);
    EXPECT_EQ(client.list("lock:*", InfoDetail::holder, listed).size(), 1U);
    EXPECT_EQ(hold.release(), ReleaseOutcome::released);
    EXPECT_TRUE(waiting.get());
    hold = lock.acquire();
    EXPECT_TRUE(lock.force_release(hold.owner()));
    EXPECT_FALSE(lock.force_release());
  }
};

TEST_F(LeastAclOfKinds, Lock) {
  grant_for({});
  use([](const Client& client) { return client.lock(kName); });
  const Client client(settings());
  Hold several = client.multi_lock({"lock:a", "lock:b"}).acquire();
  Hold any = client.any_lock({"lock:a", "lock:c"}).acquire();
  EXPECT_EQ(several.release(), ReleaseOutcome::released);
  EXPECT_EQ(any.release(), ReleaseOutcome::released);
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, SimpleLock) {
  grant_for({"SimpleLock"}, {"+hexists", "+hset", "+hdel", "+hlen", "+hgetall", "+type"});
  use([](const Client& client) { return client.simple_lock(kName); }, KeyForm::simple_locks);
  const Client marks(settings());
  Hold mark = marks.simple_lock("{lock:orders}:holdfast_succeeded").acquire({.lease = fixed(1min)});
  EXPECT_EQ(mark.leave(1min), ReleaseOutcome::left);
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, SpinLock) {
  grant_for({}, {"&" + channel_of("lock:*"), "+publish", "+subscribe", "+unsubscribe"});
  use([](const Client& client) { return client.spin_lock(kName); });
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, FencedLock) {
  grant_for({"FencedLock"});
  use([](const Client& client) { return client.fenced_lock(kName); });
  EXPECT_GT(Client(settings()).fenced_lock(kName).latest_token(), 0);
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, FairLock) {
  grant_for({"FairLock"});
  use([](const Client& client) { return client.fair_lock(kName); });
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, ReadWriteLock) {
  grant_for({"ReadWriteLock"});
  use([](const Client& client) { return client.read_write_lock(kName).writer(); }, KeyForm::read_write_locks);
  const Client client(settings()), other(settings());
  const ReadWriteLock lock = client.read_write_lock(kName);
  Hold hold = lock.writer().acquire();
  lock.downgrade(hold);
  Hold reader = other.read_write_lock(kName).reader().acquire();
  EXPECT_EQ(lock.writer().info().holders.size(), 2U);
  EXPECT_FALSE(gets(other.read_write_lock(kName).writer(), {.wait = 20ms}));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return other.counters().renewals > 0; }, kLimit));
  EXPECT_TRUE(lock.writer().force_release());
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, Semaphore) {
  grant_for({"Semaphore"}, {"+hexists", "+hset", "+hdel", "+pexpire"});
  const Client client(settings()), other(settings());
  const Semaphore semaphore = client.semaphore(kName);
  EXPECT_TRUE(semaphore.init(1, 1h));
  semaphore.acquire();
  EXPECT_FALSE(other.semaphore(kName).try_acquire());
  auto waiting = in_thread([&] { return other.semaphore(kName).try_acquire_for(kLimit); });
  EXPECT_TRUE(eventually([&] { return other.counters().waiting == 1; }, kLimit));
  EXPECT_TRUE(semaphore.release());
  EXPECT_TRUE(waiting.get());
  EXPECT_EQ(semaphore.add(2), 2);
  EXPECT_EQ(client.list("lock:*", InfoDetail::holder, KeyForm::semaphores).size(), 1U);
  EXPECT_EQ(semaphore.drain(), 2);
  EXPECT_EQ(semaphore.available(), 0);
  EXPECT_TRUE(semaphore.remove());
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, LeasedSemaphore) {
  grant_for({"Semaphore", "LeasedSemaphore"});
  EXPECT_TRUE(Client(settings()).leased_semaphore(kName).init(1));
  use([](const Client& client) { return client.leased_semaphore(kName); }, KeyForm::leased_semaphores);
  const Client client(settings());
  const LeasedSemaphore semaphore = client.leased_semaphore(kName);
  EXPECT_EQ(semaphore.set_total(2), 2);
  EXPECT_EQ(semaphore.add(1), 3);
  EXPECT_TRUE(gets(semaphore.with_permits(2)));
  EXPECT_TRUE(semaphore.remove());
  EXPECT_THAT(refused(), IsEmpty());
}

TEST_F(LeastAclOfKinds, Latch) {
  grant_for({"Latch"}, {"+hexists", "+hset", "+hdel", "+pexpire"});
  const Client client(settings()), other(settings());
  const Latch latch = client.latch(kName);
  EXPECT_TRUE(latch.init(2));
  EXPECT_EQ(latch.count_down(), 1);
  auto waiting = in_thread([&] { return other.latch(kName).wait_for(kLimit); });
  EXPECT_TRUE(eventually([&] { return other.counters().waiting == 1; }, kLimit));
  EXPECT_EQ(client.list("lock:*", InfoDetail::holder, KeyForm::latches).size(), 1U);
  EXPECT_EQ(latch.count_down(), 0);
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(latch.init(1));
  EXPECT_TRUE(latch.remove());
  EXPECT_THAT(refused(), IsEmpty());
}

}  // namespace
}  // namespace holdfast::test::least_acl_kinds_test
