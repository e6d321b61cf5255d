#include "base/duration.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>

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

}  // namespace

std::variant<std::chrono::milliseconds, BadDuration> parse_duration(std::string_view text, BareNumber bare) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const double length = length_of(text.substr(static_cast<std::size_t>(end - text.data())), bare);
  if (error == std::errc::invalid_argument || length == 0 || text.front() == '-') return BadDuration::form;
  if (error == std::errc::result_out_of_range) return BadDuration::too_long;
  if (!std::isfinite(number)) return BadDuration::form;
  const double exact = number * length;
  if (exact > static_cast<double>(kLongestDuration.count())) return BadDuration::too_long;
  // 0.56 * 1000 is a little more than 560.
  const double nearest = std::round(exact);
  const double whole = std::abs(exact - nearest) < 1e-6 ? nearest : std::ceil(exact);
  return std::chrono::milliseconds(static_cast<std::int64_t>(whole));
}

}  // namespace holdfast::base
