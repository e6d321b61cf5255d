// SPDX-License-Identifier: Apache-2.0
#include "base/duration.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <system_error>

namespace holdfast::base {
namespace {

/// In milliseconds; 0 if there is no such unit.
double length_of(std::string_view unit, BareNumber bare) {
  if (unit == "ms") return 1;
  if (unit == "s" || (unit.empty() && bare == BareNumber::seconds)) return 1000;
  if (unit == "m") return 60e3;
  if (unit == "h") return 3600e3;
  if (unit == "d") return 24 * 3600e3;
  return 0;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes `e3` or `E-3` from the front, if it is there.
int take_exponent(std::string_view& text) {
  if (!text.starts_with('e') && !text.starts_with('E')) return 0;
  std::string_view number = text.substr(1);
  const bool plus = number.starts_with('+');
  if (plus) number.remove_prefix(1);
  const bool minus = number.starts_with('-');
  int exponent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), exponent);
  if (error == std::errc::invalid_argument || (plus && minus)) return 0;
  if (error == std::errc::result_out_of_range) exponent = minus ? -10'000 : 10'000;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return exponent;
}

/// Takes a decimal number from the front. Empty: there is none. LLVM's library has std::from_chars for these only since
/// its version 20.
std::optional<double> take_number(std::string_view& text) {
  double digits = 0;
  int exponent = 0;
  bool any = false, fraction = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (!is_digit(c) && (c != '.' || fraction)) break;
    fraction = fraction || c == '.';
    if (c == '.') continue;
    any = true;
    digits = 10 * digits + (c - '0');
    if (fraction) --exponent;
  }
  if (!any) return {};
  exponent += take_exponent(text);
  return exponent < 0 ? digits / std::pow(10, -exponent) : digits * std::pow(10, exponent);
}

}  // namespace

std::variant<std::chrono::milliseconds, BadDuration> parse_duration(std::string_view text, BareNumber bare) {
  const std::optional<double> number = take_number(text);
  const double length = length_of(text, bare);
  if (!number || std::isnan(*number) || length == 0) return BadDuration::form;
  const double exact = *number * length;
  if (exact > static_cast<double>(kLongestDuration.count())) return BadDuration::too_long;
  // 0.56 * 1000 is a little more than 560.
  const double nearest = std::round(exact);
  const double whole = std::abs(exact - nearest) < 1e-6 ? nearest : std::ceil(exact);
  return std::chrono::milliseconds(static_cast<std::int64_t>(whole));
}

}  // namespace holdfast::base
