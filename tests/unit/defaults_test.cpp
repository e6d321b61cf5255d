// SPDX-License-Identifier: Apache-2.0
// The options of a call over the defaults of a lock, one by one.
#include <chrono>
#include <stop_token>

#include <gtest/gtest.h>

#include "face/parts.hpp"

namespace holdfast::face::defaults_test {
namespace {

using namespace std::chrono_literals;

struct Given {
  explicit Given(std::chrono::milliseconds time)
      : options{.wait = time,
                .lease = fixed(time),
                .max_hold = time,
                .acks = Acks::replicas(static_cast<std::uint8_t>(time.count())),
                .stop = source.get_token(),
                .on_lost = [this](const LostEvent&) { ++calls; },
                .max_waiters = static_cast<std::size_t>(time.count()),
                .end_waits = time.count() % 20 == 0} {}
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;

  std::stop_source source;
  int calls = 0;
  /// The same, as the defaults of a handle.
  LockOptions defaults() const {
    return {.wait = options.wait,
            .lease = options.lease,
            .max_hold = options.max_hold,
            .acks = options.acks,
            .stop = options.stop,
            .on_lost = options.on_lost,
            .max_waiters = options.max_waiters,
            .end_waits = options.end_waits};
  }

  AcquireOptions options;
};

void expect_all_of(Given& given, const AcquireOptions& result) {
  EXPECT_EQ(result.wait, given.options.wait);
  EXPECT_EQ(result.lease, given.options.lease);
  EXPECT_EQ(result.max_hold, given.options.max_hold);
  EXPECT_EQ(result.acks, given.options.acks);
  EXPECT_EQ(result.stop, given.options.stop);
  EXPECT_EQ(result.max_waiters, given.options.max_waiters);
  EXPECT_EQ(result.end_waits, given.options.end_waits);
  ASSERT_TRUE(result.on_lost);
  result.on_lost({});
  EXPECT_EQ(given.calls, 1);
}

TEST(Defaults, AreWhatTheCallLeavesOut) {
  Given defaults(20ms);
  expect_all_of(defaults, with_defaults({}, defaults.defaults()));
}

TEST(Defaults, GiveWayToWhatTheCallSays) {
  const Given defaults(20ms);
  Given call(30ms);
  expect_all_of(call, with_defaults(call.options, defaults.defaults()));
}

TEST(Defaults, AreTakenOneByOne) {
  const Given defaults(20ms);
  const AcquireOptions result = with_defaults({.max_hold = 30ms}, defaults.defaults());
  EXPECT_EQ(result.max_hold, 30ms);
  EXPECT_EQ(result.lease, fixed(20ms));
  EXPECT_EQ(result.wait, 20ms);
}

TEST(Defaults, ARenewedLeaseOfTheClientsLengthIsSaidAndSoWins) {
  const AcquireOptions result = with_defaults({.lease = renewed()}, {.lease = fixed(20ms)});
  EXPECT_EQ(result.lease, renewed());
}

}  // namespace
}  // namespace holdfast::face::defaults_test
