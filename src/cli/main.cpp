// SPDX-License-Identifier: Apache-2.0
// The tool `holdfast`: reads the command line, carries out one verb, turns failures into one line and an exit code.
#include <malloc.h>
#include <unistd.h>

#include <holdfast/testing.hpp>

#include "cli/json.hpp"
#include "cli/process.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

/// With --json a failure is a result too. Standard output of `run` and `elect` belongs to the command.
void report(const Console& console, const Problem& problem, int json_fd) {
  if (!problem.message.empty()) console.problem(problem);
  if (!console.json()) return;
  try {
    boost::json::object out;
    out["error"] = to_json(problem);
    show(json_fd, Shown(json_line(out)));
  } catch (const std::exception&) {
    // Nobody reads it.
  }
}

int carry_out(Verb& verb, const Console& console) {
  if (shows_password(console.options())) {
    console.note(
        "the password in --url can be seen by every user of this machine; use HOLDFAST_URL, HOLDFAST_PASSWORD or "
        "--password-file instead");
  }
  for (const std::string& hint : console.options().hints) console.note(hint);
  return verb.run(console);
}

int main(const std::vector<std::string>& args) {
  Use use;
  try {
    use = parse(args);
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    const Glance seen = glance(args);
    CommonOptions common;
    common.json = seen.json;
    if (problem.message.empty()) show(STDERR_FILENO, Shown(help_of_tool()));
    report(Console(common), problem, seen.has_command ? STDERR_FILENO : STDOUT_FILENO);
    return problem.exit_code;
  }
  if (!use.verb) {
    show(STDOUT_FILENO, Shown(use.text));
    return kExitOk;
  }
  const Console console(use.common);
  try {
    return carry_out(*use.verb, console);
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    report(console, problem, use.verb->has_command() ? STDERR_FILENO : STDOUT_FILENO);
    return problem.exit_code;
  }
}

}  // namespace
}  // namespace holdfast::cli

int main(int argc, char** argv) {
#ifdef M_ARENA_MAX
  // In a short run, setting up a heap for each thread costs more than sharing one.
  mallopt(M_ARENA_MAX, 1);
#endif
  holdfast::cli::occupy_standard_fds();
  holdfast::cli::remember_arguments(argc, argv);
  holdfast::enable_local_urls();
  try {
    return holdfast::cli::main({argv + (argc > 0 ? 1 : 0), argv + argc});
  } catch (const std::exception& error) {
    holdfast::cli::Console({}).problem(holdfast::cli::Problem::internal(error.what()));
    return holdfast::cli::kExitInternal;
  }
}
