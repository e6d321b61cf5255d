// SPDX-License-Identifier: Apache-2.0
#include "chaos/ageing.hpp"

#include <chrono>
#include <fcntl.h>
#include <future>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::test::chaos::ageing_test {
namespace {

using testing::HasSubstr;

/// So many samples of a process, each of which uses more than the one before.
std::vector<Used> samples(int count, const Used& more) {
  std::vector<Used> all{{.kilobytes = 20'000, .descriptors = 30, .threads = 5}};
  for (int i = 1; i < count; ++i) {
    const Used& last = all.back();
    all.push_back({last.kilobytes + more.kilobytes, last.descriptors + more.descriptors, last.threads + more.threads});
  }
  return all;
}

std::string growth_of(const Used& more) { return growth(ageing(samples(80, more)).value()); }

TEST(Ageing, WhatStaysAsItIsHasNotGrown) { EXPECT_EQ(growth_of({}), ""); }

TEST(Ageing, EachThingThatGrowsIsNamed) {
  EXPECT_EQ(growth_of({.kilobytes = 200}), "memory from 27800 to 35800 kB");
  EXPECT_EQ(growth_of({.descriptors = 1}), "from 69 to 109 descriptors");
  EXPECT_EQ(growth_of({.threads = 1}), "from 44 to 84 threads");
  EXPECT_EQ(growth_of({100, 1, 0}), "from 69 to 109 descriptors") << "a heap is never quite still";
}

TEST(Ageing, WhatAProcessNeedsAtTheBeginningIsNotGrowth) {
  std::vector<Used> all = samples(80, {});
  for (std::size_t i = 20; i < all.size(); ++i) all[i] = {.kilobytes = 90'000, .descriptors = 90, .threads = 50};
  EXPECT_EQ(growth(ageing(all).value()), "");
}

TEST(Ageing, FewSamplesSayNothing) {
  EXPECT_FALSE(ageing(samples(15, {})));
  EXPECT_TRUE(ageing(samples(16, {})));
}

TEST(Ageing, AProcessIsSeenToUseMore) {
  const Used before = used_by(getpid()).value();
  const std::vector<char> memory(std::size_t{64} << 20U, 'x');
  std::vector<std::jthread> threads;
  std::promise<void> end;  // which ends them, whatever happens here
  const std::shared_future<void> until = end.get_future().share();
  std::vector<int> descriptors;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([until] { until.wait(); });
    descriptors.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  const Used after = used_by(getpid()).value();
  end.set_value();
  for (const int each : descriptors) close(each);
  EXPECT_THAT(growth({before, after}),
              testing::AllOf(HasSubstr("memory"), HasSubstr("descriptors"), HasSubstr("threads")));
  EXPECT_EQ(memory.back(), 'x');
}

TEST(Ageing, OfAProcessThatHasEndedNothingIsKnown) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_GT(child, 0);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(used_by(child));
}

}  // namespace
}  // namespace holdfast::test::chaos::ageing_test
