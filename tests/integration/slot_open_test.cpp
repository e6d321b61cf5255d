// SPDX-License-Identifier: Apache-2.0
// A slot that stays open for longer than the lease: what is held in it, what is given back, and what is taken anew.
#include <algorithm>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "kinds/read_write_lock.hpp"
#include "support/key_kinds.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::slot_open_test {
namespace {

using testing::IsEmpty;

constexpr milliseconds kLease = 2s, kOpen = 6s;

class SlotOpen : public ClusterTest {
 protected:
  struct Held {
    std::string what;
    Hold hold;
  };

  SlotOpen() { settings_.lease = kLease; }

  /// One of each kind, in the slot of this name.
  std::vector<Held> hold_each(Client& client, const std::string& name) {
    const auto in_slot = [&](const std::string& what) { return what + "{" + name + "}"; };
    EXPECT_TRUE(client.leased_semaphore(in_slot("permits")).init(2));
    std::vector<Held> held;
    const auto add = [&](const std::string& what, Hold hold) { held.push_back({what, std::move(hold)}); };
    for (const KeyKind& kind : kKeyKinds) add(kind.word, kind.make(client, in_slot(kind.word)).acquire());
    add("reader", client.read_write_lock(in_slot("read")).reader().acquire());
    add("permit", client.leased_semaphore(in_slot("permits")).acquire());
    return held;
  }

  /// For three leases.
  void stand(std::vector<Held>& held) {
    for (const auto end = steady_clock::now() + kOpen; steady_clock::now() < end; std::this_thread::sleep_for(20ms)) {
      for (Held& each : held) ASSERT_FALSE(each.hold.is_lost()) << each.what;
    }
    EXPECT_THAT(log->details("lost"), IsEmpty());
  }

  static void release(std::vector<Held>& held) {
    for (Held& each : held) EXPECT_EQ(each.hold.release(), ReleaseOutcome::released) << each.what;
  }

  RedisServer& from() { return *cluster.primaries().front(); }
  RedisServer& to() { return *cluster.primaries().back(); }

