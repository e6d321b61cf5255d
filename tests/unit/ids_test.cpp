// SPDX-License-Identifier: Apache-2.0
// Identities: shaped as on the wire, never given twice.
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/entropy.hpp"
#include "kinds/owner.hpp"

namespace holdfast::base::ids_test {
namespace {

TEST(Uuid, IsOfVersion4InLowerCaseWithHyphens) {
  const std::string shape = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
  for (int i = 0; i < 200; ++i) EXPECT_THAT(wire::make_uuid(), testing::MatchesRegex(shape));
}

TEST(Uuid, IsOfAnotherVersionIfAskedFor) {
  const std::string shape = "[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
  for (int i = 0; i < 200; ++i) EXPECT_THAT(wire::make_uuid(8), testing::MatchesRegex(shape));
}

TEST(Uuid, IsNeverTheSameTwice) {
  std::set<std::string> seen;
  for (int i = 0; i < 5000; ++i) EXPECT_TRUE(seen.insert(wire::make_uuid()).second);
}

TEST(Uuid, HasEveryDigitInEveryFreePlace) {
  // A source that is stuck or short of bits shows as a digit that never comes; 2000 draws miss one of 16 by chance
  // with a probability below 1e-53 per place.
  constexpr int kDraws = 2000;
  std::vector<std::set<char>> digits(36);
  for (int i = 0; i < kDraws; ++i) {
    const std::string uuid = wire::make_uuid();
    for (std::size_t place = 0; place < digits.size(); ++place) digits[place].insert(uuid.at(place));
  }
  for (std::size_t place = 0; place < digits.size(); ++place) {
    const bool hyphen = place == 8 || place == 13 || place == 18 || place == 23;
    const std::size_t expected = hyphen || place == 14 ? 1 : place == 19 ? 4 : 16;
    EXPECT_EQ(digits[place].size(), expected) << "place " << place;
  }
}

/// Runs `draw` in many threads at once and returns everything that it gave.
template <typename Draw>
std::vector<std::uint64_t> drawn_by_threads(int threads, int times, Draw draw) {
  std::mutex mutex;
  std::vector<std::uint64_t> all;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([&] {
      std::vector<std::uint64_t> mine;
      for (int n = 0; n < times; ++n) mine.push_back(draw());
      const std::scoped_lock guard(mutex);
      all.insert(all.end(), mine.begin(), mine.end());
    });
  }
  for (std::thread& thread : running) thread.join();
  return all;
}

TEST(Number, IsNeverGivenTwiceToAnyThread) {
  const std::vector<std::uint64_t> all = drawn_by_threads(8, 10'000, next_number);
  const std::set<std::uint64_t> distinct(all.begin(), all.end());
  EXPECT_EQ(distinct.size(), all.size());
  EXPECT_GE(*distinct.begin(), 1U);
  EXPECT_GT(next_number(), *distinct.rbegin());
}

TEST(ThreadNumber, StaysTheSameForAThread) {
  const std::uint64_t mine = this_thread_number();
  EXPECT_GE(mine, 1U);
  std::thread([mine] {
    const std::uint64_t other = this_thread_number();
    EXPECT_NE(other, mine);
    EXPECT_EQ(this_thread_number(), other);
  }).join();
  EXPECT_EQ(this_thread_number(), mine);
}

TEST(ThreadNumber, IsNotRecycledWhenThreadsEnd) {
  // One after another, so that the system gives most of them the same thread id again.
  std::set<std::uint64_t> seen{this_thread_number()};
  for (int i = 0; i < 500; ++i) {
    std::thread([&] { EXPECT_TRUE(seen.insert(this_thread_number()).second); }).join();
  }
  EXPECT_EQ(seen.size(), 501U);
}

TEST(ThreadNumber, DiffersBetweenThreadsThatRunAtOnce) {
  const std::vector<std::uint64_t> all = drawn_by_threads(32, 1, this_thread_number);
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), 32U);
}

}  // namespace
}  // namespace holdfast::base::ids_test
