#include "cli/hints.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace holdfast::cli {

std::vector<std::string> hints_about_units(const std::vector<std::string>& before,
                                           const std::vector<std::string>& names) {
  static constexpr std::array kUnits{"ms",     "s",       "sec", "secs", "second", "seconds", "m",   "min", "mins",
                                     "minute", "minutes", "h",   "hour", "hours",  "d",       "day", "days"};
  if (names.empty() || std::ranges::find(kUnits, names.front()) == kUnits.end()) return {};
  const auto unit = std::ranges::find(before, names.front());
  if (unit == before.begin() || unit == before.end()) return {};
  const std::string& number = *(unit - 1);
  const std::string value = number.starts_with("--") ? number.substr(number.find('=') + 1) : number;
  if (value.empty() || value.find_first_not_of("0123456789.") != value.npos) return {};
  return {fmt::format("{} is taken for the name of a lock; a duration has its unit right behind it, such as {}{}",
                      *unit, value, unit->starts_with("ms") ? "ms" : unit->substr(0, 1))};
}

}  // namespace holdfast::cli
