// SPDX-License-Identifier: Apache-2.0
// Reading what MONITOR prints.
#pragma once

#include <string>
#include <string_view>

#include "support/listen.hpp"

namespace holdfast::test {

/// From `1700000000.123456 [0 127.0.0.1:50412] "hset" "k\x00" "f"`.
MonitorLine parse_monitor_line(std::string text);

std::string lower_case(std::string_view text);

}  // namespace holdfast::test
