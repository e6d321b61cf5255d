// SPDX-License-Identifier: Apache-2.0
// One thread of a process stands still in the middle of a call: a signal handler that blocks, a processor that it does
// not get. What others hold, wait for and are to be told of goes on.
#include <atomic>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <pthread.h>
#include <set>
#include <stop_token>
#include <sys/syscall.h>
#include <unistd.h>

#include "faults.hpp"
#include "support/held_lock.hpp"

namespace holdfast::test::stalled_driver_test {
namespace {

using testing::Lt;
using testing::SizeIs;

std::atomic<bool> standing_still{false}, may_go_on{false};

/// Whoever gets the signal stands still until it may go on.
void stand_still(int) {
  standing_still = true;
  while (!may_go_on) {
    const timespec nap{0, 1'000'000};
    nanosleep(&nap, nullptr);
  }
  standing_still = false;
}

class Stalled : public Faults {
 protected:
  Stalled() {
    standing_still = may_go_on = false;
    struct sigaction action{};
    action.sa_handler = stand_still;
    sigaction(SIGUSR1, &action, &before_[0]);
    sigaction(SIGTRAP, &action, &before_[1]);
  }
  ~Stalled() override {
    go_on();
    sigaction(SIGUSR1, &before_[0], nullptr);
    sigaction(SIGTRAP, &before_[1], nullptr);
  }

  static void stop(pthread_t thread) {
    pthread_kill(thread, SIGUSR1);
    ASSERT_TRUE(eventually([] { return standing_still.load(); }));
  }
  /// One of the client's own threads, which take no other signals.
  static void stop_task(pid_t task) {
    syscall(SYS_tgkill, getpid(), task, SIGTRAP);
    ASSERT_TRUE(eventually([] { return standing_still.load(); }));
  }
  static void go_on() {
    may_go_on = true;
    EXPECT_TRUE(eventually([] { return !standing_still; }));
  }

  static std::set<pid_t> tasks() {
    std::set<pid_t> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      found.insert(std::stoi(entry.path().filename()));
    }
    return found;
  }

  /// Others work as if nobody stood still: a renewed hold outlives its lease, limits on waiting are kept.
  void expect_that_others_get_on(Client& client, Hold& hold) {
    const std::uint64_t renewals = client.counters().renewals;
    EXPECT_TRUE(eventually([&] { return client.counters().renewals >= renewals + 4; }));
    EXPECT_EQ(hold.state(), HoldState::held);
    EXPECT_THAT(raw.hgetall("held"), HeldBy(hold.owner()));
    put_held_lock(raw, "taken");
    EXPECT_LT(duration_of([&] { EXPECT_EQ(client.lock("taken").try_acquire({.wait = 200ms}), std::nullopt); }), 10s);
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(client.lock("free").acquire());
  }

  struct sigaction before_[2]{};
};

TEST_F(Stalled, AThreadThatWaitsForALockHoldsUpNobody) {
  Client client(config());
  put_held_lock(raw, "orders");
  Hold hold = client.lock("held").acquire({.lease = renewed(1500ms)});
  std::promise<pthread_t> started;
  auto waiting = in_thread([&] {
    started.set_value(pthread_self());
    return client.lock("orders").acquire();
  });
  const pthread_t waiter = started.get_future().get();
  ASSERT_TRUE(listeners(raw, "orders"));
  stop(waiter);
  expect_that_others_get_on(client, hold);
  go_on();
  raw.command("DEL", "orders");
  raw.command("PUBLISH", channel_of("orders"), "0");
  ASSERT_TRUE(ready(waiting));
  EXPECT_TRUE(waiting.get());
}

TEST_F(Stalled, AThreadInTheMiddleOfARoundTripHoldsUpNobody) {
  Client client(config());
  Hold hold = client.lock("held").acquire({.lease = renewed(1500ms)});
  for (int i = 0; i < 20; ++i) client.ping();  // the loop's own thread has stepped aside
  std::promise<pthread_t> started;
  server.freeze();
  auto asking = in_thread([&] {
    started.set_value(pthread_self());
    return client.lock("orders").acquire();
  });
  const pthread_t asker = started.get_future().get();
  std::this_thread::sleep_for(50ms);  // the command is under way, for all that can be known
  stop(asker);
  server.thaw();
  expect_that_others_get_on(client, hold);
  go_on();
  ASSERT_TRUE(ready(asking));
  EXPECT_TRUE(asking.get());
}

TEST_F(Stalled, ALossIsToldInTimeThoughTheLoopItselfStandsStill) {
  const std::set<pid_t> others = tasks();
  Client client(config());
  std::set<pid_t> own = tasks();
  for (const pid_t task : others) own.erase(task);
  ASSERT_THAT(own, SizeIs(3)) << "the notifier, the signals, and last the loop";
  std::atomic<int> told{0};
  const auto on_lost = [&](const LostEvent&) { ++told; };
  Hold renewed_hold = client.lock("renewed").acquire({.lease = renewed(1s), .on_lost = on_lost});
  Hold fixed_hold = client.lock("fixed").acquire({.lease = fixed(3s), .on_lost = on_lost});
  std::promise<steady_clock::time_point> renewed_stopped, fixed_stopped;
  const std::stop_callback first(renewed_hold.lost_token(), [&] { renewed_stopped.set_value(steady_clock::now()); });
  const std::stop_callback second(fixed_hold.lost_token(), [&] { fixed_stopped.set_value(steady_clock::now()); });
  const std::shared_ptr<void> in_the_end(nullptr, [](void*) { go_on(); });  // who fails must not wait for it
  const auto begun = steady_clock::now();
  std::this_thread::sleep_for(1500ms);  // nobody calls any more: the loop's own thread drives it, and renews
  ASSERT_FALSE(renewed_hold.lost_token().stop_requested());
  stop_task(*own.rbegin());
  for (std::promise<steady_clock::time_point>* stopped : {&renewed_stopped, &fixed_stopped}) {
    auto time = stopped->get_future();
    ASSERT_EQ(time.wait_for(10s), std::future_status::ready);
    EXPECT_LT(time.get() - begun, 5s);
  }
  EXPECT_TRUE(eventually([&] { return told == 2; }));
  EXPECT_TRUE(standing_still) << "all of this without the loop";
  go_on();
  EXPECT_EQ(renewed_hold.release(), ReleaseOutcome::was_lost);
}

}  // namespace
}  // namespace holdfast::test::stalled_driver_test
