// SPDX-License-Identifier: Apache-2.0
// What the engine does for kinds that need more than a plain lock, shown with kinds that only this test has.
#include <string>
#include <vector>

#include "faults.hpp"
#include "integration/trial_kinds.hpp"
#include "lock/client/closing.hpp"
#include "lock/hold/acquire.hpp"
#include "lock/hold/hold_release.hpp"
#include "lock/runtime/asking.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::kinds_seam_test {
namespace {

using engine::Acquired;
using testing::SizeIs;

/// A client without its face, closed with the test.
class Inside {
 public:
  explicit Inside(Config config) : core(engine::Core::make(std::move(config), nullptr)) {}
  ~Inside() { engine::close_and_wait(core); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  std::shared_ptr<engine::Target> target(const engine::Plan& plan) const {
    return core->targets().target({"orders"}, plan);
  }
  Acquired acquire(const engine::Plan& plan, AcquireOptions options = {.wait = 10s}) const {
    return engine::acquire(core->shared_runtime(), target(plan), options, engine::DefaultWait::wait_on);
  }

  const std::shared_ptr<engine::Core> core;
};

class KindsSeam : public Faults {
 protected:
  KindsSeam() : Faults({.listen = ServerOptions::Listen::tcp}) { trial::load_scripts(raw); }

  std::vector<std::string> queue() {
    std::vector<std::string> owners;
    for (const Reply& owner : raw.command("LRANGE", trial::queue_of("orders"), 0, -1).elements) {
      owners.push_back(owner.text);
    }
    return owners;
  }
  bool waits(std::size_t owners) {
    return eventually([&] { return queue().size() == owners; });
  }
  std::vector<std::string> channels() {
    std::vector<std::string> names;
    for (const Reply& name : raw.command("PUBSUB", "CHANNELS").elements) names.push_back(name.text);
    return names;
  }

