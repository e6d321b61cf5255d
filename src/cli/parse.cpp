#include "cli/parse.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/help.hpp"
#include "cli/output.hpp"

#ifndef HOLDFAST_VERSION
#define HOLDFAST_VERSION "unknown"
#endif

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;
using Args = std::vector<std::string>;

constexpr double kLongestSeconds = 10.0 * 366 * 24 * 3600;

milliseconds seconds(const std::string& option, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value) || value < 0 || value > kLongestSeconds) {
    throw UsageError(fmt::format("{}: {} is not a number of seconds", option, printable(text)));
  }
  return milliseconds(static_cast<std::int64_t>(std::ceil(value * 1000)));
}

int number(const std::string& option, const std::string& text, int largest) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0 || value > largest) {
    throw UsageError(fmt::format("{}: {} is not a number from 0 to {}", option, printable(text), largest));
  }
  return value;
}

LockKind lock_kind(const std::string& text) {
  if (text == "lock") return LockKind::lock;
  if (text == "simple") return LockKind::simple;
  throw UsageError(fmt::format("--kind: {} is none of lock, simple", printable(text)));
}

/// The parser of one verb. Positional arguments are left to the caller: the library would read meaning into names
/// like `++` or `[a]`.
class VerbParser {
 public:
  explicit VerbParser(CommonOptions& common) {
    app_.set_help_flag();
    app_.add_flag("-h,--help", help_);
    app_.add_option("--url", common.urls)->allow_extra_args(false);
    app_.add_option("--url-file", common.url_file);
    app_.add_option("--password-file", common.password_file);
    app_.add_flag("--json", common.json);
    app_.add_flag("-q,--quiet", common.quiet);
    app_.add_flag("-v,--verbose", common.verbose);
    app_.allow_extras();
  }

  void flag(const std::string& names, bool& target) { app_.add_flag(names, target); }
  void text(const std::string& names, std::optional<std::string>& target) { app_.add_option(names, target); }
  void kind(LockKind& target) {
    value("--kind", [&target](const std::string&, const std::string& text) { target = lock_kind(text); });
  }
  void seconds(const std::string& names, std::optional<milliseconds>& target) {
    value(names,
          [&target](const std::string& option, const std::string& text) { target = cli::seconds(option, text); });
  }
  void number(const std::string& names, int largest, std::optional<int>& target) {
    value(names, [&target, largest](const std::string& option, const std::string& text) {
      target = cli::number(option, text, largest);
    });
  }
  template <class Set>
  void value(const std::string& names, Set set) {
    const std::string option = names.substr(names.find("--"));
    app_.add_option_function<std::string>(names, [option, set](const std::string& text) { set(option, text); });
  }

  /// Returns what is no option. Throws UsageError.
  Args parse(Args args) {
    // The library takes them last first.
    std::reverse(args.begin(), args.end());
    try {
      app_.parse(args);
    } catch (const CLI::ParseError& error) {
      throw UsageError(error.what());
    }
    Args rest = app_.remaining();
    for (const std::string& arg : rest) {
      if (arg.size() > 1 && arg.front() == '-') throw UsageError("unknown option " + printable(arg));
    }
    return rest;
  }

  bool help() const { return help_; }

 private:
  CLI::App app_;
  bool help_ = false;
};

/// What stands before and after the first `--`.
struct Halves {
  Args before;
  Args after;
  bool divided = false;
};

Halves divide(const Args& args) {
  const auto mark = std::find(args.begin(), args.end(), "--");
  if (mark == args.end()) return {args, {}, false};
  return {Args(args.begin(), mark), Args(mark + 1, args.end()), true};
}

/// The one positional argument of a verb; it may follow `--` if it looks like an option.
std::string only(const Args& before, const Args& after, const char* verb, const char* what) {
  Args all = before;
  all.insert(all.end(), after.begin(), after.end());
  if (all.empty()) throw UsageError(fmt::format("{}: {} is missing", verb, what));
  if (all.size() > 1) throw UsageError(fmt::format("{}: one argument too many: {}", verb, printable(all[1])));
  return all.front();
}

std::optional<milliseconds> wait_limit(bool nonblock, std::optional<milliseconds> wait) {
  if (nonblock && wait) throw UsageError("--nonblock and --wait exclude each other");
  return nonblock ? milliseconds::zero() : wait;
}

OnLost on_lost(const std::string& text) {
  if (text == "term") return OnLost::term;
  if (text == "kill") return OnLost::kill;
  if (text == "warn") return OnLost::warn;
  throw UsageError(fmt::format("--on-lost: {} is none of term, kill, warn", printable(text)));
}

/// NAME... -- COMMAND...; for names that look like options, -- NAME... -- COMMAND... or -- NAME COMMAND...
void take_names_and_command(RunOptions& options, Args before, Args after, bool divided, bool has_shell_line) {
  if (before.empty() && !after.empty()) {
    const auto second = std::find(after.begin() + 1, after.end(), "--");
    const bool has_second = second != after.end();
    const auto end = has_second || has_shell_line ? second : after.begin() + 1;
    before.assign(after.begin(), end);
    after.erase(after.begin(), has_second ? end + 1 : end);
  }
  if (before.empty()) throw UsageError("run: the name of the lock is missing");
  if (before.size() > 1 && !divided && !has_shell_line) {
    throw UsageError(fmt::format("run: put -- between the name and the command: holdfast run {} -- {}",
                                 printable(before[0]), printable(before[1])));
  }
  options.names = std::move(before);
  options.command = std::move(after);
}

