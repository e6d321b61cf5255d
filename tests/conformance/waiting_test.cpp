// SPDX-License-Identifier: Apache-2.0
// Waiting: limits, cancellation, order, who asks the server, and what is left behind afterwards (nothing).
#include <filesystem>
#include <unistd.h>

#include "conformance.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::waiting_test {
namespace {

class Waiting : public Conformance {};
HOLDFAST_CONFORMANCE(Waiting, kEverySetting);

TEST_P(Waiting, ATryOfThreeSecondsTakesThreeSeconds) {
  const Standstill still;
  set("lease_ms", 60s);
  a().lock("orders");
  const Answer tried = b().start_try("orders", 3s).get();
  EXPECT_EQ(tried.value, "no");
  EXPECT_THAT(tried.ended - tried.began, AllOf(Ge(2900ms), Le(3350ms + still.total())));
}

TEST_P(Waiting, ATryThatTimedOutLeavesNothingBehind) {
  a().lock("orders");
  EXPECT_FALSE(b().try_lock("orders", 100ms));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 2 * kLease));
  EXPECT_TRUE(party(2).try_lock("orders"));
}

TEST_P(Waiting, ACancelledWaiterReturnsAtOnceAndLeavesNothingBehind) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  ASSERT_TRUE(waits(waiting, "orders"));
  const auto cancelled = steady_clock::now();
  ASSERT_TRUE(b().cancel(waiting));
  const Answer answer = waiting.get();
  EXPECT_EQ(answer.word(), "cancelled");
  EXPECT_LT(answer.ended - cancelled, kPrompt);
  EXPECT_FALSE(b().is_mine("orders"));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 1s));
  b().lock("orders");
  EXPECT_EQ(b().unlock("orders"), "released");
}

TEST_P(Waiting, ATryCanBeCancelledToo) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending waiting = b().start_try("orders", 60s);
  ASSERT_TRUE(waits(waiting, "orders"));
  ASSERT_TRUE(b().cancel(waiting));
  EXPECT_EQ(waiting.get().word(), "cancelled");
}

TEST_P(Waiting, AnAcquireThatIsCancelledBeforeItStartsSendsNothing) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending first = b().start_lock("orders");
  const Pending second = b().start_lock("orders");
  ASSERT_TRUE(waits(first, "orders"));
  Monitor monitor(site.server("orders"));
  ASSERT_TRUE(b().cancel(second));
  ASSERT_TRUE(b().cancel(first));
  EXPECT_EQ(first.get().word(), "cancelled");
  EXPECT_EQ(second.get().word(), "cancelled");
  EXPECT_EQ(monitor.count("evalsha"), 0U);
}

TEST_P(Waiting, CancellingAroundTheSendNeverLeavesTheLockHeld) {
  int granted = 0;
  for (int i = 0; i < 200; ++i) {
    const Pending acquire = a().start_lock("orders");
    std::this_thread::sleep_for(std::chrono::microseconds(i * 7 % 600));
    a().cancel(acquire);
    const Answer answer = acquire.get();
    if (answer.ok) {
      ++granted;
      EXPECT_EQ(a().unlock("orders"), "released");
    } else {
      EXPECT_EQ(answer.error, "cancelled");
    }
  }
  RecordProperty("granted", granted);
  // What was cancelled on its way may be on the server for a moment, but never longer than a lease. A query on the same
  // connection is answered behind all of that.
  static_cast<void>(a().is_locked("orders"));
  EXPECT_TRUE(eventually([&] { return !site.exists("orders"); }, kLease + kPrompt));
  EXPECT_TRUE(stays_free("orders", 2 * kLease));
  EXPECT_TRUE(b().try_lock("orders"));
}

TEST_P(Waiting, TheNextInLineEntersWhenTheFirstWaiterIsCancelled) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending first = b().start_lock("orders");
  ASSERT_TRUE(waits(first, "orders"));
  const Pending second = party(2).start_lock("orders");
  ASSERT_TRUE(waits(second, "orders", 2));
  ASSERT_TRUE(b().cancel(first));
  EXPECT_EQ(first.get().word(), "cancelled");
  EXPECT_FALSE(second.answered(50ms));
  const Answer released = a().start_unlock("orders").get();
  EXPECT_LT(second.get().ended - released.began, kPrompt);
}

TEST_P(Waiting, TheNextInLineEntersWhenTheFirstWaiterGaveUp) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending first = b().start_try("orders", 1s);
  ASSERT_TRUE(waits(first, "orders"));
  const Pending second = party(2).start_lock("orders");
  ASSERT_TRUE(waits(second, "orders", 2));
  EXPECT_EQ(first.get().value, "no");
  EXPECT_FALSE(second.answered(50ms));
  const Answer released = a().start_unlock("orders").get();
  EXPECT_LT(second.get().ended - released.began, kPrompt);
}

TEST_P(Waiting, AWaiterFarBackInTheLineKeepsItsLimit) {
  set("lease_ms", 60s);
  a().lock("orders");
  const Pending ahead = b().start_lock("orders");
  ASSERT_TRUE(waits(ahead, "orders"));
  const Answer tried = party(2).start_try("orders", 300ms).get();
  EXPECT_EQ(tried.value, "no");
  EXPECT_THAT(tried.ended - tried.began, AllOf(Ge(300ms), Lt(3s)));
  a().unlock("orders");
  EXPECT_TRUE(ahead.get().ok);
}

