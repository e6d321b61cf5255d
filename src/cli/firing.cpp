#include "cli/firing.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>

#include <fmt/format.h>

#include "cli/output.hpp"
#include "cli/secrets.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::minutes;
using std::chrono::sys_time;

std::string in_form(sys_time<minutes> minute) {
  const auto day = std::chrono::floor<std::chrono::days>(minute);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(minute - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                     time.minutes().count());
}

/// For digits; other characters give a number whose text differs.
int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) value = 10 * value + (c - '0');
  return value;
}

/// Clocks differ, and some name their minutes in local time.
bool is_still_to_come(sys_time<minutes> minute) {
  constexpr std::chrono::hours kApart{1};
  const auto now = std::chrono::floor<minutes>(std::chrono::system_clock::now());
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm here{};
  localtime_r(&seconds, &here);
  return minute > now + minutes(std::max(here.tm_gmtoff, 0L) / 60) + kApart;
}

}  // namespace

std::string firing(const std::string& option, const std::string& text) {
  if (text == "now") return in_form(std::chrono::floor<minutes>(std::chrono::system_clock::now()));
  const std::string_view all = text;
  if (all.size() == std::string_view("2026-11-23T02:00").size()) {
    const std::chrono::year_month_day date{std::chrono::year(number(all.substr(0, 4))),
                                           std::chrono::month(static_cast<unsigned>(number(all.substr(5, 2)))),
                                           std::chrono::day(static_cast<unsigned>(number(all.substr(8, 2))))};
    const std::chrono::hours hour(number(all.substr(11, 2)));
    const minutes minute(number(all.substr(14, 2)));
    // Each minute has only one text, otherwise it would have two keys.
    if (date.ok() && in_form(std::chrono::sys_days(date) + hour + minute) == text) {
      if (!is_still_to_come(std::chrono::sys_days(date) + hour + minute)) return text;
      throw UsageError(
          fmt::format("{}: {} is still to come, and the command would run now: this says for which minute, "
                      "and does not wait for it",
                      option, text));
    }
  }
  throw UsageError(fmt::format("{}: {} is neither a minute such as 2026-11-23T02:00 nor now", option, shown(text)));
}

}  // namespace holdfast::cli
