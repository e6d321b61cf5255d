// SPDX-License-Identifier: Apache-2.0
// Random callers of every kind on a real server, of whose answers one in ten is lost, some are late, and some come
// after the next question. For as long as is wanted: the program `answers`.
#include <gtest/gtest.h>

#include "answers/real.hpp"
#include "support/server_program.hpp"

namespace holdfast::test::async_answers_test {
namespace {

using namespace std::chrono_literals;

TEST(Answers, OfARealServerMayBeLostAndComeLate) {
  if (!server_like_redis(6, 2)) {
    GTEST_SKIP() << server_version()
                 << " ends no earlier connection, so what comes late takes again (wire.md, section 3)";
  }
  const Proxy::Weather weather{.lost = 100, .late = 20, .late_by = 20ms, .delay = 3ms};
  answers::RealGround ground(8, weather);
  answers::Driver driver(ground, {.operations = 6'000});
  ground.run(driver, 60s);
  EXPECT_EQ(driver.disagreement(), std::nullopt);
  EXPECT_GT(ground.lost(), 100U);
  for (std::size_t kind = 0; kind < answers::kKinds; ++kind) {
    EXPECT_GT(driver.operations(static_cast<answers::Kind>(kind)), 50U) << to_string(static_cast<answers::Kind>(kind));
  }
}

}  // namespace
}  // namespace holdfast::test::async_answers_test
