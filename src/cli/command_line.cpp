// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/duration.hpp"
#include "base/text.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// Where the texts of the help begin.
constexpr std::size_t kHelpColumn = 29;

void refuse_empty(const std::string& option, std::string_view value) {
  if (value.empty()) throw UsageError(option + ": the value is empty");
}

/// `-w,--wait` of `-w, --wait TIME`.
std::string names_in(std::string_view form) {
  std::string names;
  while (form.starts_with('-')) {
    const std::string_view word = form.substr(0, form.find(' '));
    names += word;
    form.remove_prefix(std::min(word.size() + 1, form.size()));
  }
  return names;
}

std::string long_name(const std::string& names) { return names.substr(names.find("--")); }

std::string help_line(std::string_view form, std::string_view help) {
  if (help.empty()) return std::string(form) + "\n";
  std::string out = fmt::format("{:<{}}", (form.starts_with("--") ? "      " : "  ") + std::string(form), kHelpColumn);
  for (const char c : help) {
    out += c;
    if (c == '\n') out += std::string(kHelpColumn, ' ');
  }
  return out + "\n";
}

/// A URL meant for --url would be sent to another server as a name, and shown there to everybody.
void refuse_login(const std::string& name) {
  if (!has_login(name)) return;
  throw UsageError(
      "the argument given as a name looks like the URL of a server with a login in it; it belongs after --url, or "
      "better in HOLDFAST_URL");
}

/// Nobody mistypes more than that; this bounds the work.
constexpr std::size_t kLongest = 40;

/// How many slips lie between two words.
std::size_t slips(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> counts(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) {
    for (std::size_t j = 0; j <= to.size(); ++j) {
      if (i == 0 || j == 0) {
        counts[i][j] = i + j;
        continue;
      }
      const std::size_t wrong = from[i - 1] == to[j - 1] ? 0 : 1;
      counts[i][j] = std::min({counts[i - 1][j] + 1, counts[i][j - 1] + 1, counts[i - 1][j - 1] + wrong});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) counts[i][j] = std::min(counts[i][j], counts[i - 2][j - 2] + 1);
    }
  }
  return counts[from.size()][to.size()];
}

}  // namespace

Halves divide(const Args& args) {
  const auto mark = std::find(args.begin(), args.end(), "--");
  if (mark == args.end()) return {args, {}, false};
  return {Args(args.begin(), mark), Args(mark + 1, args.end()), true};
}

