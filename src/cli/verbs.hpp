// SPDX-License-Identifier: Apache-2.0
// A verb of the tool is one object, in a file of its own under verbs/: its help, its options, and what it does.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/console.hpp"

namespace holdfast::cli {

/// One use of a verb.
class Verb {
 public:
  Verb() = default;
  virtual ~Verb() = default;
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  /// Declares the options.
  virtual void declare(CommandLine& line) = 0;
  /// Takes the other arguments, once it is read, and checks what belongs together. Throws UsageError.
  virtual void accept(const CommandLine& line) = 0;
  /// True if standard output belongs to a command.
  virtual bool has_command() const { return false; }
  /// Returns the exit code; failures are exceptions. Verbs with a command report their own, and end the process
  /// themselves unless the command line is wrong.
  virtual int run(const Console& console) = 0;
};

/// What is said of a verb, and how to make one.
struct VerbEntry {
  const char* name;
  const char* summary;  ///< For completions.
  const char* head;     ///< Of the help, before the options,
  const char* end;      ///< and behind them.
  std::unique_ptr<Verb> (*make)();
};

template <class SomeVerb>
std::unique_ptr<Verb> make_verb() {
  return std::make_unique<SomeVerb>();
}

/// What a command line asks for.
struct Use {
  std::string text;  ///< Only to be shown: `--help`, `--version`. Then there is no verb.
  CommonOptions common;
  std::unique_ptr<Verb> verb;
};

/// `args` without the program's name. Throws UsageError; without a message if there is no verb.
Use parse(std::vector<std::string> args);

/// The help of the whole tool.
std::string help_of_tool();

/// For reporting a wrong command line: whether `--json` is among the options, and whether the verb has a command, whose
/// standard output is not the tool's.
struct Glance {
  bool json = false;
  bool has_command = false;
};
Glance glance(const std::vector<std::string>& args);

}  // namespace holdfast::cli
