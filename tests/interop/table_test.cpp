// SPDX-License-Identifier: Apache-2.0
// The generated page says what was recorded, and hides nothing.
#include "table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace holdfast::test::table_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Record passed(std::string test, std::string peer) {
  return {"WakeUps", std::move(test), "peer", peer, "Version of " + peer, "Redis 7.0.15", "passed", {}, {}};
}

TEST(InteropTable, NamesBecomeSentences) {
  EXPECT_EQ(as_sentence("AWaiterOfHoldfastEnters"), "A waiter of Holdfast enters");
  EXPECT_EQ(as_sentence("WakeUps"), "Wake ups");
}

TEST(InteropTable, ARowHasACellForEachPeerInTheirOrder) {
  const std::string page = interop_page({passed("ItWorks", "redisson-4"), passed("ItWorks", "redisson-3.14.0")}, "day");
  EXPECT_THAT(page, HasSubstr("with Redis 7.0.15"));
  EXPECT_THAT(page, HasSubstr("| case | holder | Version of redisson-3.14.0 | Version of redisson-4 |\n"
                              "| --- | --- | --- | --- |\n"
                              "| It works | peer | ✅ | ✅ |\n"));
  EXPECT_THAT(page, Not(HasSubstr("Notes")));
}

TEST(InteropTable, WhatDidNotPassHasANoteThatSaysWhy) {
  Record failed = passed("ItFails", "redisson-4");
  failed.verdict = "failed";
  failed.reason = "Expected: 1\nActual: 2";
  Record ended = passed("ItEnds", "redisson-4");
  ended.verdict = "crashed";
  const std::string page = interop_page({failed, ended}, "day");
  EXPECT_THAT(page, HasSubstr("| It ends | peer | ❌ (1) |"));
  EXPECT_THAT(page, HasSubstr("| It fails | peer | ❌ (2) |"));
  EXPECT_THAT(page, HasSubstr("1. `the test did not come to its end`\n2. `Expected: 1 Actual: 2`\n"));
}

TEST(InteropTable, APeerThatHasNothingOfASuiteHasNoColumn) {
  Record absent = passed("ItWorks", "redisson-3.14.0");
  absent.verdict = "absent";
  absent.reason = "it has none";
  const std::string page = interop_page({absent, passed("ItWorks", "redisson-4")}, "day");
  EXPECT_THAT(page, HasSubstr("| case | holder | Version of redisson-4 |\n"));
  EXPECT_THAT(page, Not(HasSubstr("it has none")));
  const std::string partly = interop_page({absent, passed("ItWorksToo", "redisson-3.14.0")}, "day");
  EXPECT_THAT(partly, HasSubstr("| It works | peer | ➖ (1) |"));
}

TEST(InteropTable, FiguresStandBesideTheirCase) {
  Record measured = passed("ItWorks", "redisson-4");
  measured.figures = {{"median", "1.2 ms"}};
  EXPECT_THAT(interop_page({measured}, "day"), HasSubstr("| It works | peer | median | 1.2 ms |"));
}

}  // namespace
}  // namespace holdfast::test::table_test
