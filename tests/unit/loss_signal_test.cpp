// SPDX-License-Identifier: Apache-2.0
// How the end of a hold is announced, without a hold.
#include <memory>
#include <new>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lock/queue/tenancy.hpp"

namespace holdfast::engine::loss_signal_test {
namespace {

using testing::ElementsAre;

TEST(LossSignal, TellsAllWhoStillWatchOnceWhateverTheOthersDo) {
  std::vector<int> told;
  const auto by = [&told](int who) { return [&told, who](std::optional<LossReason>) { told.push_back(who); }; };
  LossSignal signal(std::make_unique<LossSignal::Watches>());
  signal.watches()->add(by(1));
  const std::uint64_t second = signal.watches()->add(by(2));
  signal.watches()->add([](std::optional<LossReason>) { throw std::bad_alloc(); });
  signal.watches()->add(by(4));
  EXPECT_TRUE(signal.unwatch(second));
  EXPECT_FALSE(signal.unwatch(second)) << "it is gone already";
  signal.take_watches()->tell(LossReason::expired);
  EXPECT_THAT(told, ElementsAre(1, 4));
  EXPECT_EQ(signal.take_watches(), nullptr);
}

TEST(LossSignal, StopsItsTokensElsewhereAndKeepsTheHoldUntilThen) {
  auto hold = std::make_shared<int>();
  const std::weak_ptr<int> kept = hold;
  LossSignal signal(nullptr);
  EXPECT_EQ(signal.stop(), nullptr) << "nobody has a token";
  const std::stop_token token = signal.token(false);
  Notifier signals;
  LossSignal::post(*signal.stop(), signals, std::move(hold));
  EXPECT_FALSE(kept.expired());
  EXPECT_FALSE(token.stop_requested());
  signals.start();
  signals.stop();  // once what was posted has run
  EXPECT_TRUE(token.stop_requested());
  EXPECT_TRUE(kept.expired());
}

TEST(LossSignal, GivesStoppedTokensOfWhatIsLost) {
  LossSignal signal(nullptr);
  EXPECT_TRUE(signal.token(true).stop_requested());
}

}  // namespace
}  // namespace holdfast::engine::loss_signal_test
