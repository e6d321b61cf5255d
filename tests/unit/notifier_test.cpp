// SPDX-License-Identifier: Apache-2.0
// The thread that runs what belongs to the user: in order, one at a time, come what may.
#include "loop/notifier.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::engine::notifier_test {
namespace {

// The notifier is the last thing that each test declares: it ends its thread before what the tasks refer to goes.

using testing::ElementsAre;
using testing::IsEmpty;

struct Started : Notifier {
  Started() { start(); }
};

/// Returns once everything that was posted before it has run.
void wait_for_all(Notifier& notifier) {
  const auto done = std::make_shared<std::promise<void>>();
  notifier.post([done] { done->set_value(); });
  done->get_future().wait();
}

TEST(Notifier, RunsTasksInOrderOnAThreadOfItsOwn) {
  std::vector<int> ran;
  std::thread::id thread;
  Started notifier;
  for (int i = 0; i < 5; ++i) {
    notifier.post([&, i] {
      ran.push_back(i);
      thread = std::this_thread::get_id();
    });
  }
  wait_for_all(notifier);
  EXPECT_THAT(ran, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_NE(thread, std::this_thread::get_id());
}

TEST(Notifier, RunsWhatATaskPosts) {
  std::promise<void> done;
  Started notifier;
  notifier.post([&] { notifier.post([&] { done.set_value(); }); });
  done.get_future().wait();
}

TEST(Notifier, GoesOnAfterATaskThatThrows) {
  std::promise<void> done;
  Started notifier;
  notifier.post([] { throw std::runtime_error("the user's"); });
  notifier.post([] { throw 1; });
  notifier.post([&] { done.set_value(); });
  done.get_future().wait();
}

TEST(Notifier, RunsOneTaskAtATimeWhoeverPostsThem) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 1000;
  int ran = 0;  // guarded by the promise alone: a second task at the same time would be a race
  Started notifier;
  std::vector<std::thread> posters;
  for (int i = 0; i < kThreads; ++i) {
    posters.emplace_back([&] {
      for (int n = 0; n < kTimes; ++n) notifier.post([&] { ++ran; });
    });
  }
  for (std::thread& poster : posters) poster.join();
  wait_for_all(notifier);
  EXPECT_EQ(ran, kThreads * kTimes);
}

TEST(Notifier, KeepsTheOrderOfEachPoster) {
  constexpr int kTimes = 500;
  std::vector<std::vector<int>> ran(3);
  Started notifier;
  std::vector<std::thread> posters;
  for (std::size_t who = 0; who < ran.size(); ++who) {
    posters.emplace_back([&, who] {
      for (int n = 0; n < kTimes; ++n) notifier.post([&, who, n] { ran[who].push_back(n); });
    });
  }
  for (std::thread& poster : posters) poster.join();
  wait_for_all(notifier);
  for (const std::vector<int>& each : ran) {
    ASSERT_EQ(each.size(), kTimes);
    EXPECT_TRUE(std::is_sorted(each.begin(), each.end()));
  }
}

TEST(Notifier, RunsWhatIsQueuedBeforeItStops) {
  std::promise<void> gate;
  std::vector<int> ran;
  Started notifier;
  notifier.post([&] { gate.get_future().wait(); });
  for (int i = 0; i < 3; ++i) notifier.post([&, i] { ran.push_back(i); });
  std::thread stopper([&] { notifier.stop(); });
  gate.set_value();
  stopper.join();
  EXPECT_THAT(ran, ElementsAre(0, 1, 2));
}

TEST(Notifier, DropsWhatComesAfterTheStop) {
  std::vector<int> ran;
  Started notifier;
  notifier.stop();
  notifier.post([&] { ran.push_back(1); });
  notifier.stop();
  EXPECT_THAT(ran, IsEmpty());
}

TEST(Notifier, IsStoppedByItsDestruction) {
  std::vector<int> ran;
  {
    Started notifier;
    notifier.post([&] { ran.push_back(1); });
  }
  EXPECT_THAT(ran, ElementsAre(1));
}

TEST(Notifier, KeepsManyEventsButNotMoreThanItsLimit) {
  std::promise<void> gate, reached;
  std::size_t ran = 0;
  Started notifier;
  notifier.post([&] {
    reached.set_value();
    gate.get_future().wait();
  });
  reached.get_future().wait();
  for (std::size_t i = 0; i < Notifier::kMostEvents; ++i) ASSERT_TRUE(notifier.post([&] { ++ran; }));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(notifier.post([&] { ++ran; }));
  gate.set_value();
  notifier.stop();
  EXPECT_EQ(ran, Notifier::kMostEvents);
}

/// Counts how it ended.
struct CountedNotice final : Notifier::Notice {
  void run() override { ++ran; }
  void drop() noexcept override { ++dropped; }
  int ran = 0, dropped = 0;
};

TEST(Notifier, NeverDropsANoticeThoughEventsAreTooMany) {
  std::promise<void> gate, reached;
  int events_before = 0;
  std::vector<CountedNotice> notices(3);
  Started notifier;
  notifier.post([&] {
    reached.set_value();
    gate.get_future().wait();
  });
  reached.get_future().wait();
  while (notifier.post([&] { events_before += notices.back().ran == 0 ? 1 : 0; })) continue;
  for (CountedNotice& notice : notices) notifier.post(notice);
  gate.set_value();
  notifier.stop();
  for (const CountedNotice& notice : notices) EXPECT_EQ(notice.ran, 1);
  EXPECT_EQ(events_before, 0) << "notices come first";
}

TEST(Notifier, DropsANoticeAfterTheStop) {
  CountedNotice notice;
  Started notifier;
  notifier.stop();
  notifier.post(notice);
  EXPECT_EQ(notice.ran, 0);
  EXPECT_EQ(notice.dropped, 1);
}

TEST(Notifier, RunsOnAHostOneAfterAnother) {
  boost::asio::io_context host;
  std::vector<int> ran;
  CountedNotice notice;
  {
    Notifier notifier(&host);
    notifier.start();
    for (int i = 0; i < 3; ++i) notifier.post([&, i] { ran.push_back(i); });
    notifier.post(notice);
    EXPECT_EQ(host.poll_one(), 1U);
    EXPECT_EQ(notice.ran + ran.size(), 1U) << "the host's other work comes in between";
  }
  EXPECT_EQ(host.poll(), 3U) << "it outlives the notifier";
  EXPECT_THAT(ran, ElementsAre(0, 1, 2));
  EXPECT_EQ(notice.ran, 1);
}

TEST(Notifier, CallsItsWatchWhenThatIsDueAndWhenItIsWoken) {
  std::atomic<int> calls{0};
  std::atomic<bool> soon{true};
  Notifier notifier;
  notifier.start([&] {
    ++calls;
    return soon ? base::Clock::now() + std::chrono::milliseconds(1) : base::TimePoint::max();
  });
  while (calls < 5) std::this_thread::yield();
  soon = false;
  notifier.wake();
  std::promise<void> idle;
  notifier.post([&] { idle.set_value(); });
  idle.get_future().wait();
  const int before = calls;
  notifier.wake();
  while (calls == before) std::this_thread::yield();
}

TEST(Notifier, DestroysEachTaskOnceItHasRun) {
  // What a task keeps alive (a client, say) must not live until the next one comes.
  auto kept = std::make_shared<int>(1);
  const std::weak_ptr<int> watch = kept;
  std::promise<void> gate;
  std::promise<void> reached;
  Started notifier;
  notifier.post([kept = std::move(kept)] {});
  notifier.post([&] {
    reached.set_value();
    gate.get_future().wait();
  });
  reached.get_future().wait();
  EXPECT_TRUE(watch.expired());
  gate.set_value();
}

}  // namespace
}  // namespace holdfast::engine::notifier_test
