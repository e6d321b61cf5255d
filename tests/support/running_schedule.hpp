// SPDX-License-Identifier: Apache-2.0
// The alarms of a context that a test runs.
#pragma once

#include <boost/asio/io_context.hpp>

#include "loop/alarm.hpp"

namespace holdfast::test {

struct RunningSchedule final : timing::Schedule {
  explicit RunningSchedule(boost::asio::io_context& context) : Schedule(context.get_executor()) { start({}); }
};

}  // namespace holdfast::test
