// SPDX-License-Identifier: Apache-2.0
// The event loop of a client on the caller's io_context: turns of several threads, order, and what throws.
#include "loop/guest_loop.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace holdfast::engine::guest_loop_test {
namespace {

using testing::ElementsAre;

/// A loop, and the client that its handlers keep alive.
struct Running {
  explicit Running(GuestLoop::Hooks hooks = {.settle = [] {}}) : loop(context, std::move(hooks)) { loop.start(client); }

  /// Until there is nothing more to be done.
  void run() {
    loop.schedule().close();
    context.run();
  }

  boost::asio::io_context context;
  std::shared_ptr<void> client = std::make_shared<int>();
  GuestLoop loop;
};

struct Throwing final : Loop::Task {
  void run() override { throw std::bad_alloc(); }
  void broken() noexcept override { told = true; }
  bool told = false;
};

TEST(GuestLoopTest, RunsWhatIsPostedAndDeferredInOrder) {
  Running running;
  std::vector<int> ran;
  for (int i = 0; i < 3; ++i) {
    running.loop.defer([&, i] { ran.push_back(i); });
    boost::asio::post(running.loop.executor(), [&, i] { ran.push_back(10 + i); });
  }
  EXPECT_THAT(ran, ElementsAre());
  running.run();
  EXPECT_THAT(ran, ElementsAre(0, 10, 1, 11, 2, 12));
}

TEST(GuestLoopTest, WhatCompletesRunsInsideAndPostsFromThere) {
  Running running;
  boost::asio::steady_timer timer(running.loop.executor(), std::chrono::milliseconds(1));
  std::vector<bool> inside;
  timer.async_wait([&](boost::system::error_code) {
    inside.push_back(running.loop.inside());
    running.loop.defer([&] { inside.push_back(running.loop.inside()); });
  });
  running.run();
  EXPECT_THAT(inside, ElementsAre(true, true));
  EXPECT_FALSE(running.loop.inside());
}

TEST(GuestLoopTest, RunsOneThingAtATimeWhoeverRunsTheContext) {
  constexpr int kTimes = 500;
  Running running;
  std::atomic<int> in_there{0};
  std::atomic<int> crowds{0};
  int ran = 0;  // without a mutex
  const auto work = [&] {
    if (in_there.fetch_add(1) != 0) ++crowds;
    ++ran;
    in_there.fetch_sub(1);
  };
  std::vector<std::unique_ptr<boost::asio::steady_timer>> timers;
  for (int i = 0; i < kTimes; ++i) {
    timers.push_back(
        std::make_unique<boost::asio::steady_timer>(running.loop.executor(), std::chrono::microseconds(i)));
    timers.back()->async_wait([&](boost::system::error_code) {
      work();
      running.loop.defer(work);
    });
  }
  std::vector<std::jthread> threads;
  running.loop.schedule().close();
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { running.context.run(); });
  threads.clear();
  EXPECT_EQ(ran, 2 * kTimes);
  EXPECT_EQ(crowds, 0);
}

/// As if it had no memory for a moment.
TEST(GuestLoopTest, WhatAHandlerThrowsIsMadeGoodUntilThatSucceeds) {
  int recovered = 0;
  Running running({.settle = [] {},
                   .recover =
                       [&] {
                         if (++recovered < 3) throw std::bad_alloc();
                       }});
  boost::asio::steady_timer timer(running.loop.executor(), std::chrono::milliseconds(1));
  timer.async_wait([](boost::system::error_code) { throw std::bad_alloc(); });
  bool ran = false;
  running.loop.defer([&] { ran = true; });
  EXPECT_NO_THROW(running.run()) << "it is no affair of the caller's";
  EXPECT_EQ(recovered, 3);
  EXPECT_TRUE(ran);
}

TEST(GuestLoopTest, ATaskThatThrowsIsTold) {
  Running running;
  const auto task = std::make_shared<Throwing>();
  running.loop.post(task);
  running.run();
  EXPECT_TRUE(task->told);
}

TEST(GuestLoopTest, SettlesTogetherWhatComesTogether) {
  int settled = 0;
  Running running({.settle = [&] { ++settled; }});
  running.loop.defer([&] {
    for (int i = 0; i < 5; ++i) running.loop.to_be_settled(10);
  });
  running.run();
  EXPECT_EQ(settled, 1);
}

/// Something to be sent; how many handlers the io_context runs before it would sleep.
std::size_t handlers_behind_a_write(Running& running) {
  running.context.restart();
  running.loop.defer([&] { running.loop.to_be_settled(10); });
  return running.context.poll();
}

constexpr std::size_t kFewHandlers = 5, kManyHandlers = 10;

TEST(GuestLoopTest, KeepsTheContextAwakeForAReplyFromAServerNearby) {
  if (spare_processors() == 0) GTEST_SKIP() << "one processor";
  Running running;
  EXPECT_LT(handlers_behind_a_write(running), kFewHandlers);  // nobody knows yet
  running.loop.answered(std::chrono::microseconds(50));
  EXPECT_GT(handlers_behind_a_write(running), kManyHandlers);
  bool other = false;
  boost::asio::post(running.context, [&] { other = true; });
  EXPECT_GT(handlers_behind_a_write(running), kManyHandlers);
  EXPECT_TRUE(other);
  running.loop.answered(std::chrono::milliseconds(1));
  EXPECT_LT(handlers_behind_a_write(running), kFewHandlers);
}

TEST(GuestLoopTest, LetsAContextSleepThatSeveralThreadsRun) {
  Running running;
  running.loop.answered(std::chrono::microseconds(50));
  handlers_behind_a_write(running);
  std::size_t handlers = 0;
  std::thread([&] { handlers = handlers_behind_a_write(running); }).join();
  EXPECT_LT(handlers, kFewHandlers);
}

TEST(GuestLoopTest, DoesNotWaitForATimeThatIsMovedByHand) {
  Running running;
  running.loop.answered(std::chrono::microseconds(50));
  detail::set_clock([]() noexcept { return base::TimePoint(std::chrono::hours(1)); });
  const std::size_t handlers = handlers_behind_a_write(running);
  detail::set_clock(nullptr);
  EXPECT_LT(handlers, kFewHandlers);
}

TEST(GuestLoopTest, KeepsItsClientUntilWhatIsPostedHasRun) {
  Running running;
  const std::weak_ptr<void> client = running.client;
  bool alive = false;
  running.loop.defer([&] { alive = !client.expired(); });
  running.loop.schedule().close();
  running.client.reset();
  running.context.run();
  EXPECT_TRUE(alive);
  EXPECT_TRUE(client.expired());
}

TEST(GuestLoopTest, RunsNothingInTheChildOfAFork) {
  Running running;
  bool ran = false;
  running.loop.defer([&] { ran = true; });
  const pid_t child = fork();
  if (child == 0) {
    running.context.poll();
    _exit(ran ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  running.run();
  EXPECT_TRUE(ran);
}

TEST(GuestLoopTest, TakesNothingOnceItIsShut) {
  Running running;
  bool ran = false;
  running.loop.defer([&] { ran = true; });
  running.loop.shut();
  running.loop.defer([&] { ran = true; });
  running.run();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace holdfast::engine::guest_loop_test