  Proxy proxy{server};
};

// ---- a grant that says more ----

TEST_F(KindsSeam, TheTokenOfEachGrantReachesItsHold) {
  const Inside client(config());
  const Acquired first = client.acquire(trial::kFenced);
  ASSERT_TRUE(first.held);
  EXPECT_EQ(first.held->tenancy().token(), 1);
  EXPECT_EQ(engine::release(*first.held), ReleaseOutcome::released);
  const Acquired second = client.acquire(trial::kFenced);
  ASSERT_TRUE(second.held);
  EXPECT_EQ(second.held->tenancy().token(), 2);
}

TEST_F(KindsSeam, APlainLockHasNoToken) {
  const Inside client(config());
  const Acquired plain = client.acquire(kinds::kLock);
  ASSERT_TRUE(plain.held);
  EXPECT_EQ(plain.held->tenancy().token(), std::nullopt);
}

TEST_F(KindsSeam, WhatTheServerCallsTheOwnerIsRenewedAndReleasedByThatName) {
  const Inside client(config());
  const Acquired named = client.acquire(trial::kNamed);
  ASSERT_TRUE(named.held);
  EXPECT_EQ(named.held->tenancy().owner().text, "guest");
  EXPECT_EQ(named.held->tenancy().lease(), 900ms) << "as the server says, not as the client asked";
  std::this_thread::sleep_for(1500ms);
  EXPECT_EQ(named.held->state(), HoldState::held) << "it has been renewed";
  EXPECT_EQ(engine::release(*named.held), ReleaseOutcome::released);
  EXPECT_FALSE(raw.exists("orders"));
}

/// The owner of a hold, and of one for which somebody in the same client waited.
struct Owners {
  std::string first, second;
  std::optional<std::int64_t> token;
};
Owners hand_over(const Inside& client, const engine::Plan& plan) {
  const Acquired first = client.acquire(plan);
  auto next = in_thread([&] { return client.acquire(plan); });
  std::this_thread::sleep_for(100ms);  // it waits by now; if not, nothing is passed on
  engine::release(*first.held);
  const Acquired second = next.get();
  Owners owners{first.held->tenancy().owner().text, second.held->tenancy().owner().text,
                second.held->tenancy().token()};
  engine::release(*second.held);
  return owners;
}

TEST_F(KindsSeam, AHoldThatIsNotPassableIsAlwaysTheServersToGrant) {
  Config settings = config();
  settings.kinds.handoff = 10s;
  const Inside client(settings);
  const Owners fenced = hand_over(client, trial::kFenced);
  EXPECT_NE(fenced.first, fenced.second);
  EXPECT_EQ(fenced.token, 2);
  const auto passed_on = [&] {
    const Owners owners = hand_over(client, trial::kPassedOn);
    return owners.first == owners.second;
  };
  EXPECT_TRUE(eventually(passed_on)) << "the control: without the trait the test sees it";
}

// ---- a server that keeps a queue ----

TEST_F(KindsSeam, AWaiterThatTimesOutLeavesTheServersQueue) {
  put_held_lock(raw, "orders");
  const Inside client(config());
  auto waiting = in_thread([&] { return client.acquire(trial::kQueue, {.wait = 500ms}); });
  EXPECT_TRUE(waits(1));
  EXPECT_EQ(waiting.get().error, Errc::timed_out);
  EXPECT_TRUE(waits(0));
}

TEST_F(KindsSeam, AKindWithoutLeaveStaysInTheServersQueue) {
  put_held_lock(raw, "orders");
  const Inside client(config());
  EXPECT_EQ(client.acquire(trial::kQueueForEver, {.wait = 200ms}).error, Errc::timed_out);
  std::this_thread::sleep_for(200ms);
  EXPECT_THAT(queue(), SizeIs(1)) << "the control";
}

TEST_F(KindsSeam, AWaiterThatIsCancelledWhileItAsksLeavesBehindItsQuestion) {
  put_held_lock(raw, "orders");
  const Inside client(config(proxy.url()));
  engine::ask(client.core->runtime(), {{{{"PING"}}}}, {});
  proxy.delay(Proxy::Direction::to_client, 300ms);
  std::stop_source stop;
  auto waiting = in_thread([&] { return client.acquire(trial::kQueue, {.stop = stop.get_token()}); });
  ASSERT_TRUE(waits(1));
  stop.request_stop();
  EXPECT_EQ(waiting.get().error, Errc::cancelled);
  EXPECT_TRUE(waits(0));
}

TEST_F(KindsSeam, AWaiterLeavesThoughTheConnectionBreaks) {
  put_held_lock(raw, "orders");
  const Inside client(config(proxy.url()));
  auto waiting = in_thread([&] { return client.acquire(trial::kQueue, {.wait = 500ms}); });
  ASSERT_TRUE(waits(1));
  proxy.refuse(true);
  proxy.cut();
  EXPECT_TRUE(waiting.get().error);
  EXPECT_THAT(queue(), SizeIs(1));
  proxy.refuse(false);
  EXPECT_TRUE(waits(0));
}

TEST_F(KindsSeam, EachWaiterIsWokenOnAChannelOfItsOwn) {
  const Inside holder(config()), early(config()), late(config());
  const Acquired first = holder.acquire(trial::kQueue);
  auto second = in_thread([&] { return early.acquire(trial::kQueue); });
  ASSERT_TRUE(waits(1));
  auto third = in_thread([&] { return late.acquire(trial::kQueue); });
  ASSERT_TRUE(waits(2));
  std::vector<testing::Matcher<std::string>> own;
  for (const std::string& owner : queue()) own.emplace_back(channel_of("orders") + ":" + owner);
  EXPECT_TRUE(eventually([&] { return channels().size() == 2; }));
  EXPECT_THAT(channels(), testing::UnorderedElementsAreArray(own)) << "and nobody hears the lock's";

  const std::uint64_t asked = late.core->runtime().reporter().snapshot().commands;
  EXPECT_EQ(engine::release(*first.held), ReleaseOutcome::released);
  ASSERT_TRUE(ready(second, 5000ms)) << "a safety poll comes after a minute only";
  const Acquired woken = second.get();
  ASSERT_TRUE(woken.held);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(late.core->runtime().reporter().snapshot().commands, asked) << "it was not its turn";
  EXPECT_EQ(engine::release(*woken.held), ReleaseOutcome::released);
  ASSERT_TRUE(ready(third, 5000ms));
  const Acquired last = third.get();
  ASSERT_TRUE(last.held);
  EXPECT_EQ(engine::release(*last.held), ReleaseOutcome::released);
}

// ---- transitions that change something each time they are sent ----

class Permits : public KindsSeam {
 protected:
  Permits() { raw.command("SET", "orders", 5); }
  std::string permits() { return raw.command("GET", "orders").text; }

