// `holdfast elect`: runs the command while this candidate leads, again and again.
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "cli/connect.hpp"
#include "cli/inherited.hpp"
#include "cli/metrics_file.hpp"
#include "cli/run_command.hpp"
#include "cli/run_lock.hpp"
#include "cli/run_metrics.hpp"
#include "cli/run_report.hpp"
#include "cli/run_settings.hpp"
#include "cli/verbs.hpp"
#include "cli/watcher.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

/// Between two attempts that failed.
constexpr milliseconds kBetweenAttempts{1000};

/// One use of the verb. The members are ordered as in `run`: descriptors are listed before any is opened, signals are
/// taken over before any thread starts.
class Candidacy {
 public:
  Candidacy(const CommonOptions& common, const ElectOptions& options, const Console& console)
      : common_(common),
        options_(options),
        console_(console),
        watcher_(std::make_shared<Watcher>(console, options.run.names)) {}

  RunReport& report() { return report_; }

  /// Terms, one after another. Returns the exit code.
  int go();
  /// As in `run`.
  void close() {
    if (lock_) lock_->close();
  }
  const SharedEnd& ended_by() const { return ended_by_; }
  /// Ends the lead, if any. Also writes the metrics of a candidate that never led.
  void follow();

 private:
  /// Set: the exit code, and there is no further term.
  std::optional<int> serve();
  /// Empty: an attempt failed, and there may be another one.
  std::optional<AcquisitionResult> stand();
  std::optional<int> lead(AcquisitionResult result);
  void begin_term(std::uint64_t token);
  void write_metrics();
  /// Set: a signal has ended the pause, and the tool.
  std::optional<int> pause(milliseconds time);
  int interrupted(int signal) {
    ended_by_ = {.signal = signal, .by_key = false};
    return 128 + signal;
  }

  InheritedFds inherited_;
  SignalGate signals_;
  const CommonOptions& common_;
  const ElectOptions& options_;
  const Console& console_;
  std::shared_ptr<Watcher> watcher_;
  RunReport report_;
  RunTimes times_;
  std::optional<RunLock> lock_;
  SharedEnd ended_by_;
  std::string trouble_;  // the last message about the server
  Terms terms_;
};

void Candidacy::write_metrics() {
  terms_.changed = std::chrono::system_clock::now();
  if (options_.run.metrics_file) {
    write_metrics_file(*options_.run.metrics_file, metrics_of(options_.run.names.front(), terms_), console_);
  }
}

void Candidacy::begin_term(std::uint64_t token) {
  terms_.leads = true;
  terms_.token = token;
  ++terms_.begun;
  write_metrics();
}

void Candidacy::follow() {
  if (!terms_.leads && terms_.changed != decltype(terms_.changed){}) return;
  if (std::exchange(terms_.leads, false) && report_.lost) ++terms_.lost;
  write_metrics();
}

int Candidacy::go() {
  report_.names = options_.run.names;
  report_.name = options_.run.names.front();
  std::vector<Config> configs = make_configs(common_, console_);
  if (configs.size() > 1) throw UsageError("elect is for one server: several have no token in common");
  Config& config = configs.front();
  times_ = run_times(options_.run, config);
  config.observer = watcher_;
  config.label = run_label(options_.run, config);
  lock_.emplace(options_.run, console_, report_, std::move(configs));
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
  RunCommand command(options_.run, times_, console_, report_,
                     RunCommand::Surroundings{inherited_, signals_, watcher_->wake()});
  int exit_code = kExitLost;
  try {
    exit_code = command.run(*lock_, *result.hold);
  } catch (const Error& error) {  // this process was frozen before the command began
    if (error.code() != Errc::lost || options_.once) throw;
    console_.note(error.what());
    follow();
    return std::nullopt;
  }
  follow();
  report_.renewals = lock_->renewals();
  report_.exit_code = exit_code;
  if (options_.once || command.told_to_end() || report_.end->exec_error != 0) {
    ended_by_ = command.ended_by();
    return exit_code;
  }
  write_report(options_.run, console_, report_);
  if (!report_.lost) {
    console_.note(fmt::format("{}: the command has ended with {}; the lead is given away", report_.lock_in_words(),
                              report_.end->shell_status()));
  }
  return report_.lost ? std::nullopt : pause(options_.rest);
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

}  // namespace

int elect(const CommonOptions& common, const ElectOptions& options, const Console& console) {
  Candidacy candidacy(common, options, console);
  try {
    candidacy.report().exit_code = candidacy.go();
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    console.problem(problem);
    candidacy.report().problem = problem;
    candidacy.report().exit_code = problem.exit_code;
  }
  candidacy.follow();
  candidacy.close();
  const int exit_code = candidacy.report().exit_code;
  if (!write_report(options.run, console, candidacy.report()) && exit_code != kExitLost) std::_Exit(kExitInternal);
  const SharedEnd end = candidacy.ended_by();
  if (end.by_key) SignalGate::signal_own_group(end.signal);
  if (end.signal != 0) SignalGate::die_of(end.signal);
  std::_Exit(exit_code);
}

}  // namespace holdfast::cli
