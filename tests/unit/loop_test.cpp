// SPDX-License-Identifier: Apache-2.0
// Who drives a client's loop: its own thread, or a caller that waits alone.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <random>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <gtest/gtest.h>

#include "loop/own_loop.hpp"
#include "support/counter.hpp"

namespace holdfast::engine::loop_test {
namespace {

using namespace std::chrono_literals;
using base::Clock;
using base::Duration;
using base::TimePoint;
using std::chrono::milliseconds;

/// One whose thread runs.
struct Running : OwnLoop {
  explicit Running(std::function<void()> settle = [] {}) : Running(Hooks{.settle = std::move(settle)}) {}
  explicit Running(Hooks hooks) : OwnLoop(std::move(hooks)) { start(); }
  ~Running() override { finish({}); }  // while it is still all there for its thread
};

struct Slot : Loop::Task, std::enable_shared_from_this<Slot> {
  void run() override { work(); }
  std::function<void()> work;
  Answer answer;
  std::thread::id ran_on;
};

void call(OwnLoop& loop, const std::shared_ptr<Slot>& slot, std::function<void()> work,
          TimePoint until = TimePoint::max()) {
  slot->work = std::move(work);
  loop.call(slot, slot->answer, until);
}

/// A call that is answered at once. Returns the thread that drove the loop for it.
std::thread::id quick_call(OwnLoop& loop) {
  const auto slot = std::make_shared<Slot>();
  call(loop, slot, [&loop, slot = slot.get()] {
    loop.defer([&loop, slot = slot->shared_from_this()] {
      slot->ran_on = std::this_thread::get_id();
      loop.set(slot->answer);
    });
  });
  EXPECT_TRUE(slot->answer.is_there());
  return slot->ran_on;
}

TEST(LoopTest, IsTurnedByACallerThatComesAgainAndAgain) {
  const int always_ready = eventfd(1, EFD_CLOEXEC);  // as if the reply were there at once
  Running loop(
      OwnLoop::Hooks{.settle = [] {}, .sockets = [always_ready] { return OwnLoop::Sockets{always_ready, -1}; }});
  int own = 0;
  for (int i = 0; i < 1000; ++i) own += quick_call(loop) == std::this_thread::get_id() ? 1 : 0;
  EXPECT_GT(own, 0);
  loop.finish({});
  close(always_ready);
}

TEST(LoopTest, AnswersCallersThatComeTogether) {
  Running loop;
  std::atomic<int> answered{0};
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 8; ++i) {
      callers.emplace_back([&] {
        for (int k = 0; k < 500; ++k) {
          quick_call(loop);
          ++answered;
        }
      });
    }
  }
  EXPECT_EQ(answered, 8 * 500);
}

TEST(LoopTest, RunsOneThingAtATimeWhoeverTurnsIt) {
  Running loop;
  test::Counter counter;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int k = 0; k < 250; ++k) {
          const auto slot = std::make_shared<Slot>();
          call(loop, slot, [&loop, &counter, slot = slot.get()] {
            counter.increment();
            loop.set(slot->answer);
          });
        }
      });
    }
  }
  EXPECT_EQ(counter.calls(), 1000);
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_GT(test::lost_without_a_lock(4, 20), 0);
}

TEST(LoopTest, WakesACallerWhoseAnswerComesFromElsewhere) {
  Running loop;
  for (int i = 0; i < 200; ++i) {
    const auto slot = std::make_shared<Slot>();
    const auto begun = std::make_shared<std::promise<void>>();
    const std::jthread other([&loop, slot, begun] {
      begun->get_future().wait();
      loop.set(slot->answer);
    });
    call(loop, slot, [begun] { begun->set_value(); });
    EXPECT_TRUE(slot->answer.is_there());
  }
}

TEST(LoopTest, LeavesACallerWhoseTimeIsOver) {
  Running loop;
  quick_call(loop);
  for (int i = 0; i < 3; ++i) {
    const auto slot = std::make_shared<Slot>();
    const TimePoint until = Clock::now() + 30ms;
    call(loop, slot, [] {}, until);
    EXPECT_FALSE(slot->answer.is_there());
    EXPECT_GE(Clock::now(), until);
  }
  quick_call(loop);
}

