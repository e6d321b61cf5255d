// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include <holdfast/version.hpp>

namespace holdfast::cli {

// Each in verbs/.
extern const VerbEntry run_verb, elect_verb, acquire_verb, renew_verb, release_verb, ls_verb, inspect_verb, wait_verb,
    break_verb, ask_release_verb, doctor_verb, top_verb, watch_verb, exporter_verb;
extern const char* const kLicences;  // the file COPYRIGHT

namespace {

constexpr std::array kVerbs{&run_verb,    &elect_verb,   &acquire_verb, &renew_verb,       &release_verb,
                            &ls_verb,     &inspect_verb, &wait_verb,    &ask_release_verb, &break_verb,
                            &doctor_verb, &top_verb,     &watch_verb,   &exporter_verb};

constexpr const char* kVersion = "holdfast " HOLDFAST_VERSION_STRING "\n";
constexpr const char* kTool =
    R"(holdfast: run commands one at a time, across machines, with a lock on Redis or Valkey

  holdfast run NAME -- COMMAND...   run a command while holding one or more locks
  holdfast elect NAME -- COMMAND... run a command while this candidate leads; the others stand by
  holdfast acquire NAME             take a lock and print a ticket for it; renew TICKET and release TICKET follow
  holdfast ls [PATTERN]             list the locks that are held
  holdfast inspect NAME             show who holds a lock, and for how long
  holdfast wait NAME                wait until a lock is free, without taking it
  holdfast ask-release NAME         ask the holder of a lock to give it back
  holdfast break NAME               take a lock away from its holder
  holdfast top [PATTERN]            the locks on a screen that refreshes: who has them, who waits
  holdfast watch [PATTERN]          what happens to locks, a line for each event
  holdfast doctor                   examine the servers: what about them endangers locks
  holdfast exporter                 answer Prometheus: what the servers have

  holdfast help VERB                options, exit codes and examples of a verb; the same as holdfast VERB --help
  holdfast --version
  holdfast --licences               whose code is in this program, and the terms of each

Examples
  holdfast run nightly-backup -- ./backup.sh
  holdfast run -n nightly-backup -- ./backup.sh     # give up if it is already running
  holdfast ls 'nightly-*'

)";

/// Null: there is no such verb.
const VerbEntry* find_verb(std::string_view name) {
  const auto found = std::ranges::find_if(kVerbs, [&](const VerbEntry* each) { return each->name == name; });
  return found == kVerbs.end() ? nullptr : *found;
}

/// The position of the verb: the first argument that is neither an option nor an option's value.
std::size_t verb_position(const Args& args) {
  const auto is_option = [&](std::size_t i) {
    return i < args.size() && args[i] != "--" && args[i].size() > 1 && args[i].front() == '-';
  };
  if (!is_option(0)) return 0;  // nearly always, and options take their time to be declared
  CommonOptions unused;
  const CommandLine line("", unused);
  std::size_t i = 0;
  while (is_option(i)) i += line.takes_value(args[i]) ? 2 : 1;
  return std::min(i, args.size());
}

void refuse_unknown_options(const Args& before_verb) {
  CommonOptions unused;
  Args known = CommandLine("", unused).options();
  known.insert(known.end(), {"--version", "--licences"});
  for (const std::string& arg : before_verb) {
    const bool is_option = arg.size() > 1 && arg.front() == '-' && arg != "--";
    if (is_option && std::ranges::find(known, option_name(arg)) == known.end()) {
      throw UsageError(fmt::format("unknown option {} before the verb{} (see holdfast help)", option_name(arg),
                                   did_you_mean(option_name(arg), known)));
    }
  }
}

[[noreturn]] void refuse_verb(const Args& before, const std::string& verb) {
  // After an unknown option, the next argument may be its value instead of a verb.
  refuse_unknown_options(before);
  Args names;
  for (const VerbEntry* each : kVerbs) names.emplace_back(each->name);
  throw UsageError(fmt::format("no such verb: {}{} (see holdfast help)", shown(verb), did_you_mean(verb, names)));
}

std::string help_of(const VerbEntry& entry, const CommandLine& line) {
  return std::string(entry.head) + "\n" + line.help() + entry.end;
}

/// `help` and `help VERB`; the same texts as `--help`. For completions, `help --verbs`: a line for each.
std::string help_for(const Args& args) {
  if (args.size() > 1) throw UsageError(fmt::format("help: one argument too many: {}", shown(args[1])));
  if (args == Args{"--verbs"}) {
    std::string lines;
    for (const VerbEntry* each : kVerbs) lines += fmt::format("{}:{}\n", each->name, each->summary);
    return lines;
  }
  if (args.empty() || args.front().starts_with('-')) return help_of_tool();
  const VerbEntry* const entry = find_verb(args.front());
  if (entry == nullptr) refuse_verb({}, args.front());
  CommonOptions common;
  CommandLine line(entry->name, common);
  const std::unique_ptr<Verb> verb = entry->make();
  verb->declare(line);
  return help_of(*entry, line);
}

}  // namespace

std::string help_of_tool() {
  CommonOptions common;
  return kTool + CommandLine("", common).help();
}

Use parse(Args args) {
  if (args == Args{"--version"}) return {.text = kVersion, .common = {}, .verb = {}};
  const auto verb_at = args.begin() + static_cast<std::ptrdiff_t>(verb_position(args));
  const auto asks_for = [&](std::string_view option) { return std::find(args.begin(), verb_at, option) != verb_at; };
  Use use;
  if (asks_for("--version")) {
    use.text = kVersion;
    return use;
  }
  if (asks_for("--licences")) {
    use.text = kLicences;
    return use;
  }
  if (verb_at == args.end()) {
    if (!asks_for("--help") && !asks_for("-h")) {
      refuse_unknown_options(args);
      throw UsageError("");
    }
    use.text = help_of_tool();
    return use;
  }
  const std::string name = std::move(*verb_at);
  if (name == "help") {
    use.text = help_for({verb_at + 1, args.end()});
    return use;
  }
  const VerbEntry* const entry = find_verb(name);
  if (entry == nullptr) refuse_verb({args.begin(), verb_at}, name);
  args.erase(verb_at);

  CommandLine line(name, use.common);
  use.verb = entry->make();
  use.verb->declare(line);
  line.read(args);
  if (line.wants_help()) {
    use.text = help_of(*entry, line);
    use.verb.reset();
  } else {
    use.verb->accept(line);
  }
  return use;
}

Glance glance(const Args& args) {
  const Args before = divide(args).before;
  const std::size_t position = verb_position(args);
  const VerbEntry* const entry = position < args.size() ? find_verb(args[position]) : nullptr;
  return {std::ranges::find(before, "--json") != before.end(), entry != nullptr && entry->make()->has_command()};
}

}  // namespace holdfast::cli
