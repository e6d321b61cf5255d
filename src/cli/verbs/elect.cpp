// SPDX-License-Identifier: Apache-2.0
// `holdfast elect`: runs the command while this candidate leads, again and again; or only reports who leads.
#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/json.hpp"
#include "cli/run/session.hpp"
#include "cli/source.hpp"
#include "cli/verbs.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// Between two attempts that failed.
constexpr milliseconds kBetweenAttempts{1000};

class Candidacy : public RunSession {
 public:
  /// `rest`: between two terms, for others.
  Candidacy(const RunOptions& options, bool once, milliseconds rest, const Console& console)
      : RunSession(options, console), once_(once), rest_(rest) {}

 private:
  /// Terms, one after another.
  int go() override;
  void write_metrics() override { follow(); }
  SharedEnd ended_by() const override { return ended_by_; }

  /// Set: the exit code, and there is no further term.
  std::optional<int> serve();
  /// Empty: an attempt failed, and there may be another one.
  std::optional<AcquisitionResult> stand();
  std::optional<int> lead(AcquisitionResult result);
  void begin_term(std::uint64_t token);
  /// Ends the lead, if any. Also writes the metrics of a candidate that never led.
  void follow();
  void write_terms();
  /// Set: a signal has ended the pause, and the tool.
  std::optional<int> pause(milliseconds time);
  int interrupted(int signal) {
    ended_by_ = {.signal = signal, .by_key = false};
    return 128 + signal;
  }

  const bool once_;
  const milliseconds rest_;
  SharedEnd ended_by_;
  std::string trouble_;  // the last message about the server
  Terms terms_;
};

void Candidacy::write_terms() {
  terms_.changed = std::chrono::system_clock::now();
  if (options_.metrics_file) {
    write_metrics_file(*options_.metrics_file, metrics_of(options_.names.front(), terms_), console_);
  }
}

void Candidacy::begin_term(std::uint64_t token) {
  terms_.leads = true;
  terms_.token = token;
  ++terms_.begun;
  write_terms();
}

void Candidacy::follow() {
  if (!terms_.leads && terms_.changed != decltype(terms_.changed){}) return;
  if (std::exchange(terms_.leads, false) && report_.lost) ++terms_.lost;
  write_terms();
}

int Candidacy::go() {
  std::vector<Config> configs = make_configs(console_);
  if (configs.size() > 1) throw UsageError("elect is for one server: several have no token in common");
  make_lock(std::move(configs));
  const RunReport blank = report_;
  follow();
  while (true) {
    if (const std::optional<int> exit_code = serve()) return *exit_code;
    report_ = blank;
  }
}

std::optional<int> Candidacy::serve() {
  std::optional<AcquisitionResult> result = stand();
  if (const int signal = lock_->interrupted_by(); signal != 0) {
    if (result) lock_->release(*result->hold);
    console_.detail(fmt::format("{}: {} while waiting", report_.lock_in_words(), SignalGate::name(signal)));
    return interrupted(signal);
  }
  if (!result) return pause(kBetweenAttempts);
  trouble_.clear();
  return lead(std::move(*result));
}

std::optional<AcquisitionResult> Candidacy::stand() {
  AcquisitionResult result = lock_->acquire(times_, signals_);
  report_.waited = result.waited;
  report_.waited_for = result.holder;
  if (result.hold) return result;
  if (lock_->interrupted_by() != 0) return std::nullopt;
  try {
    lock_->not_acquired(result);
  } catch (const Error& error) {
    if (!error.may_pass()) throw;
    if (trouble_ != error.what()) console_.note(fmt::format("{}; trying again", error.what()));
    trouble_ = error.what();
  }
  return std::nullopt;
}

std::optional<int> Candidacy::lead(AcquisitionResult result) {
  report_.acquired = true;
  report_.owner = result.hold->owner();
  const std::uint64_t token = result.hold->token().value_or(0);
  console_.note(fmt::format("{}: this candidate is the leader, with token {}", report_.lock_in_words(), token));
  begin_term(token);
  RunCommand running = command();
  int exit_code = kExitLost;
  try {
    exit_code = running.run(*lock_, *result.hold);
  } catch (const Error& error) {  // this process was frozen before the command began
    if (error.code() != Errc::lost || once_) throw;
    console_.note(error.what());
    follow();
    return std::nullopt;
  }
  follow();
  report_.renewals = lock_->renewals();
  report_.exit_code = exit_code;
  if (once_ || running.told_to_end() || report_.end->exec_error != 0) {
    ended_by_ = running.ended_by();
    return exit_code;
  }
  write_report(options_, console_, report_);
  if (!report_.lost) {
    console_.note(fmt::format("{}: the command has ended with {}; the lead is given away", report_.lock_in_words(),
                              report_.end->shell_status()));
  }
  return report_.lost ? std::nullopt : pause(rest_);
}

std::optional<int> Candidacy::pause(milliseconds time) {
  const Timer timer;
  const base::TimePoint end = base::Clock::now() + time;
  timer.arm(end);
  while (base::Clock::now() < end) {
    wait_readable(std::array{signals_.fd(), timer.get()});
    while (const std::optional<int> signal = signals_.next()) {
      if (SignalGate::is_ending(*signal)) return interrupted(*signal);
    }
  }
  return std::nullopt;
}

/// Between two checks.
constexpr milliseconds kBetweenLooks{250};

struct Leading {
  LockInfo info;
  std::int64_t token = 0;
};