TEST_P(Waiting, NoChannelStaysSubscribedAfterTheLinger) {
  set("lease_ms", 60s);
  set("subscription_linger_ms", 100ms);
  a().lock("orders");
  const Pending waiting = b().start_lock("orders");
  ASSERT_TRUE(waits(waiting, "orders"));
  EXPECT_TRUE(party(2).is_locked("orders")) << "it has a connection from now on";
  EXPECT_FALSE(party(2).try_lock("orders", kAWhile));
  a().unlock("orders");
  EXPECT_TRUE(waiting.get().ok);
  b().unlock("orders");
  EXPECT_TRUE(eventually([&] { return site.channels() == 0; }));
}

/// What holds among the waiters of one client, all of them threads of this process.
class Queue : public Conformance {
 protected:
  /// Waits until every other thread of this process sleeps: each party that was told to lock stands in the queue.
  static bool all_have_arrived() {
    return eventually([] {
      const std::string self = std::to_string(gettid());
      return std::ranges::all_of(std::filesystem::directory_iterator("/proc/self/task"), [&](const auto& thread) {
        return thread.path().filename() == self || state_of(thread.path() / "stat") == 'S';
      });
    });
  }

 private:
  /// The kernel's letter for a thread's state, which follows its name in parentheses.
  static char state_of(const std::filesystem::path& stat) {
    std::string text;
    std::getline(std::ifstream(stat), text);
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && name_end + 2 < text.size() ? text[name_end + 2] : '\0';
  }
};
constexpr Setting kOneClient[] = {{Setting::Parties::threads, Setting::Face::std},
                                  {Setting::Parties::threads, Setting::Face::hold},
                                  {Setting::Parties::threads, Setting::Face::async}};
HOLDFAST_CONFORMANCE(Queue, kOneClient);

TEST_P(Queue, IsServedInTheOrderOfArrival) {
  constexpr std::size_t kWaiters = 8;
  set("lease_ms", 60s);
  a().lock("orders");
  std::vector<Pending> turns;
  for (std::size_t i = 1; i <= kWaiters; ++i) {
    turns.push_back(party(i).start_lock("orders"));
    ASSERT_TRUE(all_have_arrived());
    EXPECT_FALSE(turns.back().answered());
    party(i).start_unlock("orders");
  }
  a().unlock("orders");
  std::vector<steady_clock::time_point> entered;
  for (const Pending& turn : turns) entered.push_back(turn.get().ended);
  EXPECT_TRUE(std::ranges::is_sorted(entered));
}

TEST_P(Queue, HasOneAskerHoweverManyWait) {
  constexpr std::size_t kWaiters = 16;
  set("lease_ms", 60s);
  a().lock("orders");
  Monitor monitor(site.server("orders"));
  std::vector<Pending> waiters;
  for (std::size_t i = 1; i <= kWaiters; ++i) waiters.push_back(party(i).start_lock("orders"));
  ASSERT_TRUE(all_have_arrived());
  for (const Pending& waiter : waiters) EXPECT_FALSE(waiter.answered(20ms));
  // The first one asks, subscribes and asks again; the others stand behind it.
  EXPECT_LE(monitor.count("orders"), 3U);
  for (std::size_t i = 1; i < kWaiters; ++i) party(i).cancel(waiters[i - 1]);
  for (std::size_t i = 1; i < kWaiters; ++i) EXPECT_EQ(waiters[i - 1].get().word(), "cancelled");
  a().unlock("orders");
  EXPECT_TRUE(waiters.back().get().ok);
}

TEST_P(Queue, AsksOncePerWakeUpHoweverManyWait) {
  constexpr std::size_t kWaiters = 16;
  set("lease_ms", 60s);
  Taker holder(Taker::Place::this_process);
  holder.connect(site.url(), {"lease_ms=60000"});
  Party elsewhere(holder, 1);
  elsewhere.lock("orders");
  std::vector<Pending> waiters;
  for (std::size_t i = 0; i < kWaiters; ++i) waiters.push_back(party(i).start_lock("orders"));
  ASSERT_TRUE(listeners("orders", 1));
  ASSERT_TRUE(all_have_arrived());
  for (const Pending& waiter : waiters) EXPECT_FALSE(waiter.answered(20ms));
  Monitor monitor(site.server("orders"));
  constexpr std::size_t kWakes = 10;
  for (std::size_t i = 0; i < kWakes; ++i) site.wake("orders");
  EXPECT_TRUE(eventually([&] { return monitor.count("evalsha") >= 1; }));
  EXPECT_FALSE(waiters.front().answered(200ms));
  EXPECT_LE(monitor.count("evalsha"), kWakes);
  elsewhere.unlock("orders");
  EXPECT_TRUE(eventually(
      [&] { return std::ranges::any_of(waiters, [](const Pending& waiter) { return waiter.answered(); }); }));
}

TEST_P(Queue, SurvivesManyThreadsOnFewLocks) {
  constexpr std::size_t kThreads = 32;
  constexpr std::size_t kLocks = 5;
  set("subscription_linger_ms", 100ms);
  const TempDir folder;
  std::vector<Pending> work;
  for (std::size_t i = 0; i < kThreads; ++i) {
    for (std::size_t k = 0; k < kLocks; ++k) {
      const std::string name = "lock-" + std::to_string((i + k) % kLocks);
      work.push_back(party(i).start("increment", name, {folder.file(name), "20"}));
    }
  }
  for (const Pending& task : work) EXPECT_TRUE(task.get(4 * kPatience).ok) << task.get().text;
  for (std::size_t k = 0; k < kLocks; ++k) {
    EXPECT_EQ(read_number(folder.file("lock-" + std::to_string(k))), static_cast<long long>(kThreads) * 20);
  }
  EXPECT_TRUE(eventually([&] { return site.channels() == 0; }));
}

}  // namespace
}  // namespace holdfast::test::waiting_test