RunOptions parse_run(VerbParser& parser, const Halves& args) {
  RunOptions options;
  bool nonblock = false;
  std::optional<milliseconds> wait;
  std::optional<int> conflict_exit_code;
  std::optional<std::string> shell_line;
  parser.kind(options.kind);
  parser.flag("-n,--nonblock", nonblock);
  parser.seconds("-w,--wait", wait);
  parser.number("-E,--conflict-exit-code", 255, conflict_exit_code);
  parser.text("-c,--command", shell_line);
  parser.seconds("--lease", options.lease);
  parser.seconds("--max-hold", options.max_hold);
  parser.seconds("--kill-after", options.kill_after);
  parser.value("--on-lost", [&](const std::string&, const std::string& text) { options.on_lost = on_lost(text); });
  parser.number("--status-fd", 1 << 20, options.status_fd);

  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  take_names_and_command(options, before, args.after, args.divided, shell_line.has_value());
  options.wait = wait_limit(nonblock, wait);
  options.conflict_exit_code = conflict_exit_code.value_or(options.conflict_exit_code);
  if (shell_line && !options.command.empty()) throw UsageError("run: give either --command or a command after --");
  if (shell_line) options.command = {"/bin/sh", "-c", *shell_line};
  if (options.command.empty()) throw UsageError("run: the command is missing: holdfast run NAME -- COMMAND...");
  if (options.max_hold == milliseconds::zero()) throw UsageError("--max-hold: 0 leaves no time for the command");
  return options;
}

LsOptions parse_ls(VerbParser& parser, const Halves& args) {
  LsOptions options;
  const Args before = parser.parse(args.before);
  if (!before.empty() || !args.after.empty()) options.pattern = only(before, args.after, "ls", "the pattern");
  return options;
}

InspectOptions parse_inspect(VerbParser& parser, const Halves& args) {
  InspectOptions options;
  parser.kind(options.kind);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  options.name = only(before, args.after, "inspect", "the name of the lock");
  return options;
}

WaitOptions parse_wait(VerbParser& parser, const Halves& args) {
  WaitOptions options;
  bool nonblock = false;
  std::optional<milliseconds> wait;
  std::optional<int> conflict_exit_code;
  parser.kind(options.kind);
  parser.flag("-n,--nonblock", nonblock);
  parser.seconds("-w,--wait", wait);
  parser.number("-E,--conflict-exit-code", 255, conflict_exit_code);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  options.name = only(before, args.after, "wait", "the name of the lock");
  options.wait = wait_limit(nonblock, wait);
  options.conflict_exit_code = conflict_exit_code.value_or(options.conflict_exit_code);
  return options;
}

BreakOptions parse_break(VerbParser& parser, const Halves& args) {
  BreakOptions options;
  parser.kind(options.kind);
  parser.flag("-y,--yes", options.yes);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  options.name = only(before, args.after, "break", "the name of the lock");
  return options;
}

/// Where the verb stands: the first argument that is neither an option nor an option's value.
std::size_t verb_position(const Args& args) {
  std::size_t i = 0;
  while (i < args.size() && args[i] != "--" && args[i].size() > 1 && args[i].front() == '-') {
    const bool has_value = args[i] == "--url" || args[i] == "--url-file" || args[i] == "--password-file";
    i += has_value ? 2 : 1;
  }
  return std::min(i, args.size());
}

}  // namespace

std::variant<Options, TextRequest> parse(Args args) {
  const std::size_t position = verb_position(args);
  const auto asks_for = [&](std::string_view option) {
    return std::find(args.begin(), args.begin() + static_cast<std::ptrdiff_t>(position), option) !=
           args.begin() + static_cast<std::ptrdiff_t>(position);
  };
  if (asks_for("--version")) return TextRequest{"holdfast " HOLDFAST_VERSION "\n"};
  if (position == args.size()) {
    if (asks_for("--help") || asks_for("-h")) return TextRequest{help_of("")};
    throw UsageError("");
  }
  const std::string verb = args[position];
  args.erase(args.begin() + static_cast<std::ptrdiff_t>(position));
  const Halves halves = divide(args);

  Options options;
  VerbParser parser(options.common);
  if (verb == "run") {
    options.verb = parse_run(parser, halves);
  } else if (verb == "ls") {
    options.verb = parse_ls(parser, halves);
  } else if (verb == "inspect") {
    options.verb = parse_inspect(parser, halves);
  } else if (verb == "wait") {
    options.verb = parse_wait(parser, halves);
  } else if (verb == "break") {
    options.verb = parse_break(parser, halves);
  } else {
    throw UsageError(fmt::format("no such verb: {} (see holdfast --help)", printable(verb)));
  }
  if (parser.help()) return TextRequest{help_of(verb)};
  return options;
}

Glance glance(const Args& args) {
  const Halves halves = divide(args);
  const std::size_t position = verb_position(args);
  return {std::find(halves.before.begin(), halves.before.end(), "--json") != halves.before.end(),
          position < args.size() && args[position] == "run"};
}

}  // namespace holdfast::cli
