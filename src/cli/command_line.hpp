// SPDX-License-Identifier: Apache-2.0
// The command line of one verb: its options, each declared once with its help, and its other arguments.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/console.hpp"
#include "cli/kinds.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
}

namespace holdfast::cli {

using Args = std::vector<std::string>;

/// The arguments before and after the first `--`.
struct Halves {
  Args before;
  Args after;
  bool divided = false;
};
Halves divide(const Args& args);

/// Arguments that are no options are left to the verb, since the library would interpret names like `++` or `[a]`. If
/// an option is given several times the last one counts, as with getopt(3). Of the options that every verb has it fills
/// the CommonOptions.
class CommandLine {
 public:
  CommandLine(std::string_view verb, CommonOptions& common);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // ---- the verb's options, in the order of its help, which may have several lines ----
  // `form`: as the help shows it, such as `-w, --wait TIME`. It and `help` are not copied.

  void flag(std::string_view form, bool& target, std::string_view help);
  void text(std::string_view form, std::optional<std::string>& target, std::string_view help);
  void kind(LockKind& target, std::string_view help, KindsFor use = KindsFor::holding);
  /// Several to look at, with commas between, or `all`; of those that a list shows together only one.
  void kinds(
      std::vector<LockKind>& target,
      std::string_view help = R"(which kinds of locks, as in ls: lock (fenced, fair and spin as well), read-write,
permit, simple; several (a,b); all. Default: all; without a PATTERN not simple)");
  /// A duration, from `shortest` to ten years.
  template <class Target>
  void duration(std::string_view form, Target& target, std::string_view help, std::chrono::milliseconds shortest = {}) {
    value(form, help, [&target, shortest](const std::string& option, const std::string& text) {
      target = read_duration(option, text, shortest);
    });
  }
  template <class Target>
  void number(std::string_view form, int largest, Target& target, std::string_view help) {
    value(form, help, [&target, largest](const std::string& option, const std::string& text) {
      target = read_number(option, text, largest);
    });
  }
  /// `set` has the option's long name and its value, which is not empty; it may throw UsageError.
  using Set = std::function<void(const std::string& option, const std::string& text)>;
  void value(std::string_view form, std::string_view help, Set set);
  /// A line of the help that is no option.
  void title(std::string_view text);
  /// A line of the help about an option of every verb.
  void remark(std::string_view form, std::string_view help);

  /// Reads them. Throws UsageError.
  void read(const Args& args);

  bool wants_help() const { return wants_help_; }
  /// What the verb's options do, and those of every verb.
  std::string help() const;
  bool takes_value(const std::string& option) const;
  /// All of its options, `-q` and `--quiet`.
  Args options() const;
  /// True if this option was given.
  bool has(const std::string& name) const;

  // ---- the other arguments, once it is read ----

  /// The only one; it may follow `--` if it looks like an option. Throws UsageError, which names `what`.
  std::string only(const char* what) const;
  /// Throws UsageError if there is any.
  void none() const;
  /// The only one, if there is any.
  std::optional<std::string> at_most_one(const char* what) const;
  /// NAME... -- COMMAND...; for names that look like options, -- NAME... -- COMMAND... or -- NAME COMMAND...
  void names_and_command(Args& names, Args& command, bool has_shell_line) const;
  /// Notes a probable mistake. `-w 5 minutes`: the unit is where a name is expected, and would be a valid name.
  void hint_at_units(const std::string& name) const;

 private:
  static std::chrono::milliseconds read_duration(const std::string& option, const std::string& text,
                                                 std::chrono::milliseconds shortest);
  static int read_number(const std::string& option, const std::string& text, int largest);
  Args all() const;

  const std::string verb_;
  CommonOptions& common_;
  std::unique_ptr<CLI::App> app_;
  std::vector<std::string> flags_;
  std::vector<std::pair<std::string_view, std::string_view>> lines_, common_lines_;  // of the help; a title is alone
  bool wants_help_ = false;
  Halves read_;  // as they were given
  Args before_;  // those before `--` that are no options
};

/// `-n`, `-w` and `-E` of the verbs that wait.
struct WaitLimit {
  std::optional<std::chrono::milliseconds> wait;  ///< Empty: without limit. Zero: try once.
  int conflict_exit_code = kExitNo;
  bool nonblock = false;

  void declare(CommandLine& line, std::string_view nonblock_help = R"(give up at once if somebody else has the lock)",
               std::string_view wait_help = R"(give up after this long (0 is -n); default: wait without limit)");
  /// Call it once they are read. Throws UsageError.
  void settle();
};

/// The name in an argument that looks like an option, without its value.
std::string option_name(const std::string& arg);

/// ` (did you mean WORD?)` for the known word that becomes this one by one slip (a missing, added, wrong or swapped
/// character), or by two if it is longer than four characters; empty: none, several equally near ones, or a
/// word of two characters, which may mean anything. Pure.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace holdfast::cli
