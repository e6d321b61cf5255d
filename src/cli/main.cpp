// The tool `holdfast`: reads the command line, carries out one verb, turns failures into one line and an exit code.
#include <malloc.h>
#include <unistd.h>
#include <variant>

#include <holdfast/testing.hpp>

#include "cli/connect.hpp"
#include "cli/help.hpp"
#include "cli/inherited.hpp"
#include "cli/json.hpp"
#include "cli/parse.hpp"
#include "cli/title.hpp"
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

int carry_out(const Options& options, const Console& console) {
  if (shows_password(options.common)) {
    console.note(
        "the password in --url can be seen by every user of this machine; use HOLDFAST_URL, HOLDFAST_PASSWORD or "
        "--password-file instead");
  }
  const CommonOptions& common = options.common;
  for (const std::string& hint : common.hints) console.note(hint);
  if (const auto* verb = std::get_if<RunOptions>(&options.verb)) return run(common, *verb, console);
  if (const auto* verb = std::get_if<ElectOptions>(&options.verb)) {
    return verb->watch ? watch_election(common, verb->run.names.front(), console) : elect(common, *verb, console);
  }
  if (const auto* verb = std::get_if<TakeOptions>(&options.verb)) return acquire(common, *verb, console);
  if (const auto* verb = std::get_if<RenewOptions>(&options.verb)) return renew(common, *verb, console);
  if (const auto* verb = std::get_if<ReleaseOptions>(&options.verb)) return release(common, *verb, console);
  if (const auto* verb = std::get_if<LsOptions>(&options.verb)) return ls(common, *verb, console);
  if (const auto* verb = std::get_if<InspectOptions>(&options.verb)) return inspect(common, *verb, console);
  if (const auto* verb = std::get_if<WaitOptions>(&options.verb)) return wait(common, *verb, console);
  if (const auto* verb = std::get_if<DoctorOptions>(&options.verb)) return doctor(common, *verb, console);
  if (const auto* verb = std::get_if<ExporterOptions>(&options.verb)) return exporter(common, *verb, console);
  if (const auto* verb = std::get_if<TopOptions>(&options.verb)) return top(common, *verb, console);
  return break_lock(common, std::get<BreakOptions>(options.verb), console);
}

/// True if standard output belongs to the command.
bool has_command(const Options& options) {
  const auto* elect = std::get_if<ElectOptions>(&options.verb);
  return std::holds_alternative<RunOptions>(options.verb) || (elect != nullptr && !elect->watch);
}

int main(const std::vector<std::string>& args) {
  std::variant<Options, TextRequest> parsed;
  try {
    parsed = parse(args);
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    const Glance seen = glance(args);
    CommonOptions common;
    common.json = seen.json;
    if (problem.message.empty()) show(STDERR_FILENO, Shown(help_of("")));
    report(Console(common), problem, seen.has_command ? STDERR_FILENO : STDOUT_FILENO);
    return problem.exit_code;
  }
  if (const auto* request = std::get_if<TextRequest>(&parsed)) {
    show(STDOUT_FILENO, Shown(request->text));
    return kExitOk;
  }
  const auto& options = std::get<Options>(parsed);
  const Console console(options.common);
  try {
    return carry_out(options, console);
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    report(console, problem, has_command(options) ? STDERR_FILENO : STDOUT_FILENO);
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