  Config settings_ = config();
};

TEST_F(SlotOpen, AllKindsStandAndAreGivenBackBeforeAKeyHasGone) {
  Client client(settings_);
  const std::string name = name_on(from());
  std::vector<Held> held = hold_each(client, name);
  cluster.begin_move(cluster.slot_of(name), to());
  stand(held);
  release(held);
}

TEST_F(SlotOpen, AllKindsStandAndAreGivenBackWhenAllKeysHaveGone) {
  Client client(settings_);
  RedisServer& next = to();
  const std::string name = name_on(from());
  std::vector<Held> held = hold_each(client, name);
  const int slot = cluster.slot_of(name);
  cluster.begin_move(slot, next);
  EXPECT_GT(cluster.move_keys(slot, next), held.size());
  stand(held);
  release(held);
  cluster.end_move(slot, next);
  EXPECT_THAT(log->details("lost"), IsEmpty());
}

/// What is at two servers is given back when it has come together.
TEST_F(SlotOpen, AllKindsStandWhenHalfOfTheKeysHaveGone) {
  Client client(settings_);
  RedisServer& next = to();
  const std::string name = name_on(from());
  std::vector<Held> held = hold_each(client, name);
  const int slot = cluster.slot_of(name);
  cluster.begin_move(slot, next);
  const auto keys = static_cast<std::size_t>(Raw(from()).command("CLUSTER", "COUNTKEYSINSLOT", slot).integer);
  EXPECT_EQ(cluster.move_keys(slot, next, keys / 2), keys / 2);
  stand(held);
  auto released = in_thread([&] { return release(held), true; });
  cluster.end_move(slot, next);
  EXPECT_TRUE(released.get());
}

/// The lock is at one server, and the key of the hold at the other.
TEST_F(SlotOpen, AReaderAtTwoServersStandsAndIsGivenBack) {
  for (const bool lock_goes : {true, false}) {
    Client client(settings_), writer(settings_);
    RedisServer& next = to();
    const std::string name = name_on(from(), lock_goes ? 0 : 1);
    Hold hold = client.read_write_lock(name).reader().acquire();
    cluster.begin_move(cluster.slot_of(name), next);
    ASSERT_TRUE(cluster.move_key(lock_goes ? name : wire::read_write::hold_key(name, hold.owner()), next));
    for (const auto end = steady_clock::now() + kOpen; steady_clock::now() < end; std::this_thread::sleep_for(20ms)) {
      ASSERT_FALSE(hold.is_lost()) << lock_goes;
    }
    Hold another = writer.read_write_lock(name).reader().acquire({.wait = 10s});
    EXPECT_EQ(another.release(), ReleaseOutcome::released) << lock_goes;
    const MaybeHold none = writer.read_write_lock(name).writer().try_acquire();
    EXPECT_FALSE(none) << lock_goes;
    EXPECT_EQ(hold.release(), ReleaseOutcome::released) << lock_goes;
    writer.read_write_lock(name).writer().acquire({.wait = 10s}).release();
    cluster.end_move(cluster.slot_of(name), next);
  }
}

TEST_F(SlotOpen, AllKindsAreTakenAnew) {
  settings_.timing.patience = 20s;
  Client client(settings_), other(settings_);
  RedisServer& next = to();
  const std::string name = name_on(from());
  const auto in_slot = [&](const std::string& what) { return what + "{" + name + "}"; };
  cluster.begin_move(cluster.slot_of(name), next);
  std::vector<Held> held = hold_each(client, name);
  held.push_back({"any", client.any_lock({in_slot("a"), in_slot("b")}).acquire()});
  held.push_back({"several", client.multi_lock({in_slot("c"), in_slot("d")}).acquire()});
  const MaybeHold none = other.fair_lock(in_slot("fair")).try_acquire();
  EXPECT_FALSE(none) << "it is taken";
  const Hold reader = other.read_write_lock(in_slot("read")).reader().acquire();
  const Semaphore semaphore = client.semaphore(in_slot("semaphore"));
  EXPECT_TRUE(semaphore.init(3));
  EXPECT_TRUE(semaphore.try_acquire(2));
  EXPECT_TRUE(semaphore.release(2));
  EXPECT_EQ(semaphore.drain(), 3);
  const Latch latch = client.latch(name);  // whose names have no braces in a cluster
  EXPECT_TRUE(latch.init(2));
  EXPECT_EQ(latch.count_down(2), 0);
  stand(held);
  release(held);
}

/// The keys of what is taken stay where the slot comes from.
TEST_F(SlotOpen, AWaiterForWhatHasNotGoneYetGetsIt) {
  Client client(settings_), waiter(settings_);
  const std::string name = name_on(from());
  Hold fair = client.fair_lock("fair{" + name + "}").acquire();
  Hold written = client.read_write_lock("written{" + name + "}").writer().acquire();
  Hold read = client.read_write_lock("read{" + name + "}").reader().acquire();
  cluster.begin_move(cluster.slot_of(name), to());
  auto next_fair = in_thread([&] { return waiter.fair_lock("fair{" + name + "}").acquire(); });
  auto next_read = in_thread([&] { return waiter.read_write_lock("written{" + name + "}").reader().acquire(); });
  auto beside = in_thread([&] { return waiter.read_write_lock("read{" + name + "}").reader().acquire(); });
  ASSERT_TRUE(ready(beside)) << "two readers";
  EXPECT_FALSE(ready(next_fair, 100ms));
  EXPECT_EQ(fair.release(), ReleaseOutcome::released);
  EXPECT_EQ(written.release(), ReleaseOutcome::released);
  ASSERT_TRUE(ready(next_fair));
  ASSERT_TRUE(ready(next_read));
  EXPECT_EQ(read.release(), ReleaseOutcome::released);
  EXPECT_EQ(beside.get().release(), ReleaseOutcome::released);
}

/// It waits until the semaphore's key has gone; longer than `patience`, as long as a lease.
TEST_F(SlotOpen, ASemaphoreThatHasNotGoneYetGetsItsPermitsBack) {
  settings_.lease = 60s;
  settings_.timing.patience = 1s;
  Client client(settings_);
  RedisServer& next = to();
  const std::string name = name_on(from());
  const Semaphore semaphore = client.semaphore(name);
  ASSERT_TRUE(semaphore.init(1));
  ASSERT_TRUE(semaphore.try_acquire());
  cluster.begin_move(cluster.slot_of(name), next);
  auto released = in_thread([&] { return semaphore.release(); });
  EXPECT_FALSE(ready(released, 3 * settings_.timing.patience));
  ASSERT_TRUE(cluster.move_key(name, next));
  ASSERT_TRUE(ready(released));
  EXPECT_TRUE(released.get());
  EXPECT_EQ(semaphore.available(), 1);
}

TEST_F(SlotOpen, AllKindsStandWhereSlotsMoveAtOnce) {
  if (!Cluster::moves_atomically()) GTEST_SKIP() << server_version() << " does not move slots atomically";
  Client client(settings_);
  const std::string name = name_on(from());
  const int slot = cluster.slot_of(name);
  std::vector<Held> held = hold_each(client, name);
  cluster.move_slots_atomically(slot, slot, to());
  stand(held);
  release(held);
}

}  // namespace
}  // namespace holdfast::test::slot_open_test
