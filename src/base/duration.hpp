// SPDX-License-Identifier: Apache-2.0
// Durations as people write them: on the command line and in a URL.
#pragma once

#include <chrono>
#include <string_view>
#include <variant>

namespace holdfast::base {

/// Longer is refused everywhere, so that sums of times cannot overflow.
constexpr std::chrono::milliseconds kLongestDuration = std::chrono::hours(24 * 365 * 10);

/// What a number without a unit means.
enum class BareNumber {
  seconds,
  refused,
};

/// What is wrong with a text that should be a duration.
enum class BadDuration {
  form,      ///< Not a number with a unit, or below zero.
  too_long,  ///< Above kLongestDuration.
};

/// The form in words, for messages: "must be ...".
constexpr std::string_view kDurationForm = "a number with its unit such as 500ms, 10s, 5m, 2h or 1d";

/// A number, which may have a fraction, and one of the units ms, s, m, h and d. Rounded up to milliseconds.
std::variant<std::chrono::milliseconds, BadDuration> parse_duration(std::string_view text, BareNumber bare);

/// For metrics, which are in seconds.
template <class Rep, class Period>
double in_seconds(std::chrono::duration<Rep, Period> duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace holdfast::base
