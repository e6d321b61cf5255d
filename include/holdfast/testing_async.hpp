// SPDX-License-Identifier: Apache-2.0
// The test kit for clients on an io_context: time passes when the test says so, and a minute takes milliseconds. Needs
// Boost.Asio and holdfast::async beside holdfast::testing: see docs/testing.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <holdfast/testing.hpp>

namespace holdfast {

namespace detail {

/// Asio checks its timers when the first of them is due by the system's clock. Here one always is, so that Asio checks
/// the library's timers too, which follow the kit's time.
inline std::size_t take_turn(boost::asio::io_context& context) {
  using Timer = boost::asio::steady_timer;
  bool rang = false;
  Timer timer(context, Timer::time_point::min());
  timer.async_wait([&rang](const auto&) { rang = true; });
  context.restart();
  const std::size_t ran = context.poll();
  if (rang) return ran - 1;
  timer.cancel();  // its handler must not outlive `rang`
  return ran + context.poll();
}

}  // namespace detail

/// Lets that much time pass for the kit and for what runs on the io_context, in the calling thread; no other thread may
/// run it. Timers of other clocks, such as steady_timer, follow real time, and fire here if they are due. `kit` is one
/// of `Time::still`, otherwise Error(invalid_argument).
inline void pass(TestKit& kit, boost::asio::io_context& context, std::chrono::milliseconds time) {
  kit.pass(time, [&context] { return detail::take_turn(context); });
}

/// The same until `over` returns true, `limit` at most. False: it did not.
inline bool pass_until(TestKit& kit, boost::asio::io_context& context, std::chrono::milliseconds limit,
                       const std::function<bool()>& over) {
  return kit.pass(limit, [&context] { return detail::take_turn(context); }, over);
}

}  // namespace holdfast
