#include "cli/parse.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include <holdfast/version.hpp>

#include "cli/firing.hpp"
#include "cli/help.hpp"
#include "cli/hints.hpp"
#include "cli/listen_address.hpp"
#include "cli/name_ranges.hpp"
#include "cli/nearest.hpp"
#include "cli/output.hpp"
#include "cli/run_kind.hpp"
#include "cli/secrets.hpp"
#include "cli/verb_parser.hpp"

namespace holdfast::cli {
namespace {
using std::chrono::milliseconds;

/// The arguments before and after the first `--`.
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

/// A URL meant for --url would be sent to another server as a name, and shown there to everybody.
void refuse_login(const std::string& name) {
  if (!has_login(name)) return;
  throw UsageError(
      "the argument given as a name looks like the URL of a server with a login in it; it belongs after --url, or "
      "better in HOLDFAST_URL");
}

/// The one positional argument of a verb; it may follow `--` if it looks like an option.
std::string only(const Args& before, const Args& after, const char* verb, const char* what) {
  Args all = before;
  all.insert(all.end(), after.begin(), after.end());
  if (all.empty()) throw UsageError(fmt::format("{}: {} is missing", verb, what));
  if (all.size() > 1) throw UsageError(fmt::format("{}: one argument too many: {}", verb, shown(all[1])));
  refuse_login(all.front());
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
  throw UsageError(fmt::format("--on-lost: {} is not one of term, kill, warn", shown(text)));
}

/// NAME... -- COMMAND...; for names that look like options, -- NAME... -- COMMAND... or -- NAME COMMAND...
void take_names_and_command(const char* verb, RunOptions& options, Args before, Args after, bool divided,
                            bool has_shell_line) {
  if (before.empty() && !after.empty()) {
    const auto second = std::find(after.begin() + 1, after.end(), "--");
    const bool has_second = second != after.end();
    const auto end = has_second || has_shell_line ? second : after.begin() + 1;
    before.assign(after.begin(), end);
    after.erase(after.begin(), has_second ? end + 1 : end);
  }
  if (before.empty()) throw UsageError(fmt::format("{}: {} is missing", verb, "the name of the lock"));
  for (const std::string& name : before) refuse_login(name);
  if (before.size() > 1 && !divided && !has_shell_line) {
    throw UsageError(fmt::format("{}: put -- between the name and the command: holdfast {} {} -- {}", verb, verb,
                                 shown(before[0]), shown(before[1])));
  }
  options.names = std::move(before);
  options.command = std::move(after);
}

/// The command, or the shell line instead.
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

void parse_command(VerbParser& parser, RunOptions& options, std::optional<std::string>& shell_line) {
  parser.text("-c,--command", shell_line);
  parser.duration("--lease", options.lease, milliseconds(10));
  parser.duration("--kill-after", options.kill_after);
  parser.flag("--withhold-login", options.withhold_login);
  parser.text("--label", options.label);
  parser.text("--metrics-file", options.metrics_file);
}

RunOptions parse_run(VerbParser& parser, const Halves& args) {
  RunOptions options;
  bool nonblock = false;
  std::optional<milliseconds> wait;
  std::optional<int> conflict_exit_code;
  std::optional<std::string> shell_line;
  bool fair = false;
  bool shared = false;
  parser.kind(options.kind);
  parser.flag("--fair", fair);
  parser.flag("--any", options.any);
  parser.flag("-s,--shared", shared);
  parser.flag("-n,--nonblock", nonblock);
  parser.duration("-w,--wait", wait);
  parser.number("-E,--conflict-exit-code", 255, conflict_exit_code);
  parser.duration("--max-hold", options.max_hold, milliseconds(1));
  parser.duration("--at-least", options.at_least, milliseconds(1));
  parser.number("--max", kMostPermits, options.max);
  parser.duration("--fresh", options.fresh, milliseconds(10));
  parser.value("--at", [&](const std::string& option, const std::string& text) { options.at = firing(option, text); });
  parser.value("--on-lost", [&](const std::string&, const std::string& text) { options.on_lost = on_lost(text); });
  parser.number("--status-fd", 1 << 20, options.status_fd);
  parse_command(parser, options, shell_line);

  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  take_names_and_command("run", options, before, args.after, args.divided, shell_line.has_value());
  if (options.any) options.names = with_ranges(options.names);
  settle_kind(options, {.has_kind = parser.has("--kind"), .fair = fair, .shared = shared});
  options.wait = wait_limit(nonblock, wait);
  options.conflict_exit_code = conflict_exit_code.value_or(options.conflict_exit_code);
  take_shell_line("run", options, shell_line);
  return options;
}

ElectOptions parse_elect(VerbParser& parser, const Halves& args) {
  ElectOptions options;
  std::optional<std::string> shell_line;
  std::optional<milliseconds> rest;
  parser.flag("--watch", options.watch);
  parser.flag("--once", options.once);
  parser.duration("--rest", rest);
  parse_command(parser, options.run, shell_line);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  if (options.watch) {
    options.run.names = {only(before, args.after, "elect", "the name of the lock")};
    return options;
  }
  take_names_and_command("elect", options.run, before, args.after, args.divided, shell_line.has_value());
  if (options.run.names.size() > 1) {
    throw UsageError(fmt::format("{}: one argument too many: {}", "elect", shown(options.run.names[1])));
  }
  take_shell_line("elect", options.run, shell_line);
  options.run.kind = LockKind::fenced;
  options.run.campaigns = true;
  options.rest = rest.value_or(options.rest);
  return options;
}

TakeOptions parse_acquire(VerbParser& parser, const Halves& args) {
  TakeOptions options;
  RunOptions& run = options.run;
  bool nonblock = false;
  std::optional<milliseconds> wait;
  std::optional<int> conflict_exit_code;
  parser.kind(run.kind);
  parser.flag("-n,--nonblock", nonblock);
  parser.duration("-w,--wait", wait);
  parser.number("-E,--conflict-exit-code", 255, conflict_exit_code);
  parser.duration("--lease", run.lease, milliseconds(10));
  parser.number("--max", kMostPermits, run.max);
  parser.text("--label", run.label);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  run.names = {only(before, args.after, "acquire", "the name of the lock")};
  if (is_read_write(run.kind)) throw UsageError("acquire: there are no tickets for --kind read-write");
  if (run.kind == LockKind::spin) throw UsageError("acquire: there are no tickets for --kind spin");
  const bool odd = run.max ? *run.max == 0 || parser.has("--kind") : run.kind == LockKind::permit;
  if (odd) throw UsageError("acquire: a permit is --max N, from 1, in place of --kind");
  if (run.max) run.kind = LockKind::permit;
  run.wait = wait_limit(nonblock, wait);
  run.conflict_exit_code = conflict_exit_code.value_or(run.conflict_exit_code);
  run.fixed = true;
  return options;
}

RenewOptions parse_renew(VerbParser& parser, const Halves& args) {
  RenewOptions options;
  parser.duration("--lease", options.lease, milliseconds(10));
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  options.ticket = only(before, args.after, "renew", "the ticket");
  return options;
}

ReleaseOptions parse_release(VerbParser& parser, const Halves& args) {
  const Args before = parser.parse(args.before);
  if (parser.help()) return {};
  return {only(before, args.after, "release", "the ticket")};
}

LsOptions parse_ls(VerbParser& parser, const Halves& args) {
  LsOptions options;
  parser.kind(options.kind, KindsFor::looking);
  const Args before = parser.parse(args.before);
  if (!before.empty() || !args.after.empty()) options.pattern = only(before, args.after, "ls", "the pattern");
  return options;
}

InspectOptions parse_inspect(VerbParser& parser, const Halves& args) {
  InspectOptions options;
  parser.kind(options.kind, KindsFor::looking);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  options.name = only(before, args.after, "inspect", "the name of the lock");
  options.finds_kind = !parser.has("--kind");
  return options;
}

WaitOptions parse_wait(VerbParser& parser, const Halves& args) {
  WaitOptions options;
  bool nonblock = false;
  std::optional<milliseconds> wait;
  std::optional<int> conflict_exit_code;
  parser.kind(options.kind);
  parser.flag("-n,--nonblock", nonblock);
  parser.duration("-w,--wait", wait);
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
  parser.text("--owner", options.owner);
  const Args before = parser.parse(args.before);
  if (parser.help()) return options;
  options.name = only(before, args.after, "break", "the name of the lock");
  return options;
}

Severity severity(const std::string& option, const std::string& text) {
  for (const Severity each : {Severity::unknown, Severity::note, Severity::warning, Severity::danger}) {
    if (text == to_string(each)) return each;
  }
  throw UsageError(fmt::format("{}: {} is not one of danger, warning, note, unknown", option, shown(text)));
}

DoctorOptions parse_doctor(VerbParser& parser, const Halves& args) {
  DoctorOptions options;
  bool strict = false;
  parser.flag("--strict", strict);
  parser.value("--fail-on",
               [&](const std::string& option, const std::string& text) { options.fail_on = severity(option, text); });
  parser.text("--try", options.try_name);
  Args rest = parser.parse(args.before);
  rest.insert(rest.end(), args.after.begin(), args.after.end());
  if (!rest.empty()) throw UsageError(fmt::format("doctor: one argument too many: {}", shown(rest.front())));
  if (strict && parser.has("--fail-on")) throw UsageError("--strict and --fail-on exclude each other");
  if (strict) options.fail_on = Severity::unknown;
  return options;
}

ExporterOptions parse_exporter(VerbParser& parser, const Halves& args) {
  ExporterOptions options;
  std::optional<milliseconds> interval;
  std::optional<milliseconds> doctor;
  parser.value("--listen", [&](const std::string& option, const std::string& text) {
    options.listen = listen_address(option, text);
  });
  parser.duration("--interval", interval, milliseconds(100));
  parser.duration("--doctor", doctor);
  const Args before = parser.parse(args.before);
  if (!before.empty() || !args.after.empty()) options.pattern = only(before, args.after, "exporter", "the pattern");
  options.interval = interval.value_or(options.interval);
  options.doctor = doctor.value_or(options.doctor);
  return options;
}

TopOptions parse_top(VerbParser& parser, const Halves& args) {
  TopOptions options;
  std::optional<milliseconds> interval;
  parser.duration("-n,--interval", interval, milliseconds(100));
  const Args before = parser.parse(args.before);
  if (!before.empty() || !args.after.empty()) options.pattern = only(before, args.after, "top", "the pattern");
  options.interval = interval.value_or(options.interval);
  return options;
}

constexpr std::array kCommonOptions{"--url",     "--url-file",   "--password-file", "--json", "-q",
                                    "--quiet",   "-v",           "--verbose",       "-h",     "--help",
                                    "--version", "--timestamps", "--syslog"};

/// The position of the verb: the first argument that is neither an option nor an option's value.
std::size_t verb_position(const Args& args) {
  std::size_t i = 0;
  while (i < args.size() && args[i] != "--" && args[i].size() > 1 && args[i].front() == '-') {
    const bool has_value = args[i] == "--url" || args[i] == "--url-file" || args[i] == "--password-file";
    i += has_value ? 2 : 1;
  }
  return std::min(i, args.size());
}

void refuse_unknown_options(const Args& before_verb) {
  for (const std::string& arg : before_verb) {
    const bool is_option = arg.size() > 1 && arg.front() == '-' && arg != "--";
    if (is_option && std::ranges::find(kCommonOptions, option_name(arg)) == kCommonOptions.end()) {
      throw UsageError(fmt::format("unknown option {} before the verb{} (see holdfast help)", option_name(arg),
                                   did_you_mean(option_name(arg), {kCommonOptions.begin(), kCommonOptions.end()})));
    }
  }
}

[[noreturn]] void refuse_verb(const Args& before, const std::string& verb) {
  // After an unknown option, the next argument may be its value instead of a verb.
  refuse_unknown_options(before);
  throw UsageError(fmt::format("no such verb: {}{} (see holdfast help)", shown(verb),
                               did_you_mean(verb, {kVerbs.begin(), kVerbs.end()})));
}

/// `help` and `help VERB`; the same texts as `--help`.
TextRequest parse_help(const Args& args) {
  if (args.size() > 1) throw UsageError(fmt::format("help: one argument too many: {}", shown(args[1])));
  const std::string verb = args.empty() || args.front().starts_with('-') ? "" : args.front();
  if (!verb.empty() && std::ranges::find(kVerbs, verb) == kVerbs.end()) refuse_verb({}, verb);
  return TextRequest{help_of(verb)};
}

}  // namespace

std::variant<Options, TextRequest> parse(Args args) {
  const auto verb_at = args.begin() + static_cast<std::ptrdiff_t>(verb_position(args));
  const auto asks_for = [&](std::string_view option) { return std::find(args.begin(), verb_at, option) != verb_at; };
  if (asks_for("--version")) return TextRequest{"holdfast " HOLDFAST_VERSION_STRING "\n"};
  if (verb_at == args.end()) {
    if (asks_for("--help") || asks_for("-h")) return TextRequest{help_of("")};
    refuse_unknown_options(args);
    throw UsageError("");
  }
  const std::string verb = std::move(*verb_at);
  if (verb == "help") return parse_help({verb_at + 1, args.end()});
  if (std::ranges::find(kVerbs, verb) == kVerbs.end()) refuse_verb({args.begin(), verb_at}, verb);
  args.erase(verb_at);
  const Halves halves = divide(args);

  Options options;
  VerbParser parser(options.common);
  if (verb == "run") options.verb = parse_run(parser, halves);
  if (verb == "elect") options.verb = parse_elect(parser, halves);
  if (verb == "acquire") options.verb = parse_acquire(parser, halves);
  if (verb == "renew") options.verb = parse_renew(parser, halves);
  if (verb == "release") options.verb = parse_release(parser, halves);
  if (verb == "ls") options.verb = parse_ls(parser, halves);
  if (verb == "inspect") options.verb = parse_inspect(parser, halves);
  if (verb == "wait") options.verb = parse_wait(parser, halves);
  if (verb == "break") options.verb = parse_break(parser, halves);
  if (verb == "doctor") options.verb = parse_doctor(parser, halves);
  if (verb == "exporter") options.verb = parse_exporter(parser, halves);
  if (verb == "top") options.verb = parse_top(parser, halves);
  if (parser.help()) return TextRequest{help_of(verb)};
  Args names;
  if (const auto* run = std::get_if<RunOptions>(&options.verb)) names = run->names;
  if (const auto* take = std::get_if<TakeOptions>(&options.verb)) names = take->run.names;
  if (const auto* wait = std::get_if<WaitOptions>(&options.verb)) names = {wait->name};
  options.common.hints = hints_about_units(halves.before, names);
  return options;
}

Glance glance(const Args& args) {
  const Halves halves = divide(args);
  const std::size_t position = verb_position(args);
  return {std::find(halves.before.begin(), halves.before.end(), "--json") != halves.before.end(),
          position < args.size() && (args[position] == "run" || args[position] == "elect")};
}

}  // namespace holdfast::cli