/// The present leader, if the server answers, with a token that is certainly that leader's. Empty: the leader has
/// changed meanwhile.
std::optional<Leading> look_for_leader(const FencedLock& lock, const std::string& seen) {
  LockInfo info = lock.info(InfoDetail::owner);
  if (info.owner == seen || info.owner.empty()) return Leading{std::move(info)};
  const std::int64_t token = lock.latest_token();
  LockInfo again = lock.info(InfoDetail::holder_if_cheap);
  if (again.owner != info.owner) return std::nullopt;
  return Leading{std::move(again), token};
}

std::string leader_json(const Leading& leading) {
  boost::json::object out = cli::to_json(leading.info);
  const bool held = !leading.info.owner.empty();
  out["token"] = held ? boost::json::value(leading.token) : boost::json::value(nullptr);
  return json_line(out);
}

std::string leader_line(const Leading& leading) {
  if (leading.info.owner.empty()) return "nobody leads\n";
  return fmt::format("{} is the leader, with token {}\n", holder_in_words(leading.info), leading.token);
}

[[noreturn]] void watch_election(const std::string& name, const Console& console) {
  std::vector<Config> configs = make_configs(console);
  if (configs.size() > 1) throw UsageError("elect is for one server: several have no token in common");
  const Client client(std::move(configs.front()));
  const FencedLock lock = client.fenced_lock(name);
  std::optional<std::string> seen;
  std::string trouble;
  while (true) {
    milliseconds next = kBetweenLooks;
    try {
      const std::optional<Leading> leading = look_for_leader(lock, seen.value_or(""));
      trouble.clear();
      if (!leading) continue;
      if (leading->info.owner != seen) console.result(console.json() ? leader_json(*leading) : leader_line(*leading));
      seen = leading->info.owner;
      if (leading->info.remaining) next = std::min(next, *leading->info.remaining + milliseconds(1));
    } catch (const Error& error) {
      if (!error.may_pass()) throw;
      if (trouble != error.what()) console.note(fmt::format("{}; trying again", error.what()));
      trouble = error.what();
    }
    std::this_thread::sleep_for(next);
  }
}

class ElectVerb final : public Verb {
 public:
  void declare(CommandLine& line) override {
    line.flag("--watch", watch_, R"(print a line for each new leader, and for none; take part in nothing)");
    line.flag("--once", once_, R"(end with the first term, with the exit code that run would have)");
    line.duration("--rest TIME", rest_,
                  R"(stand back this long after a term that was not lost, so that others get theirs; default 1)");
    line.duration("--lease TIME", run_.lease,
                  R"(how long the others wait after a crash; default 30, so give a shorter one)", milliseconds(10));
    line.duration("--kill-after TIME", run_.kill_after,
                  R"(time from SIGTERM to SIGKILL after a loss, within the lease; default 5, but at most a
quarter of the lease)");
    line.text("-c, --command 'LINE'", shell_line_, R"(run a line of shell instead of a command)");
    line.flag("--withhold-login", run_.withhold_login,
              R"(the command gets no HOLDFAST_PASSWORD, and no HOLDFAST_URL with a login in it)");
    line.text("--label TEXT", run_.label,
              R"(what inspect, ls and --watch call the leader; default: the command's name)");
    line.text("--metrics-file FILE", run_.metrics_file,
              R"(write whether it leads, for the textfile collector of node_exporter)");
  }
  void accept(const CommandLine& line) override {
    if (watch_) {
      run_.names = {line.only("the name of the lock")};
      return;
    }
    line.names_and_command(run_.names, run_.command, shell_line_.has_value());
    if (run_.names.size() > 1) {
      throw UsageError(fmt::format("{}: one argument too many: {}", "elect", shown(run_.names[1])));
    }
    take_shell_line("elect", run_, shell_line_);
    run_.kind = LockKind::fenced;
    run_.campaigns = true;
  }
  bool has_command() const override { return !watch_; }
  int run(const Console& console) override {
    if (watch_) watch_election(run_.names.front(), console);
    Candidacy(run_, once_, rest_, console).carry_out();
  }

 private:
  RunOptions run_;  // each term
  bool once_ = false;
  milliseconds rest_{1000};
  bool watch_ = false;  // only report who leads
  std::optional<std::string> shell_line_;
};

}  // namespace

extern const VerbEntry elect_verb{.name = "elect",
                                  .summary = R"(run a command while this candidate leads)",
                                  .head = R"(holdfast elect [OPTIONS] NAME -- COMMAND...
holdfast elect [OPTIONS] -c 'SHELL LINE' NAME
holdfast elect --watch [OPTIONS] NAME

Of all that run this for one name, on any machine, one leads and runs its command; the others wait. The command has
ended before the lead is given away. Whatever ends a term, this candidate then stands for the next one, until a signal
ends it. The lock is of the kind fenced, of one name on one server.
)",
                                  .end = R"(
The command gets what run gives it; HOLDFAST_TOKEN is larger in each term than in all before, for a store that refuses
lower ones. With --json a report of each term goes to standard error.

When the term ends
  the command has ended, however     the lead is given away at once; then --rest, and the next campaign
  the lead is lost                   the command is ended before anyone else can lead, as by run; then the next campaign
  SIGTERM, SIGINT, SIGHUP, SIGQUIT   passed on to the command; once it has ended the lead is given away at once, and the
                                     tool ends
A server that cannot be reached is tried again, for ever.

Exit codes
  after a signal the command's own, 128+N if signal N killed it; while waiting the tool dies of the signal
  64   wrong usage                          75   with --once: the lead was lost, the command was stopped
  69   the server refuses                   126  the command cannot be executed
  70   internal error                       127  the command was not found

Examples
  holdfast elect --lease 5s scheduler -- ./scheduler
  holdfast elect --watch scheduler
)",
                                  .make = make_verb<ElectVerb>};

}  // namespace holdfast::cli
