// SPDX-License-Identifier: Apache-2.0
// Which releases are repeated to a new primary, told without a clock.
#include "lock/decide/recent_releases.hpp"

#include <string>

#include <gtest/gtest.h>

#include "fsm_text.hpp"

namespace holdfast::engine::recent_releases_test {
namespace {

using namespace std::chrono_literals;

class RecentReleasesTest : public testing::Test {
 protected:
  /// Confirmed at `time`; the lease was over by `give_up`.
  void released(const std::string& owner, Duration time, Duration give_up) {
    releases_.add({{owner}}, at(time), at(give_up));
  }
  std::string repeated(Duration now) {
    std::string out;
    for (const ConfirmedRelease& each : releases_.to_repeat(at(now))) {
      out += (out.empty() ? "" : " ") + each.command.args.front();
    }
    return out;
  }

  RecentReleases releases_;
};

TEST_F(RecentReleasesTest, AreThoseOfTheLastSecondsOfTheEarlierConnection) {
  released("a", 0s, 30s);
  released("b", 4s, 34s);
  released("c", 6s, 36s);
  EXPECT_EQ(repeated(20s), "b c") << "however long the failover took";
  EXPECT_EQ(repeated(20s), "b c") << "the next primary may not know of them either";
}

TEST_F(RecentReleasesTest, OfFiveSecondsAgoIsTheOldest) {
  released("a", 999ms, 30s);
  released("b", 1s, 30s);
  released("c", 6s, 36s);
  EXPECT_EQ(repeated(20s), "b c");
}

TEST_F(RecentReleasesTest, AreOfNoUseOnceTheLeaseIsOver) {
  released("a", 0s, 30s);
  released("b", 1s, 2s);
  EXPECT_EQ(repeated(10s), "a");
  EXPECT_EQ(repeated(30s), "");
}

TEST_F(RecentReleasesTest, AreThoseOfTheSlotsThatHaveANewServer) {
  released("a", 0s, 30s);
  released("b", 0s, 30s);
  const auto releases = releases_.to_repeat(at(1s), [](const base::Command& each) { return each.args[0] == "b"; });
  ASSERT_EQ(releases.size(), 1U);
  EXPECT_EQ(releases.front().command.args.front(), "b");
}

TEST_F(RecentReleasesTest, AreNoMoreThanTheLatest) {
  for (std::size_t i = 0; i <= RecentReleases::kMost; ++i) released(std::to_string(i), 1s, 30s);
  const auto releases = releases_.to_repeat(at(2s));
  ASSERT_EQ(releases.size(), RecentReleases::kMost);
  EXPECT_EQ(releases.front().command.args.front(), "1");
  EXPECT_EQ(releases.back().command.args.front(), std::to_string(RecentReleases::kMost));
}

}  // namespace
}  // namespace holdfast::engine::recent_releases_test