TEST(LoopTest, IsNotForgottenWhenCallersStopComing) {
  Running loop;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 5; ++i) quick_call(loop);
    // Nobody calls any more: what is posted, and timers, must run all the same.
    std::promise<void> posted, rang;
    boost::asio::basic_waitable_timer<Clock> timer(loop.executor());
    loop.defer([&] {
      timer.expires_after(3ms);
      timer.async_wait([&](boost::system::error_code) { rang.set_value(); });
      posted.set_value();
    });
    ASSERT_EQ(posted.get_future().wait_for(30s), std::future_status::ready);
    ASSERT_EQ(rang.get_future().wait_for(30s), std::future_status::ready);
  }
}

TEST(LoopTest, RunsWhatIsDeferredAtOnceThoughItLooksInRarely) {
  Running loop;
  Duration longest{};
  for (int round = 0; round < 20; ++round) {
    quick_call(loop);
    quick_call(loop);
    std::this_thread::sleep_for(milliseconds(5 * round));  // the gaps between the looks grow meanwhile
    std::promise<void> ran;
    const TimePoint begun = Clock::now();
    loop.defer([&ran] { ran.set_value(); });
    ASSERT_EQ(ran.get_future().wait_for(30s), std::future_status::ready);
    if (round > 0) longest = std::max<Duration>(longest, Clock::now() - begun);
  }
  EXPECT_LT(longest, 20s);
}

TEST(LoopTest, LooksInWhenAnAlarmIsDue) {
  Running loop;
  std::vector<Duration> late;
  for (int round = 0; round < 15; ++round) {
    quick_call(loop);
    const TimePoint at = Clock::now() + 40ms + 3ms * round;
    std::promise<TimePoint> rang;
    timing::Alarm alarm(loop.schedule(), [&] { rang.set_value(Clock::now()); });
    loop.defer([&] { alarm.set(at); });
    late.push_back(rang.get_future().get() - at);
  }
  std::sort(late.begin(), late.end());
  EXPECT_LT(late[late.size() / 2], 10ms) << "the rarest look comes 32 ms after the one before";
}

TEST(LoopTest, GoesOnForOthersWhenTheCallerThatTurnedItLeaves) {
  Running loop;
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 3; ++k) quick_call(loop);  // the loop's own thread has stepped aside
    const auto late = std::make_shared<Slot>();
    std::jthread other([&] { call(loop, late, [] {}); });
    quick_call(loop);
    std::jthread setter([&] { loop.defer([&loop, late] { loop.set(late->answer); }); });
  }
}

TEST(LoopTest, LetsCallersGoWhenItIsOver) {
  auto loop = std::make_unique<Running>();
  const auto slot = std::make_shared<Slot>();
  std::promise<void> under_way;
  std::jthread caller([&] { call(*loop, slot, [&] { under_way.set_value(); }); });
  under_way.get_future().wait();
  loop->finish(10ms);
  caller.join();
  EXPECT_FALSE(slot->answer.is_there());
}

TEST(LoopTest, SettlesAfterEveryPieceOfWork) {
  std::atomic<int> settled{0};
  Running loop([&settled] { ++settled; });
  for (int i = 0; i < 100; ++i) {
    const int before = settled;
    quick_call(loop);
    const TimePoint limit = Clock::now() + 30s;
    while (settled == before && Clock::now() < limit) std::this_thread::yield();
    EXPECT_GT(settled, before);
  }
}

TEST(LoopTest, SettlesALazyTaskSoonThoughNobodyComes) {
  std::atomic<bool> done{false};
  std::atomic<bool> settled{false};
  Running loop([&] { settled = done.load(); });
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < i % 3; ++k) quick_call(loop);  // its own thread drives it, or has stepped aside
    done = settled = false;
    const auto task = std::make_shared<Slot>();
    task->work = [&done] { done = true; };
    loop.post_from_caller(task, Loop::Pace::with_the_next);
    const TimePoint limit = Clock::now() + 30s;
    while (!settled && Clock::now() < limit) std::this_thread::sleep_for(100us);
    EXPECT_TRUE(settled);
  }
}

TEST(LoopTest, KeepsTheOrderOfOneCaller) {
  Running loop;
  std::vector<std::jthread> callers;
  std::atomic<int> disorder{0};
  for (int i = 0; i < 2; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 3000; ++k) {
        const auto first = std::make_shared<Slot>();
        const auto posted = std::make_shared<std::atomic<bool>>(false);
        first->work = [posted] { *posted = true; };
        loop.post_from_caller(first, Loop::Pace::with_the_next);
        const auto second = std::make_shared<Slot>();
        call(loop, second, [&loop, &disorder, posted, slot = second.get()] {
          if (!*posted) ++disorder;
          loop.set(slot->answer);
        });
      }
    });
  }
  callers.clear();
  EXPECT_EQ(disorder, 0);
}

