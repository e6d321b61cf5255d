// `holdfast run`: takes the lock, runs the command, releases the lock.
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

/// One use of the verb. The order of the members matters: descriptors are listed before any is opened, signals are
/// taken over before any thread starts.
class Run {
 public:
  Run(const CommonOptions& common, const RunOptions& options, const Console& console)
      : common_(common),
        options_(options),
        console_(console),
        watcher_(std::make_shared<Watcher>(console, options.names)) {}

  RunReport& report() { return report_; }

  int go();
  /// Releases what may still be ours, as far as that can be done soon. Then end the process without destroying this
  /// object, which might wait for a silent server.
  void close() {
    if (lock_) lock_->close();
  }
  /// The signal that ended the command, if any: the tool dies of it too.
  SharedEnd ended_by() const {
    return command_ ? command_->ended_by() : SharedEnd{lock_ ? lock_->interrupted_by() : 0};
  }
  /// The command does not get the descriptor of the report.
  void keep_back(int fd) {
    if (!inherited_.contains(fd)) throw UsageError(fmt::format("--status-fd {} is not open", fd));
    inherited_.keep_back(fd);
  }

 private:
  InheritedFds inherited_;
  SignalGate signals_;
  const CommonOptions& common_;
  const RunOptions& options_;
  const Console& console_;
  std::shared_ptr<Watcher> watcher_;
  RunReport report_;
  std::optional<RunLock> lock_;
  std::optional<RunCommand> command_;
};

int Run::go() {
  report_.names = options_.names;
  report_.name = options_.names.front();
  std::vector<Config> configs = make_configs(common_, console_);
  const RunTimes times = run_times(options_, configs.front());
  for (Config& config : configs) {
    config.observer = watcher_;
    config.label = run_label(options_, config);
  }
  lock_.emplace(options_, console_, report_, std::move(configs));

  AcquisitionResult result = lock_->acquire(times, signals_);
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
                              in_words(std::chrono::duration_cast<std::chrono::milliseconds>(result.waited))));
  command_.emplace(options_, times, console_, report_,
                   RunCommand::Surroundings{inherited_, signals_, watcher_->wake()});
  const int exit_code = command_->run(*lock_, *result.hold);
  report_.renewals = lock_->renewals();
  return exit_code;
}

}  // namespace

int run(const CommonOptions& common, const RunOptions& options, const Console& console) {
  Run run(common, options, console);
  if (options.status_fd) run.keep_back(*options.status_fd);
  try {
    run.report().exit_code = run.go();
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    console.problem(problem);
    run.report().problem = problem;
    run.report().exit_code = problem.exit_code;
  }
  run.close();
  const int exit_code = run.report().exit_code;
  if (options.metrics_file) {
    const Metrics metrics = metrics_of(run.report(), std::chrono::system_clock::now());
    write_metrics_file(*options.metrics_file, metrics, console);
  }
  // A loss is more important to report.
  if (!write_report(options, console, run.report()) && exit_code != kExitLost) {
    std::_Exit(kExitInternal);
  }
  const SharedEnd end = run.ended_by();
  if (end.by_key) SignalGate::signal_own_group(end.signal);
  if (end.signal != 0) SignalGate::die_of(end.signal);
  std::_Exit(exit_code);
}

}  // namespace holdfast::cli
