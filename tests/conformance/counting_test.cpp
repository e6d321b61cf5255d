// SPDX-License-Identifier: Apache-2.0
// Mutual exclusion, counted: updates of an unprotected file that would be lost if two parties were ever inside at once.
#include <cstdlib>
#include <thread>

#include <holdfast/holdfast.hpp>

#include "conformance.hpp"
#include "support/counter.hpp"

namespace holdfast::test::counting_test {
namespace {

class Counting : public Conformance {
 protected:
  /// Lets the first parties increment one file and returns what it says at the end.
  long long increments(std::size_t parties, int each, int pause_ms) {
    const TempDir folder;
    const std::string file = folder.file("counter");
    for (std::size_t i = 0; i < parties; ++i) party(i);
    std::vector<Pending> work;
    for (std::size_t i = 0; i < parties; ++i) {
      work.push_back(party(i).start("increment", "counter", {file, std::to_string(each), std::to_string(pause_ms)}));
    }
    for (const Pending& task : work) {
      const Answer answer = task.get(8 * kPatience);
      EXPECT_TRUE(answer.ok) << answer.text;
    }
    return read_number(file);
  }
};

class CountingInEverySetting : public Counting {};
HOLDFAST_CONFORMANCE(CountingInEverySetting, kEverySetting);

TEST_P(CountingInEverySetting, SixteenPartiesLoseNoUpdate) {
  set("lease_ms", 30s);
  EXPECT_EQ(increments(16, 50, 1), 16 * 50);
}

class CountingByClients : public Counting {};
constexpr Setting kClients[] = {{Setting::Parties::clients, Setting::Face::std},
                                {Setting::Parties::clients, Setting::Face::hold},
                                {Setting::Parties::clients, Setting::Face::async}};
HOLDFAST_CONFORMANCE(CountingByClients, kClients);

TEST_P(CountingByClients, AHundredClientsOnceEachLoseNoUpdate) { EXPECT_EQ(increments(100, 1, 1), 100); }

class CountingByProcesses : public Counting {};
constexpr Setting kProcesses[] = {{Setting::Parties::processes, Setting::Face::std},
                                  {Setting::Parties::processes, Setting::Face::hold},
                                  {Setting::Parties::processes, Setting::Face::async}};
HOLDFAST_CONFORMANCE(CountingByProcesses, kProcesses);

/// HOLDFAST_COUNTING_RUNS raises the number of runs.
TEST_P(CountingByProcesses, EightProcessesWithHundredsEachLoseNoUpdate) {
  set("lease_ms", 30s);
  const char* runs = std::getenv("HOLDFAST_COUNTING_RUNS");
  for (int i = 0; i < (runs != nullptr ? std::atoi(runs) : 1); ++i) {
    ASSERT_EQ(increments(8, 400, 0), 8 * 400) << "run " << i;
  }
}

TEST(CountingControl, WithoutTheLockUpdatesAreLost) {
  Site site;
  const TempDir folder;
  std::vector<std::unique_ptr<Taker>> takers;
  std::vector<Pending> work;
  // Each under a lock of its own name: the same work, and nothing excludes anybody.
  for (int i = 0; i < 4; ++i) {
    takers.push_back(std::make_unique<Taker>(Taker::Place::own_process));
    takers.back()->connect(site.url());
  }
  for (int i = 0; i < 4; ++i) {
    work.push_back(Party(*takers[static_cast<std::size_t>(i)], 1)
                       .start("increment", "own-" + std::to_string(i), {folder.file("counter"), "100", "1"}));
  }
  for (const Pending& task : work) EXPECT_TRUE(task.get().ok);
  EXPECT_LT(read_number(folder.file("counter")), 400);
}

TEST(SharedLockObject, ManyThreadsTryAndUnlockWithoutEverMeeting) {
  Site site;
  Client client(optimised_config(site.url()));
  Lock lock = client.lock("shared");
  Counter counter;
  std::atomic<int> not_mine{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        if (!lock.try_lock()) continue;
        counter.increment();
        if (!lock.this_thread().is_holding()) ++not_mine;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.lost(), 0);
  EXPECT_EQ(not_mine, 0);
  EXPECT_GT(counter.calls(), 0);
  EXPECT_GT(lost_without_a_lock(16, 20), 0);
  EXPECT_FALSE(lock.is_locked());
  EXPECT_EQ(client.counters().lost, 0U);
}

}  // namespace
}  // namespace holdfast::test::counting_test
