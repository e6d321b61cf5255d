// SPDX-License-Identifier: Apache-2.0
// How many questions thousands of clients ask when a primary is gone, counted in virtual time.
#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "redis/decide/survey.hpp"
#include "unit/cluster_story.hpp"

namespace holdfast::redis::cluster::cluster_storm_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kSeconds = 90;
constexpr base::Duration kEnd = std::chrono::seconds(kSeconds);

NodeAddress primary(std::size_t number) { return {"p" + std::to_string(number), 7000}; }

/// Equal parts; the first one is served by `first`.
View even(std::size_t primaries, const NodeAddress& first) {
  View out;
  for (std::size_t i = 0; i < primaries; ++i) {
    out.primaries.push_back({i == 0 ? first : primary(i), {}, 1});
    out.replicas.push_back({"r" + std::to_string(i), 7000});
  }
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    out.served_by[slot] = static_cast<std::uint16_t>(slot * primaries / kSlots);
  }
  out.covered = kSlots;
  return out;
}

/// What all clients of a cluster did together. They do not influence each other, so each is played by itself.
struct Storm {
  std::array<int, kSeconds> in_second{};  ///< Questions of all clients.
  int most_of_one = 0;                    ///< Of one client in one second.
  std::vector<base::Duration> found;      ///< From the election until a client knows it, in order.

  base::Duration found_by(double share) const {
    return found.at(static_cast<std::size_t>(static_cast<double>(found.size() - 1) * share));
  }
};

/// One client: its requests to the primary that is gone make it doubt, as often as an engine repeats them. After
/// `elected` all other nodes know a new one.
void play(Storm& storm, const View& before, const View& after, base::Duration elected, std::uint64_t chance) {
  std::mt19937_64 random(chance);
  const auto some = [&](base::Duration least, base::Duration most) {
    return base::Duration(std::uniform_int_distribution<base::Duration::rep>(least.count(), most.count())(random));
  };
  Survey survey({primary(1), primary(2)}, chance);
  Survey::Step step = survey.start(at(-60s));
  step = survey.on_answer(at(-60s), *step.ask, before);

  const NodeAddress gone = primary(0);
  std::array<int, kSeconds> mine{};
  std::optional<NodeAddress> asked;
  base::TimePoint next_doubt = kStart, reply_at{};
  bool known = false;
  for (base::TimePoint now = kStart; now < at(kEnd);) {
    now = std::min(asked ? reply_at : std::max(now, step.due), next_doubt);
    if (now == next_doubt) {
      step = survey.on_doubt(now, gone);
      next_doubt = known ? base::TimePoint::max() : now + some(20ms, 500ms);
    } else if (asked) {
      const NodeAddress from = *std::exchange(asked, std::nullopt);
      step = from == gone ? survey.on_failure(now, from, "no answer in time")
                          : survey.on_answer(now, from, now < at(elected) ? before : after);
      if (step.adopt && !known && step.adopt->primary_of(0)->address != gone) {
        known = true;
        storm.found.push_back(now - at(elected));
      }
    } else {
      step = survey.on_time(now);
    }
    if (!step.ask || now >= at(kEnd)) continue;
    asked = step.ask;
    reply_at = now + (*asked == gone ? base::Duration(2s) : some(200us, 5ms));
    ++mine.at(static_cast<std::size_t>((now - kStart) / 1s));
  }
  for (std::size_t second = 0; second < mine.size(); ++second) storm.in_second.at(second) += mine.at(second);
  storm.most_of_one = std::max(storm.most_of_one, *std::ranges::max_element(mine));
}

Storm storm_of(int clients, std::size_t primaries, base::Duration elected) {
  const View before = even(primaries, primary(0)), after = even(primaries, {"r0", 7000});
  Storm storm;
  for (int client = 0; client < clients; ++client) {
    play(storm, before, after, elected, static_cast<std::uint64_t>(client));
  }
  std::ranges::sort(storm.found);
  std::cout << clients << " clients, " << primaries << " primaries: questions in the 1st, 2nd, 15th, 60th second "
            << storm.in_second[0] << ", " << storm.in_second[1] << ", " << storm.in_second[14] << ", "
            << storm.in_second[59] << "; of one client in a second " << storm.most_of_one;
  if (!storm.found.empty()) {
    const auto ms = [](base::Duration time) { return time / 1ms; };
    std::cout << "; the new primary found after " << ms(storm.found_by(0.5)) << " ms (half), " << ms(storm.found_by(1))
              << " ms (last)";
  }
  std::cout << "\n";
  return storm;
}

/// Clients and primaries.
class ClusterStorm : public testing::TestWithParam<std::pair<int, std::size_t>> {};

TEST_P(ClusterStorm, IsNoneWhileAPrimaryIsGoneAndTheNewOneIsFoundSoon) {
  const auto [clients, primaries] = GetParam();
  const Storm storm = storm_of(clients, primaries, 15s);
  EXPECT_LE(storm.most_of_one, 5);
  EXPECT_LE(storm.in_second[0], 4 * clients);
  for (std::size_t second = 1; second < 15; ++second) EXPECT_LE(storm.in_second.at(second), 2 * clients) << second;
  for (std::size_t second = 20; second < 30; ++second) EXPECT_EQ(storm.in_second.at(second), 0) << second;
  EXPECT_EQ(storm.found.size(), static_cast<std::size_t>(clients));
  EXPECT_LE(storm.found_by(0.5), primaries == 3 ? 600ms : 1200ms);
  EXPECT_LE(storm.found_by(1), primaries == 3 ? 1100ms : 2100ms);
}

TEST_P(ClusterStorm, CalmsDownWhenNobodyIsElected) {
  const auto [clients, primaries] = GetParam();
  const Storm storm = storm_of(clients, primaries, 1h);
  for (std::size_t second = 40; second < kSeconds; ++second)
    EXPECT_LE(storm.in_second.at(second), clients / 2) << second;
  EXPECT_TRUE(storm.found.empty());
}

// Clients do not influence each other: 5,000 ask twenty times as much as 250.
INSTANTIATE_TEST_SUITE_P(Sizes, ClusterStorm,
                         testing::Values(std::pair(64, std::size_t{3}), std::pair(64, std::size_t{100}),
                                         std::pair(250, std::size_t{3}), std::pair(250, std::size_t{100})));

}  // namespace
}  // namespace holdfast::redis::cluster::cluster_storm_test
