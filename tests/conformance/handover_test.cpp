// SPDX-License-Identifier: Apache-2.0
// The lock between processes: how fast it passes on, and what becomes of holders that are killed or frozen.
#include <csignal>

#include "conformance.hpp"
#include "support/standstill.hpp"

namespace holdfast::test::handover_test {
namespace {

class Handover : public Conformance {
 protected:
  /// Stops a process and returns when the kernel says that it has stopped.
  static void freeze(Taker& taker) {
    taker.signal(SIGSTOP);
    ASSERT_TRUE(eventually([&] {
      std::string line;
      std::ifstream stat("/proc/" + std::to_string(taker.pid()) + "/stat");
      std::getline(stat, line);
      const std::size_t name_end = line.rfind(')');
      return name_end != std::string::npos && line.compare(name_end, 3, ") T") == 0;
    }));
  }
};
constexpr Setting kProcesses[] = {{Setting::Parties::processes, Setting::Face::std},
                                  {Setting::Parties::processes, Setting::Face::hold},
                                  {Setting::Parties::processes, Setting::Face::async}};
HOLDFAST_CONFORMANCE(Handover, kProcesses);

TEST_P(Handover, AWaiterEntersWithinFiftyMillisecondsOfARelease) {
  set("lease_ms", 30s);
  std::vector<double> latencies;
  for (std::size_t i = 0; i < 30; ++i) {
    Party& holder = party(i % 2);
    Party& waiter = party(1 - i % 2);
    const std::string name = "orders-" + std::to_string(i);
    holder.lock(name);
    const Pending waiting = waiter.start_lock(name);
    ASSERT_TRUE(listeners(name, 1));
    const Answer released = holder.start_unlock(name).get();
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    latencies.push_back(std::chrono::duration<double, std::milli>(entered.ended - released.began).count());
    waiter.unlock(name);
  }
  std::ranges::sort(latencies);
  RecordProperty("median_ms", std::to_string(latencies[latencies.size() / 2]));
  RecordProperty("worst_ms", std::to_string(latencies.back()));
  EXPECT_LT(latencies[latencies.size() / 2], 50);
}

TEST_P(Handover, AfterAKillTheNextEntersWithinTheLeaseAndATenthOfASecond) {
  const Standstill still;
  for (int i = 0; i < 3; ++i) {
    const auto doomed = make_taker();
    Party holder(*doomed, 1);
    holder.lock("orders");
    const Pending waiting = b().start_lock("orders");
    ASSERT_TRUE(listeners("orders", 1));
    const auto killed = steady_clock::now();
    doomed->signal(SIGKILL);
    const Answer entered = waiting.get();
    ASSERT_TRUE(entered.ok) << entered.text;
    EXPECT_LE(entered.ended - killed, kLease + 100ms + still.total());
    EXPECT_EQ(b().unlock("orders"), "released");
  }
}

TEST_P(Handover, AKilledWaiterLeavesNothingBehind) {
  a().lock("orders");
  const auto doomed = make_taker();
  Party(*doomed, 1).start_lock("orders");
  ASSERT_TRUE(listeners("orders", 1));
  doomed->signal(SIGKILL);
  ASSERT_TRUE(listeners("orders", 0));
  EXPECT_EQ(a().unlock("orders"), "released");
  EXPECT_TRUE(stays_free("orders", 2 * kLease));
}

/// The first thing that a frozen holder does after waking is to ask, and the answer must not be that it still holds.
TEST_P(Handover, AHolderFrozenPastItsLeaseNeverTakesItForValidAfterwards) {
  constexpr std::size_t kHolders = 4;
  constexpr int kRounds = 25;
  set("lease_ms", 300ms);
  for (std::size_t i = 0; i < kHolders; ++i) party(i);
  set("lease_ms", 10 * kLease);  // of whom comes next nothing is to be seen but that it comes
  Party& next = party(kHolders);
  int told = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kHolders; ++i) {
      const std::string name = "orders-" + std::to_string(i);
      party(i).lock(name);
      ASSERT_GT(party(i).valid_for(name), 0ms);
      freeze(party(i).taker());
    }
    std::vector<std::pair<Pending, Pending>> first_steps;
    for (std::size_t i = 0; i < kHolders; ++i) {
      const std::string name = "orders-" + std::to_string(i);
      ASSERT_TRUE(next.try_lock(name, kPrompt));
      // Every other round looks at the signal first, so that it cannot owe its firing to the other question.
      const char* questions[] = {"valid", "lost"};
      const Pending first = party(i).start(questions[round % 2], name);
      const Pending second = party(i).start(questions[1 - round % 2], name);
      first_steps.emplace_back(round % 2 == 0 ? first : second, round % 2 == 0 ? second : first);
      party(i).taker().signal(SIGCONT);
    }
    for (std::size_t i = 0; i < kHolders; ++i) {
      const std::string name = "orders-" + std::to_string(i);
      const bool invalid = first_steps[i].first.get().value == "0";
      const bool signalled = first_steps[i].second.get().value == "yes";
      if (invalid && signalled) ++told;
      EXPECT_EQ(next.unlock(name), "released");
      EXPECT_EQ(party(i).unlock(name), "was_lost");
    }
  }
  EXPECT_EQ(told, static_cast<int>(kHolders) * kRounds);
}

}  // namespace
}  // namespace holdfast::test::handover_test