  /// Takes one; the reply is lost on its way.
  Acquired acquire_cut(const Inside& client, const engine::Plan& plan) {
    engine::ask(client.core->runtime(), {{{{"PING"}}}}, {});
    proxy.cut_after_next_request("orders");
    Acquired result = client.acquire(plan);
    EXPECT_EQ(proxy.fired(), 1U);
    return result;
  }
  ReleaseOutcome release_cut(const Inside& client, const engine::Plan& plan) {
    const Acquired taken = client.acquire(plan);
    EXPECT_EQ(permits(), "4");
    proxy.cut_after_next_request("orders");
    const ReleaseOutcome outcome = engine::release(*taken.held);
    EXPECT_EQ(proxy.fired(), 1U);
    return outcome;
  }
  /// Asks, but the server never sees it, and is away until nobody waits any more.
  void undo_of_nothing(const Inside& client, const engine::Plan& plan) {
    engine::ask(client.core->runtime(), {{{{"PING"}}}}, {});
    proxy.hold_next_request("orders");
    proxy.refuse(true);
    const Acquired result = client.acquire(plan, {.wait = 300ms});
    EXPECT_TRUE(result.error);
    proxy.refuse(false);
    EXPECT_TRUE(eventually([&] { return client.core->runtime().undos().count() == 0; }));
  }
};

TEST_F(Permits, AnAcquireWhoseReplyIsLostCountsOnce) {
  const Inside client(config(proxy.url()));
  const Acquired taken = acquire_cut(client, trial::kPermits);
  ASSERT_TRUE(taken.held);
  EXPECT_EQ(permits(), "4");
  EXPECT_EQ(engine::release(*taken.held), ReleaseOutcome::released);
  EXPECT_EQ(permits(), "5");
}

TEST_F(Permits, AnAcquireWhoseReplyIsLostCountsTwiceWithoutAKey) {
  const Inside client(config(proxy.url()));
  const Acquired taken = acquire_cut(client, trial::kMiscounted);
  ASSERT_TRUE(taken.held);
  EXPECT_EQ(permits(), "3") << "the control";
}

TEST_F(Permits, AReleaseWhoseReplyIsLostCountsOnce) {
  const Inside client(config(proxy.url()));
  EXPECT_EQ(release_cut(client, trial::kPermits), ReleaseOutcome::released);
  EXPECT_EQ(permits(), "5");
}

TEST_F(Permits, AReleaseWhoseReplyIsLostCountsTwiceWithoutAKey) {
  const Inside client(config(proxy.url()));
  release_cut(client, trial::kMiscounted);
  EXPECT_EQ(permits(), "6") << "the control";
}

TEST_F(Permits, AnUndoGivesBackWhatWasTaken) {
  const Inside client(config(proxy.url()));
  engine::ask(client.core->runtime(), {{{{"PING"}}}}, {});
  proxy.cut_after_next_request("orders");
  proxy.refuse(true);
  EXPECT_TRUE(client.acquire(trial::kPermits, {.wait = 300ms}).error);
  EXPECT_EQ(permits(), "4");
  proxy.refuse(false);
  EXPECT_TRUE(eventually([&] { return permits() == "5"; }));
}

TEST_F(Permits, AnUndoGivesBackNothingThatWasNotTaken) {
  const Inside client(config(proxy.url()));
  undo_of_nothing(client, trial::kPermits);
  EXPECT_EQ(permits(), "5");
}

TEST_F(Permits, AnUndoGivesBackTooMuchWithoutAKey) {
  const Inside client(config(proxy.url()));
  undo_of_nothing(client, trial::kMiscounted);
  EXPECT_EQ(permits(), "6") << "the control";
}

TEST_F(Permits, WhatTheServerRemembersItForgetsWhenNothingCanBeRepeated) {
  Config settings = config(proxy.url());
  settings.timing.patience = 1000ms;
  settings.timing.command_timeout = 500ms;
  settings.lease = 1000ms;
  const Inside client(settings);
  const auto begin = std::chrono::steady_clock::now();
  const Acquired taken = client.acquire(trial::kPermits);
  ASSERT_TRUE(taken.held);
  const std::string key = "orders:" + taken.held->tenancy().owner().text;
  const long long left = raw.pttl(key + ":acquire");
  const auto passed = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GE(left + passed, 1000 + 500) << "it may be repeated for the patience, and the last attempt has its own time";
  EXPECT_LE(left, 1000 + 500 + (1000 + 12) + 500) << "patience, the last attempt, an undo, its last send";
  EXPECT_EQ(engine::release(*taken.held), ReleaseOutcome::released);
  EXPECT_TRUE(eventually([&] { return raw.command("KEYS", "orders:*").elements.empty(); }));
}

}  // namespace
}  // namespace holdfast::test::kinds_seam_test
