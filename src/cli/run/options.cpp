// SPDX-License-Identifier: Apache-2.0
#include "cli/run/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/console.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::sys_time;
using namespace std::chrono_literals;

/// The first program that a shell line runs, without its folder; empty if that is unclear. The line itself may be
/// confidential.
std::optional<std::string> program_of(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  while (words >> word && word.find('=') != word.npos) continue;  // a variable for it
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("/._+-", c); };
  if (word.empty() || word.find('=') != word.npos || !std::ranges::all_of(word, plain)) return std::nullopt;
  return std::filesystem::path(word).filename();
}

LockKind kind_of(const RunOptions& options, const KindWords& words) {
  if (words.has_kind && options.kind == LockKind::permit) {
    throw UsageError("run: say how many may run at the same time: --max N, in place of --kind permit");
  }
  if (options.max) {
    if (words.has_kind || words.fair || words.shared || options.any) {
      throw UsageError("run: --max excludes --kind, --fair, --shared and --any");
    }
    return LockKind::permit;
  }
  if (words.shared) {
    if (words.has_kind && options.kind != LockKind::write) {
      throw UsageError("run: --shared is for read-write locks: it goes with --kind read-write, or without --kind");
    }
    if (words.fair) throw UsageError("run: --fair is short for --kind fair, and excludes other kinds");
    return LockKind::read;
  }
  if (words.fair) {
    if (options.kind != LockKind::fair && options.kind != LockKind::lock) {
      throw UsageError("run: --fair is short for --kind fair, and excludes other kinds");
    }
    return LockKind::fair;
  }
  return options.kind;
}

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

constexpr std::size_t kMostNames = 10'000;

[[noreturn]] void refuse_range(const std::string& name) {
  throw UsageError(fmt::format(
      "run: {} is no range of names: two numbers with .. between them, from the lower one to the higher, {} "
      "names at most",
      shown(name), kMostNames));
}

/// `{0..7}` somewhere in a name.
struct Range {
  std::string before, after;
  int first = 0;
  int last = 0;
};

/// The first range in the text, which is the name, or what is left of it. Two dots in braces that are no range are a
/// mistake: nobody means such a name.
std::optional<Range> range_in(const std::string& text, const std::string& name) {
  const auto number = [&](std::size_t from, std::size_t to) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data() + from, text.data() + to, value);
    if (error != std::errc() || end != text.data() + to || value < 0) refuse_range(name);
    return value;
  };
  for (std::size_t dots = text.find(".."); dots != text.npos; dots = text.find("..", dots + 1)) {
    const std::size_t open = text.find_last_of("{}", dots);
    const std::size_t close = text.find_first_of("{}", dots);
    if (open == text.npos || text[open] == '}' || close == text.npos || text[close] == '{') continue;
    Range range{text.substr(0, open), text.substr(close + 1), number(open + 1, dots), number(dots + 2, close)};
    if (range.first > range.last) refuse_range(name);
    return range;
  }
  return std::nullopt;
}

/// Adds the names that this one stands for.
void expand(const std::string& whole, const std::string& before, const std::string& rest,
            std::vector<std::string>& all) {
  const std::optional<Range> range = range_in(rest, whole);
  if (!range) {
    all.push_back(before + rest);
    return;
  }
  if (static_cast<std::size_t>(range->last - range->first) >= kMostNames) refuse_range(whole);
  for (int i = range->first; i <= range->last; ++i) {
    expand(whole, before + range->before + std::to_string(i), range->after, all);
    if (all.size() > kMostNames) refuse_range(whole);
  }
}

}  // namespace

RunTimes run_times(const RunOptions& options, const Config& config) {
  RunTimes times;
  // So --at-least holds even if the tool is killed at once.
  times.lease = std::max(options.lease.value_or(config.lease), options.at_least.value_or(milliseconds()));
  // The hold ends with the shorter of the two, and renewals come every third of the lease: a healthy one always has
  // more than half of it left.
  times.shortest = std::min(times.lease, options.max_hold.value_or(times.lease));
  times.kill_after = options.kill_after.value_or(std::min<milliseconds>(5s, times.shortest / 4));
  times.margin = std::min<milliseconds>(100ms, times.shortest / 20);
  if (times.kill_after > times.shortest / 2) {
    throw UsageError(fmt::format("--kill-after {} is taken out of the end of the {}, so it can be at most {}",
                                 in_words(times.kill_after), options.max_hold ? "lease or --max-hold" : "lease",
                                 in_words(times.shortest / 2)));
  }
  return times;
}

std::string run_label(const RunOptions& options, const Config& config) {
  if (options.label) return *options.label;
  if (!config.label.empty()) return config.label;
  const std::string name = std::filesystem::path(options.command.front()).filename();
  return options.is_shell_line ? program_of(options.command.back()).value_or(name) : name;
}

void settle_kind(RunOptions& options, const KindWords& words) {
  if (options.max && *options.max == 0) throw UsageError("run: --max 0 would let none run");
  options.kind = kind_of(options, words);
  if (!options.fresh && !options.at) return;
  // Concurrent holders would all find that it has not been done.
  if (options.kind == LockKind::permit || options.kind == LockKind::read) {
    throw UsageError("run: --fresh and --at are for a lock that one has at a time: not with --max or --shared");
  }
  if (options.any || options.names.size() > 1) throw UsageError("run: --fresh and --at are for one name");
}

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

std::vector<std::string> with_ranges(const std::vector<std::string>& names) {
  std::vector<std::string> all;
  for (const std::string& name : names) expand(name, "", name, all);
  return all;
}

void take_shell_line(const char* verb, RunOptions& options, const std::optional<std::string>& shell_line) {
  if (shell_line && !options.command.empty()) {
    throw UsageError(fmt::format("{}: give either --command or a command after --", verb));
  }
  options.is_shell_line = shell_line.has_value();
  if (shell_line) options.command = {"/bin/sh", "-c", *shell_line};
  if (options.command.empty()) {
    throw UsageError(fmt::format("{}: the command is missing: holdfast {} NAME -- COMMAND...", verb, verb));
  }
}

OnLost on_lost(const std::string& option, const std::string& text) {
  if (text == "term") return OnLost::term;
  if (text == "kill") return OnLost::kill;
  if (text == "warn") return OnLost::warn;
  throw UsageError(fmt::format("{}: {} is not one of term, kill, warn", option, shown(text)));
}

int on_asked(const std::string& option, const std::string& text) {
  constexpr std::array<std::pair<std::string_view, int>, 6> kSignals{
      {{"term", SIGTERM}, {"int", SIGINT}, {"hup", SIGHUP}, {"quit", SIGQUIT}, {"usr1", SIGUSR1}, {"usr2", SIGUSR2}}};
  std::string name = text;
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("sig")) name.erase(0, 3);
  const auto found = std::ranges::find(kSignals, name, &std::pair<std::string_view, int>::first);
  if (found == kSignals.end()) {
    throw UsageError(fmt::format("{}: {} is not one of term, int, hup, quit, usr1, usr2", option, shown(text)));
  }
  return found->second;
}

}  // namespace holdfast::cli
