// SPDX-License-Identifier: Apache-2.0
// base::parse_duration: what is a duration, how long it is, and what is wrong with the rest.
#include "base/duration.hpp"

#include <string_view>

#include <gtest/gtest.h>

namespace holdfast::base::duration_test {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Parsed = std::variant<milliseconds, BadDuration>;

TEST(Duration, IsANumberWithAUnit) {
  const auto parsed = [](std::string_view text) { return parse_duration(text, BareNumber::refused); };
  EXPECT_EQ(parsed("500ms"), Parsed(500ms));
  EXPECT_EQ(parsed("10s"), Parsed(10s));
  EXPECT_EQ(parsed("5m"), Parsed(5min));
  EXPECT_EQ(parsed("2h"), Parsed(2h));
  EXPECT_EQ(parsed("1d"), Parsed(24h));
  EXPECT_EQ(parsed("1.5h"), Parsed(90min));
  EXPECT_EQ(parsed(".5s"), Parsed(500ms));
  EXPECT_EQ(parsed("0s"), Parsed(0ms));
  EXPECT_EQ(parsed("3650d"), Parsed(kLongestDuration));
  EXPECT_EQ(parsed("10"), Parsed(BadDuration::form));
}

TEST(Duration, MayBeSecondsWithoutAUnit) {
  const auto parsed = [](std::string_view text) { return parse_duration(text, BareNumber::seconds); };
  EXPECT_EQ(parsed("10"), Parsed(10s));
  EXPECT_EQ(parsed("0.25"), Parsed(250ms));
  EXPECT_EQ(parsed("1e3"), Parsed(1000s));
  EXPECT_EQ(parsed("1.5E+2"), Parsed(150s));
  EXPECT_EQ(parsed("25e-2"), Parsed(250ms));
  EXPECT_EQ(parsed("1e-99999999999"), Parsed(0ms));
  EXPECT_EQ(parsed("5."), Parsed(5s));
  EXPECT_EQ(parsed("0"), Parsed(0ms));
  EXPECT_EQ(parsed("4e8"), Parsed(BadDuration::too_long));
}

TEST(Duration, IsRoundedUpToMillisecondsButNotForANumbersSake) {
  const auto parsed = [](std::string_view text) { return parse_duration(text, BareNumber::seconds); };
  EXPECT_EQ(parsed("0.0001"), Parsed(1ms));
  EXPECT_EQ(parsed("1.2ms"), Parsed(2ms));
  for (int i = 0; i < 100'000; ++i) {
    char text[16];
    std::snprintf(text, sizeof text, "%d.%03d", i / 1000, i % 1000);
    ASSERT_EQ(parsed(text), Parsed(milliseconds(i))) << text;
  }
}

TEST(Duration, IsNothingElse) {
  for (const BareNumber bare : {BareNumber::seconds, BareNumber::refused}) {
    for (const std::string_view text :
         {"",   "s",    "ms",    "soon",  "-1s",    "-0s",   "+1s", "1 s",  " 1s",  "1s ",
          "1S", "1sec", "1h30m", "0x10s", "nan",    "nans",  "inf", "infs", "1,5s", "1s\n",
          "1e", "--1s", ".",     ".s",    "1.2.3s", "1e+-3", "1e+", "1e-s"}) {
      EXPECT_EQ(parse_duration(text, bare), Parsed(BadDuration::form)) << text;
    }
    for (const std::string_view text :
         {"3651d", "1e300s", "1e999s", "99999999999999999999ms", "9223372036854775807m"}) {
      EXPECT_EQ(parse_duration(text, bare), Parsed(BadDuration::too_long)) << text;
    }
  }
}

}  // namespace
}  // namespace holdfast::base::duration_test
