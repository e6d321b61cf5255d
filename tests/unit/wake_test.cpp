// SPDX-License-Identifier: Apache-2.0
// How a loop wakes the callers whose answers have come: in which order, and what is sent before and meanwhile.
#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/own_loop.hpp"

namespace holdfast::engine::wake_test {
namespace {

using namespace std::chrono_literals;
using base::Clock;
using base::TimePoint;

/// Long for who is awake, and short for who sleeps until he is woken.
constexpr auto kAWhile = 50ms;
/// A caller that is not woken looks again after half a second.
constexpr auto kLost = 400ms;

template <class Condition>
bool within(base::Duration limit, Condition condition) {
  const TimePoint end = Clock::now() + limit;
  while (!condition() && Clock::now() < end) std::this_thread::sleep_for(100us);
  return condition();
}

struct Work : Loop::Task {
  explicit Work(std::function<void()> what) : work(std::move(what)) {}
  void run() override { work(); }
  const std::function<void()> work;
  Answer answer;
};

bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_ends = stat.rfind(')');
  return name_ends != std::string::npos && stat.compare(name_ends, 3, ") S") == 0;
}

/// Who sets an answer keeps its task alive.
using Works = std::vector<std::shared_ptr<Work>>;
void answer_all(OwnLoop& loop, const Works& works) {
  for (const std::shared_ptr<Work>& work : works) loop.set(work->answer);
}

/// Callers of a loop, all asleep; counts those that have returned.
class Callers {
 public:
  Callers(OwnLoop& loop, int count, std::atomic<int>& returned) : works_(static_cast<std::size_t>(count)) {
    for (std::shared_ptr<Work>& work : works_) {
      std::atomic<pid_t> thread{0};
      std::atomic<bool> called{false};
      work = std::make_shared<Work>([&called] { called = true; });
      threads_.emplace_back([&loop, &returned, &thread, work] {
        thread = gettid();
        loop.call(work, work->answer, TimePoint::max());
        ++returned;
      });
      EXPECT_TRUE(within(30s, [&] { return called && sleeps(thread); }));
    }
  }
  const Works& works() const { return works_; }

 private:
  Works works_;
  std::vector<std::jthread> threads_;
};

/// One whose thread runs.
struct Running : OwnLoop {
  explicit Running(std::function<void()> settle = [] {}) : OwnLoop(Hooks{.settle = std::move(settle)}) { start(); }
  ~Running() override { finish({}); }
};

TEST(WakeTest, WhatWorkHasLeftToBeSentLeavesBeforeAnybodyIsWoken) {
  std::atomic<int> returned{0};
  std::atomic<bool> answered{false};
  std::atomic<int> returned_before{-1};
  Running loop([&] {
    if (!answered.exchange(false)) return;
    within(kAWhile, [&] { return returned > 0; });
    returned_before = returned.load();
  });
  {
    Callers callers(loop, 2, returned);
    loop.defer([&, works = callers.works()] {
      answer_all(loop, works);
      answered = true;
    });
  }
  EXPECT_EQ(returned_before, 0);
}

TEST(WakeTest, WhatTheFirstAskForNextIsSentBeforeTheLastAreWoken) {
  std::atomic<int> returned{0};
  std::atomic<bool> asked{false};
  std::atomic<bool> sent{false};
  std::atomic<int> returned_before{-1};
  Running loop([&] {
    if (!asked.exchange(false)) return;
    within(30s, [&] { return returned >= 8; });
    within(kAWhile, [&] { return returned == 12; });
    returned_before = returned.load();
    sent = true;
  });
  const auto next = std::make_shared<Work>([&] { asked = true; });
  {
    Callers callers(loop, 12, returned);
    loop.defer([&, works = callers.works()] {
      answer_all(loop, works);
      loop.post(next);
    });
  }
  EXPECT_TRUE(within(30s, [&] { return sent.load(); }));
  EXPECT_GE(returned_before, 8);
  EXPECT_LT(returned_before, 12) << "one or two may share a place to sleep with one of the first: system/portable.cpp";
}

TEST(WakeTest, WhoIsAnsweredWhileOthersAreBeingWokenIsWokenAsWell) {
  std::atomic<int> returned{0};
  Running loop;
  Callers second(loop, 2, returned);
  Callers first(loop, 12, returned);
  const auto next = std::make_shared<Work>([&loop, works = second.works()] { answer_all(loop, works); });
  const TimePoint begun = Clock::now();
  loop.defer([&loop, next, works = first.works()] {
    answer_all(loop, works);
    loop.post(next);
  });
  EXPECT_TRUE(within(30s, [&] { return returned == 14; }));
  EXPECT_LT(Clock::now() - begun, kLost);
}

TEST(WakeTest, OfMoreThanTheListHoldsNobodyIsForgotten) {
  constexpr int kCallers = static_cast<int>(OwnLoop::kMostAnswered) + 8;
  std::atomic<int> returned{0};
  Running loop;
  Callers callers(loop, kCallers, returned);
  const TimePoint begun = Clock::now();
  loop.defer([&loop, works = callers.works()] { answer_all(loop, works); });
  EXPECT_TRUE(within(30s, [&] { return returned == kCallers; }));
  EXPECT_LT(Clock::now() - begun, kLost);
}

TEST(WakeTest, NoneIsLostHoweverCallersComeAndAnswersAreSet) {
  constexpr int kCallers = 8;
  constexpr int kCalls = 2000;
  Running loop;
  std::atomic<int> slow{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, i] {
        for (int k = 0; k < kCalls; ++k) {
          const TimePoint begun = Clock::now();
          std::shared_ptr<Work> work;
          work = std::make_shared<Work>([&loop, &work, later = (i + k) % 3 != 0] {
            if (!later) return loop.set(work->answer);
            loop.defer([&loop, work] { loop.set(work->answer); });
          });
          loop.call(work, work->answer, TimePoint::max());
          if (Clock::now() - begun > kLost) ++slow;
        }
      });
    }
  }
  EXPECT_LT(slow, 3) << "a processor that is given to others for so long is rare, and a lost wake-up is not";
}

}  // namespace
}  // namespace holdfast::engine::wake_test