CommandLine::CommandLine(std::string_view verb, CommonOptions& common)
    : verb_(verb), common_(common), app_(std::make_unique<CLI::App>()) {
  app_->set_help_flag();
  app_->allow_extras();
  app_->add_option("--url", common.urls)->allow_extra_args(false);
  remark("--url URL", R"(the server; else HOLDFAST_URL, else /etc/holdfast/url, else redis://127.0.0.1:6379
redis://host:port/db  rediss://host (TLS)  unix:///path/to/socket  local:
redis+sentinel://s1,s2,s3/mymaster  redis+cluster://n1,n2,n3)");
  text("--url-file FILE", common.url_file,
       R"(read the URL, or several, from a file (or name it in HOLDFAST_URL_FILE))");
  text("--password-file FILE", common.password_file,
       R"(read the password from a file (or HOLDFAST_PASSWORD_FILE, or set HOLDFAST_PASSWORD))");
  text("--password-command CMD", common.password_command,
       R"(run a shell command that prints the password, at each login)");
  flag("--json", common.json, R"(print the result, or the failure, as one JSON value)");
  flag("-q, --quiet", common.quiet, R"(print nothing but failures)");
  flag("-v, --verbose", common.verbose, R"(print more: how long it waited, and for whom)");
  flag("--timestamps", common.timestamps, R"(begin each message with the time (UTC))");
  flag("--syslog", common.syslog, R"(send messages to the system's log instead of standard error)");
  flag("-h, --help", wants_help_, R"(this text)");
  common_lines_ = std::exchange(lines_, {});
}

CommandLine::~CommandLine() = default;

void CommandLine::flag(std::string_view form, bool& target, std::string_view help) {
  app_->add_flag(names_in(form), target);
  flags_.push_back(long_name(names_in(form)));
  remark(form, help);
}

void CommandLine::text(std::string_view form, std::optional<std::string>& target, std::string_view help) {
  value(form, help, [&target](const std::string&, const std::string& text) { target = text; });
}

void CommandLine::kind(LockKind& target, std::string_view help, KindsFor use) {
  value("--kind KIND", help, [&target, use](const std::string& option, const std::string& text) {
    const std::optional<LockKind> kind = kind_named(text, use);
    if (!kind) {
      throw UsageError(fmt::format("{}: {} is not one of {}", option, shown(text), names_of_kinds(use)));
    }
    target = *kind;
  });
}

void CommandLine::kinds(std::vector<LockKind>& target, std::string_view help) {
  value("--kind KINDS", help, [&target](const std::string& option, const std::string& text) {
    const std::optional<std::vector<LockKind>> kinds = kinds_named(text);
    if (!kinds) {
      throw UsageError(fmt::format("{}: {} is not one of {}, all, or several with commas between", option, shown(text),
                                   names_of_kinds(KindsFor::looking)));
    }
    target = *kinds;
  });
}

void CommandLine::value(std::string_view form, std::string_view help, Set set) {
  const std::string names = names_in(form);
  const auto check = [option = long_name(names), set = std::move(set)](const std::string& text) {
    refuse_empty(option, text);
    set(option, text);
  };
  app_->add_option_function<std::string>(names, check)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  remark(form, help);
}

void CommandLine::title(std::string_view text) { lines_.emplace_back(text, std::string_view()); }

void CommandLine::remark(std::string_view form, std::string_view help) { lines_.emplace_back(form, help); }

std::string CommandLine::help() const {
  std::string out;
  for (const auto& [form, help] : lines_) out += help_line(form, help);
  out += "Common\n";
  for (const auto& [form, help] : common_lines_) out += help_line(form, help);
  return out;
}

void CommandLine::read(const Args& args) {
  read_ = divide(args);
  for (const std::string& arg : read_.before) {
    const std::size_t equals = arg.find('=');
    if (!arg.starts_with("--") || equals == arg.npos) continue;
    const std::string name = option_name(arg);
    if (std::ranges::find(flags_, name) != flags_.end()) throw UsageError(name + " takes no value");
    // The library would take the next argument for the value.
    if (app_->get_option_no_throw(name) != nullptr) refuse_empty(name, std::string_view(arg).substr(equals + 1));
  }
  // The library expects them in reverse order.
  Args reversed(read_.before.rbegin(), read_.before.rend());
  try {
    app_->parse(reversed);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string_view what = error.what();
    throw UsageError(fmt::format("{}: the value is missing", what.substr(0, what.find(':'))));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  for (const std::string& url : common_.urls) refuse_empty("--url", url);
  before_ = app_->remaining();
  Args long_ones = options();
  std::erase_if(long_ones, [](const std::string& name) { return !name.starts_with("--"); });
  for (const std::string& arg : before_) {
    if (arg.size() > 1 && arg.front() == '-') {
      throw UsageError("unknown option " + option_name(arg) + did_you_mean(option_name(arg), long_ones));
    }
  }
}

bool CommandLine::takes_value(const std::string& option) const {
  const CLI::Option* const found = app_->get_option_no_throw(option);
  return found != nullptr && found->get_items_expected_max() > 0;
}

Args CommandLine::options() const {
  Args names;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool CommandLine::has(const std::string& name) const { return app_->count(name) > 0; }

milliseconds CommandLine::read_duration(const std::string& option, const std::string& text, milliseconds shortest) {
  const auto parsed = base::parse_duration(text, base::BareNumber::seconds);
  const auto* value = std::get_if<milliseconds>(&parsed);
  if (value && *value >= shortest) return *value;
  if (!value && std::get<base::BadDuration>(parsed) == base::BadDuration::form) {
    throw UsageError(
        fmt::format("{}: {} is neither a number of seconds nor {}", option, shown(text), base::kDurationForm));
  }
  throw UsageError(
      fmt::format("{}: {} is out of range: from {} to 10 years (3650d)", option, shown(text), in_words(shortest)));
}

int CommandLine::read_number(const std::string& option, const std::string& text, int largest) {
  const auto value = base::to_number<int>(text);
  if (value.value_or(-1) < 0 || *value > largest) {
    throw UsageError(fmt::format("{}: {} is not a number from 0 to {}", option, shown(text), largest));
  }
  return *value;
}

Args CommandLine::all() const {
  Args all = before_;
  all.insert(all.end(), read_.after.begin(), read_.after.end());
  return all;
}

void CommandLine::none() const {
  const Args all = this->all();
  if (!all.empty()) throw UsageError(fmt::format("{}: one argument too many: {}", verb_, shown(all.front())));
}

std::optional<std::string> CommandLine::at_most_one(const char* what) const {
  return all().empty() ? std::nullopt : std::optional(only(what));
}

std::string CommandLine::only(const char* what) const {
  const Args all = this->all();
  if (all.empty()) throw UsageError(fmt::format("{}: {} is missing", verb_, what));
  if (all.size() > 1) throw UsageError(fmt::format("{}: one argument too many: {}", verb_, shown(all[1])));
  refuse_login(all.front());
  return all.front();
}

void CommandLine::names_and_command(Args& names, Args& command, bool has_shell_line) const {
  Args before = before_;
  Args after = read_.after;
  if (before.empty() && !after.empty()) {
    const auto second = std::find(after.begin() + 1, after.end(), "--");
    const bool has_second = second != after.end();
    const auto end = has_second || has_shell_line ? second : after.begin() + 1;
    before.assign(after.begin(), end);
    after.erase(after.begin(), has_second ? end + 1 : end);
  }
  if (before.empty()) throw UsageError(fmt::format("{}: {} is missing", verb_, "the name of the lock"));
  for (const std::string& name : before) refuse_login(name);
  if (before.size() > 1 && !read_.divided && !has_shell_line) {
    throw UsageError(fmt::format("{}: put -- between the name and the command: holdfast {} {} -- {}", verb_, verb_,
                                 shown(before[0]), shown(before[1])));
  }
  names = std::move(before);
  command = std::move(after);
}

void CommandLine::hint_at_units(const std::string& name) const {
  static constexpr std::array kUnits{"ms",     "s",       "sec", "secs", "second", "seconds", "m",   "min", "mins",
                                     "minute", "minutes", "h",   "hour", "hours",  "d",       "day", "days"};
  if (std::ranges::find(kUnits, name) == kUnits.end()) return;
  const auto unit = std::ranges::find(read_.before, name);
  if (unit == read_.before.begin() || unit == read_.before.end()) return;
  const std::string& number = *(unit - 1);
  const std::string value = number.starts_with("--") ? number.substr(number.find('=') + 1) : number;
  if (value.empty() || value.find_first_not_of("0123456789.") != value.npos) return;
  common_.hints.push_back(
      fmt::format("{} is taken for the name of a lock; a duration has its unit right behind it, such as {}{}", *unit,
                  value, unit->starts_with("ms") ? "ms" : unit->substr(0, 1)));
}

void WaitLimit::declare(CommandLine& line, std::string_view nonblock_help, std::string_view wait_help) {
  line.flag("-n, --nonblock", nonblock, nonblock_help);
  line.duration("-w, --wait TIME", wait, wait_help);
  line.number("-E, --conflict-exit-code N", 255, conflict_exit_code, R"(the exit code for giving up; default 1)");
}

void WaitLimit::settle() {
  if (nonblock && wait) throw UsageError("--nonblock and --wait exclude each other");
  if (nonblock) wait = milliseconds::zero();
}

std::string option_name(const std::string& arg) {
  if (!arg.starts_with("--")) return shown(arg.substr(0, 2));
  return shown(arg.substr(0, arg.find('=')));
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  if (word.size() < 3 || word.size() > kLongest) return {};
  std::size_t fewest = word.size() > 4 ? 2 : 1;
  std::string nearest;
  for (const std::string& each : known) {
    const std::size_t count = slips(word, each);
    if (count > fewest) continue;
    nearest = count == fewest && !nearest.empty() ? "" : each;
    fewest = count;
  }
  return nearest.empty() ? "" : " (did you mean " + nearest + "?)";
}

}  // namespace holdfast::cli
