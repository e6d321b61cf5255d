// SPDX-License-Identifier: Apache-2.0
// What a new kind of lock needs, shown with one of this test's own: the plain lock, whose holder greets the next one.
#include "face/parts.hpp"
#include "faults.hpp"
#include "integration/trial_kinds.hpp"
#include "lock/client/core.hpp"
#include "lock/runtime/asking.hpp"

namespace holdfast::test::own_kind_test {

// ---- its script, its call, and its plan: the rest is the plain lock's ----

namespace greeting {
namespace {

trial::Script acquire_script{"greeting/acquire", R"lua(
if redis.call('EXISTS', KEYS[1]) == 1 and redis.call('HEXISTS', KEYS[1], ARGV[2]) == 0 then
  return redis.call('PTTL', KEYS[1])
end
redis.call('HSET', KEYS[1], ARGV[2], 1)
redis.call('PEXPIRE', KEYS[1], ARGV[1])
redis.call('SET', KEYS[2], 'hello from ' .. ARGV[2])
return nil
)lua"};

std::string key_of(std::string_view key) { return wire::prefixed("greeting", key); }

base::Command acquire(const wire::AcquireCall& call) {
  const std::string& key = call.names.front().key;
  return acquire_script.call({key, key_of(key)}, {trial::text(call.lease), call.owner.text});
}

base::Command look(std::string_view key) { return {{"GET", key_of(key)}}; }

/// Not passable: whoever gets it has a greeting of its own.
const engine::Plan kPlan = [] {
  engine::Plan plan = kinds::kLock;
  plan.traits.passable = false;
  plan.transitions.acquire = acquire;
  return plan;
}();

}  // namespace
}  // namespace greeting

// ---- its handle ----

class GreetingLock : public KeyLock {
 public:
  GreetingLock(const Client& client, std::string_view name) : KeyLock(parts_for(client, name)) {}
  GreetingLock with(LockOptions defaults) const { return GreetingLock(parts_with(std::move(defaults))); }

  /// Of whoever has it, or had it last.
  std::string greeting() const {
    const std::string key = face::key_target(*parts()).names().key;
    return engine::ask(*parts()->runtime, {.commands = {greeting::look(key)}}, name()).front().text;
  }

 private:
  using KeyLock::KeyLock;
  static detail::PartsPtr parts_for(const Client& client, std::string_view name) {
    engine::Core& core = detail::ClientAccess::core(client);
    return face::make_parts(core.shared_runtime(), core.targets().target({std::string(name)}, greeting::kPlan), {});
  }
};

namespace {

class OwnKind : public Faults {
 protected:
  OwnKind() { greeting::acquire_script.load(raw); }

  Client one{config()}, other{config()};
  GreetingLock lock{one, "orders"}, elsewhere{other, "orders"};
};

TEST_F(OwnKind, IsGrantedGreetsAndExcludesEverybodyElse) {
  Hold hold = lock.acquire();
  EXPECT_EQ(elsewhere.greeting(), "hello from " + hold.owner());
  EXPECT_FALSE(elsewhere.try_lock());
  EXPECT_FALSE(other.lock("orders").try_lock()) << "it has the plain lock's form";
  EXPECT_EQ(elsewhere.info().owner, hold.owner());
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
}

TEST_F(OwnKind, AWaiterIsWokenAndGreetsInItsTurn) {
  Hold hold = lock.acquire();
  auto next = in_thread([this] { return elsewhere.with({.wait = 30s}).acquire(); });
  ASSERT_TRUE(eventually([this] { return other.counters().waiting == 1; }));
  EXPECT_EQ(hold.release(), ReleaseOutcome::released);
  const Hold got = next.get();
  EXPECT_EQ(lock.greeting(), "hello from " + got.owner());
  EXPECT_EQ(other.counters().safety_polls, 0U) << "a message";
}

TEST_F(OwnKind, IsRenewedAndItsLossIsToldAtOnce) {
  const Hold hold = lock.acquire({.lease = renewed(900ms)});
  std::this_thread::sleep_for(1500ms);
  EXPECT_FALSE(hold.is_lost());
  raw.command("DEL", "orders");
  EXPECT_TRUE(eventually([&] { return hold.lost_token().stop_requested(); }));
}

TEST_F(OwnKind, IsLockedByThreadsAsEveryLockIs) {
  const std::scoped_lock guard(lock);
  lock.lock();
  EXPECT_EQ(lock.this_thread().hold_count(), 2);
  lock.unlock();
}

TEST_F(OwnKind, IsTakenFromItsHolderByForce) {
  const Hold hold = lock.acquire();
  EXPECT_TRUE(elsewhere.force_release());
  EXPECT_FALSE(elsewhere.is_locked());
}

}  // namespace
}  // namespace holdfast::test::own_kind_test