TEST(LoopTest, RunsWhatIsPostedInOrder) {
  Running loop;
  std::vector<int> order;
  std::promise<void> last;
  for (int i = 0; i < 100; ++i) {
    const auto task = std::make_shared<Slot>();
    task->work = [&order, &last, i] {
      order.push_back(i);
      if (i == 99) last.set_value();
    };
    loop.post(task);
  }
  ASSERT_EQ(last.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 100U);
}

/// Whatever the order in which a lone caller, a timer on the loop and the loop's own thread come: nothing is missed for
/// longer than the loop's own thread takes to look in.
TEST(LoopTest, ChangesDriversWithoutMissingATimerUnderLoad) {
  std::atomic<bool> over{false};
  std::vector<std::jthread> load;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    load.emplace_back([&] {
      while (!over) continue;
    });
  }
  Running loop;
  Duration longest{};
  std::minstd_rand random(1);
  for (int round = 0; round < 300; ++round) {
    const auto slot = std::make_shared<Slot>();
    const auto timer = std::make_shared<boost::asio::basic_waitable_timer<Clock>>(loop.executor());
    const Duration due = std::chrono::microseconds(random() % 12'000);
    const bool late = random() % 2 == 0;
    const TimePoint begun = Clock::now();
    call(loop, slot, [&loop, slot = slot.get(), timer, due, late] {
      if (late) slot->answer.comes_late();
      timer->expires_after(due);
      timer->async_wait(
          [&loop, slot = slot->shared_from_this(), timer](boost::system::error_code) { loop.set(slot->answer); });
    });
    ASSERT_TRUE(slot->answer.is_there());
    longest = std::max<Duration>(longest, Clock::now() - begun - due);
    if (round % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
  }
  over = true;
  EXPECT_LT(longest, 5s);
}

TEST(LoopTest, OfAHandlerThatThrowsOnlyItselfIsLost) {
  std::atomic<int> recovered{0};
  Running loop(OwnLoop::Hooks{.settle = [] {}, .recover = [&recovered] { ++recovered; }});
  for (int i = 0; i < 50; ++i) {
    for (int k = 0; k < i % 3; ++k) quick_call(loop);  // its own thread drives it, or has stepped aside
    const int before = recovered;
    std::promise<void> ran;
    loop.defer([] { throw std::bad_alloc(); });
    loop.defer([&ran] { ran.set_value(); });
    quick_call(loop);
    ASSERT_EQ(ran.get_future().wait_for(30s), std::future_status::ready);
    const TimePoint limit = Clock::now() + 30s;
    while (recovered == before && Clock::now() < limit) std::this_thread::yield();
    EXPECT_GT(recovered, before);
  }
}

TEST(LoopTest, OfATaskThatThrowsOnlyItselfIsToldSo) {
  struct Throwing final : Loop::Task {
    void run() override { throw std::bad_alloc(); }
    void broken() noexcept override { told = true; }
    std::atomic<bool> told{false};
  };
  Running loop;
  const auto bad = std::make_shared<Throwing>();
  const auto good = std::make_shared<Slot>();
  std::promise<void> ran, blocked, go;
  loop.defer([&] {
    blocked.set_value();
    go.get_future().wait();
  });
  blocked.get_future().wait();
  good->work = [&ran] { ran.set_value(); };
  loop.post(bad);
  loop.post(good);
  go.set_value();
  ASSERT_EQ(ran.get_future().wait_for(30s), std::future_status::ready);
  EXPECT_TRUE(bad->told);
}

TEST(LoopTest, TriesAgainWhenWhatItIsToMakeGoodThrows) {
  std::atomic<int> tried{0};
  Running loop(OwnLoop::Hooks{.settle = [] {},
                              .recover =
                                  [&tried] {
                                    if (++tried < 4) throw std::bad_alloc();
                                  }});
  loop.defer([] { throw std::bad_alloc(); });
  const TimePoint limit = Clock::now() + 30s;
  while (tried < 4 && Clock::now() < limit) std::this_thread::yield();
  EXPECT_EQ(tried, 4);
  quick_call(loop);
}

TEST(LoopTest, KnowsWhoIsInside) {
  Running loop;
  Running another;
  EXPECT_FALSE(loop.inside());
  std::promise<bool> inside, inside_another;
  loop.defer([&] {
    inside.set_value(loop.inside());
    inside_another.set_value(another.inside());
  });
  EXPECT_TRUE(inside.get_future().get());
  EXPECT_FALSE(inside_another.get_future().get());
}

}  // namespace
}  // namespace holdfast::engine::loop_test
