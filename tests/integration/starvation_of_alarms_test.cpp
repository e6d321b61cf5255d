// SPDX-License-Identifier: Apache-2.0
// Alarms where there is no memory.
#include <chrono>
#include <memory>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "loop/alarm.hpp"
#include "starving.hpp"

namespace holdfast::test::starvation_of_alarms_test {
namespace {

using base::Clock;

/// Asio keeps the memory of a handler that runs for the next one of the same thread: a handler of the user's takes it.
void use_up_the_store(boost::asio::io_context& context) {
  const auto left = allocations::before_failure.exchange(-1);
  for (int i = 0; i < 2; ++i) boost::asio::post(context, [] {});
  allocations::before_failure = left;
}

/// From the start of their schedule on: those that are set first, anew, earlier, by each other, and of two schedules on
/// one context, by turns.
TEST(StarvationOfAlarms, RingWithoutAnyMemory) {
  boost::asio::io_context context;
  timing::Schedule one(context.get_executor()), another(context.get_executor());
  one.start({});
  another.start({});
  int rings = 0;
  std::vector<std::unique_ptr<timing::Alarm>> alarms;
  for (int i = 0; i < 100; ++i) {
    alarms.push_back(std::make_unique<timing::Alarm>(i % 2 == 0 ? one : another, [&, i] {
      ++rings;
      use_up_the_store(context);
      if (rings < 10'000) alarms[static_cast<std::size_t>(i)]->set_after(std::chrono::microseconds(i % 7 * 10));
    }));
  }
  // One failure after the other, so that nothing is there to fail with in between.
  const auto starve = [](auto&& what) {
    allocations::before_failure = 0;
    what();
    const bool asked = allocations::before_failure.exchange(-1) < 0;
    EXPECT_FALSE(asked) << "it asked for memory";
  };
  starve([&] {
    for (const auto& alarm : alarms) alarm->set_after(1h);
    for (const auto& alarm : alarms) alarm->set_after(1ms);
  });
  const auto end = Clock::now() + 30s;
  while (rings < 10'000 && Clock::now() < end) starve([&] { context.run_one(); });
  EXPECT_GE(rings, 10'000);
}

}  // namespace
}  // namespace holdfast::test::starvation_of_alarms_test
