// SPDX-License-Identifier: Apache-2.0
// `holdfast run`: takes the lock, runs the command, releases the lock.
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/run/session.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

class Run : public RunSession {
 public:
  using RunSession::RunSession;

 private:
  int go() override;
  void write_metrics() override {
    if (!options_.metrics_file) return;
    write_metrics_file(*options_.metrics_file, metrics_of(report_, std::chrono::system_clock::now()), console_);
  }
  SharedEnd ended_by() const override {
    return command_ ? command_->ended_by() : SharedEnd{lock_ ? lock_->interrupted_by() : 0};
  }

  std::optional<RunCommand> command_;
};

int Run::go() {
  make_lock(make_configs(console_));
  AcquisitionResult result = lock_->acquire(times_, signals_);
  report_.waited = result.waited;
  report_.waited_for = result.holder;
  const int signal = lock_->interrupted_by();
  if (!result.hold) {
    if (signal == 0) return lock_->not_acquired(result);
    console_.detail(fmt::format("{}: {} while waiting", report_.lock_in_words(), SignalGate::name(signal)));
    return 128 + signal;
  }
  report_.acquired = true;
  report_.owner = result.hold->owner();
  if (options_.any) {
    report_.name = result.hold->name();
    report_.names = {report_.name};
  }
  if (signal != 0) {
    lock_->release(*result.hold);
    return 128 + signal;
  }
  if (const std::optional<RunMarks::Skip> skip = lock_->reason_to_skip()) {
    report_.skipped = skip->option;
    console_.note(fmt::format("{}: {}; nothing is done", report_.lock_in_words(), skip->why));
    lock_->release(*result.hold);
    return kExitOk;
  }
  console_.detail(fmt::format("{}: acquired after {}", report_.lock_in_words(),
                              in_words(std::chrono::duration_cast<milliseconds>(result.waited))));
  command_.emplace(command());
  const int exit_code = command_->run(*lock_, *result.hold);
  report_.renewals = lock_->renewals();
  return exit_code;
}

class RunVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.title(R"(Lock)");
    line.remark("--url URL", R"(repeat it for several independent servers: a majority of them must grant the lock)");
    line.kind(options_.kind,
              R"(lock: Redisson's RLock (default); simple: SET NX PX, as in redis-py, redsync, node redlock;
of one name on one server: fenced, fair, spin, read-write (its writer), as Redisson's)");
    line.flag("--fair", words_.fair,
              R"(in the order in which the runs came, on all machines: the same as --kind fair)");
    line.flag("--any", options_.any,
              R"(any one of the names that is free (HOLDFAST_NAME says which); 'gpu:{0..7}' is eight names)");
    line.flag("-s, --shared", words_.shared,
              R"(a reader of a read-write lock: together with other readers, but never beside its writer)");
    line.number("--max N", kMostPermits, options_.max,
                R"(at most N at the same time, on all machines: a permit of Redisson's leased semaphore)");
    line.title(R"(Waiting (a TIME is a number of seconds, or has a unit: 500ms, 10s, 5m, 2h, 1d))");
    options_.declare(line);
    line.title(R"(Holding)");
    line.duration("--lease TIME", options_.lease, R"(how long the lock stays taken after a crash; default 30)",
                  milliseconds(10));
    line.duration("--at-least TIME", options_.at_least,
                  R"(the name stays taken this long, whatever the command does; the lease is at least as long)",
                  milliseconds(1));
    line.duration("--fresh TIME", options_.fresh,
                  R"(do nothing, with 0, if the command has succeeded so recently, on whichever machine)",
                  milliseconds(10));
    line.value("--at MINUTE", R"(do nothing, with 0, if anybody has run it for this minute: 2026-11-23T02:00, or now)",
               [this](const std::string& option, const std::string& text) { options_.at = firing(option, text); });
    line.duration("--max-hold TIME", options_.max_hold,
                  R"(the longest time the command may hold the lock; SIGTERM is sent --kill-after before that)",
                  milliseconds(1));
    line.value(
        "--on-lost WHAT", R"(term: SIGTERM, then SIGKILL (default); kill: only SIGKILL; warn: only warn)",
        [this](const std::string& option, const std::string& text) { options_.on_lost = on_lost(option, text); });
    line.value(
        "--on-asked SIGNAL", R"(sent when somebody asks for the lock (ask-release): term, int, hup, quit, usr1, usr2)",
        [this](const std::string& option, const std::string& text) { options_.on_asked = on_asked(option, text); });
    line.duration("--kill-after TIME", options_.kill_after,
                  R"(from SIGTERM to SIGKILL; default 5, but at most a quarter of the lease or of --max-hold)");
    line.title(R"(Command)");
    line.text("-c, --command 'LINE'", shell_line_, R"(run a line of shell instead of a command)");
    line.number("--status-fd N", 1 << 20, options_.status_fd,
                R"(write a report as JSON to this descriptor at the end)");
    line.flag("--withhold-login", options_.withhold_login,
              R"(the command gets no HOLDFAST_PASSWORD, and no HOLDFAST_URL with a login in it)");
    line.text("--label TEXT", options_.label, R"(what inspect and ls call the holder; default: the command's name)");
    line.text("--metrics-file FILE", options_.metrics_file,
              R"(write how it went, for the textfile collector of node_exporter)");
  }
  void accept(const CommandLine& line) override {
    line.names_and_command(options_.names, options_.command, shell_line_.has_value());
    if (options_.any) options_.names = with_ranges(options_.names);
    words_.has_kind = line.has("--kind");
    settle_kind(options_, words_);
    options_.settle();
    take_shell_line("run", options_, shell_line_);
    line.hint_at_units(options_.names.front());
  }
  bool has_command() const override { return true; }
  int run(const Console& console) override { Run(options_, console).carry_out(); }

 private:
  RunOptions options_;
  KindWords words_;
  std::optional<std::string> shell_line_;
};

}  // namespace

extern const VerbEntry run_verb{.name = "run",
                                .summary = R"(run a command while holding one or more locks)",
                                .head = R"(holdfast run [OPTIONS] NAME... -- COMMAND...
holdfast run [OPTIONS] -c 'SHELL LINE' NAME...

Takes the lock, runs the command, and gives the lock back. The lease is renewed while the command runs; if that fails,
the command is ended before anyone else can have the lock. If several names are given, all are taken, or none.
)",
                                .end = R"(
The command gets HOLDFAST_NAME, HOLDFAST_OWNER, HOLDFAST_LEASE_MS, HOLDFAST_EXPIRES_MS (Unix time, later with renewals)
and, of a fenced lock, HOLDFAST_TOKEN, which grows with each run. It gets all signals, and standard output is its own.

Exit codes
  the command's own; 128+N if signal N killed it; 0 if there was nothing to do (--fresh, --at)
  1    not acquired (-n, -w); another number with -E
  64   wrong usage                          75   the lock was lost, the command was stopped
  69   no server (majority), or it refuses  126  the command cannot be executed
  70   internal error                       127  the command was not found

Examples
  holdfast run -n -E 0 --at-least 10m nightly-backup -- ./backup.sh     # once, on whichever machine comes first
  holdfast run --any 'gpu:{0..7}' -- sh -c 'CUDA_VISIBLE_DEVICES=${HOLDFAST_NAME#gpu:} exec ./train'
)",
                                .make = make_verb<RunVerb>};

}  // namespace holdfast::cli
