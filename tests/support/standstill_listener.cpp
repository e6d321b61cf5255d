// SPDX-License-Identifier: Apache-2.0
// A part of each suite that has servers: a test that fails while the machine stands still says so. It has failed all
// the same; whoever looks for the reason knows what to rule out.
#include <cstdio>
#include <optional>

#include <gtest/gtest.h>

#include "support/standstill.hpp"

namespace holdfast::test {
namespace {

constexpr std::chrono::milliseconds kTooLong{600};  // from one renewal to the end of what it was to renew

class StandstillListener final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override { still_.emplace(); }
  void OnTestEnd(const testing::TestInfo& test) override {
    const auto longest = still_->longest();
    still_.reset();
    if (!test.result()->Failed() || longest < kTooLong) return;
    std::printf("the machine stood still for %lld ms during this test\n", static_cast<long long>(longest.count()));
  }

  std::optional<Standstill> still_;
};

const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new StandstillListener);  // which googletest frees
  return true;
}();

}  // namespace
}  // namespace holdfast::test
