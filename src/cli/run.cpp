// `holdfast run`: takes the lock, runs the command, gives the lock back.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include <fmt/format.h>

#include <holdfast/client.hpp>

#include "base/text.hpp"
#include "cli/acquisition.hpp"
#include "cli/child.hpp"
#include "cli/connect.hpp"
#include "cli/json.hpp"
#include "cli/run_report.hpp"
#include "cli/run_settings.hpp"
#include "cli/servers.hpp"
#include "cli/supervisor.hpp"
#include "cli/verbs.hpp"
#include "cli/watcher.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

milliseconds in_ms(base::Duration duration) { return std::chrono::duration_cast<milliseconds>(duration); }

/// One use of the verb. The order of the members is the order in which things are made: descriptors are looked at
/// before any is opened, signals are taken over before any thread is started.
class Run {
 public:
  Run(const CommonOptions& common, const RunOptions& options, const Console& console)
      : common_(common), options_(options), console_(console), watcher_(std::make_shared<Watcher>(console)) {}

  RunReport& report() { return report_; }

  int go();
  /// Ends the connections; false if one hangs. Then end the process without destroying this.
  bool close() { return !servers_ || servers_->close(); }
  /// The descriptor of the report is not for the command.
  void keep_back(int fd) {
    if (!inherited_.contains(fd)) throw UsageError(fmt::format("--status-fd {} is not open", fd));
    inherited_.keep_back(fd);
  }

 private:
  AcquisitionResult acquire(const RunTimes& times);
  int not_acquired(const AcquisitionResult& result);
  int run_command(Hold& hold, const RunTimes& times);
  /// True if the command was told to end because of the lock.
  bool supervise(const Hold& hold, const RunTimes& times);
  int conclude(bool acted);
  std::string reason_in_words() const;
  int fail(const Failure& failure);
  std::vector<std::string> environment(const Hold& hold, const RunTimes& times) const;
  std::string lock_in_words() const { return fmt::format("lock {} on {}", base::quote(report_.name), report_.node); }

  InheritedFds inherited_;
  SignalGate signals_;
  const CommonOptions& common_;
  const RunOptions& options_;
  const Console& console_;
  std::shared_ptr<Watcher> watcher_;
  RunReport report_;
  std::optional<Servers> servers_;
  int interrupted_by_ = 0;
};

int Run::go() {
  report_.names = options_.names;
  report_.name = options_.names.front();
  std::vector<Config> configs = make_configs(common_);
  const RunTimes times = run_times(options_, configs.front());
  for (Config& config : configs) config.observer = watcher_;
  servers_.emplace(std::move(configs));
  report_.node = servers_->in_words();
  report_.nodes = servers_->nodes();

  AcquisitionResult result = acquire(times);
  report_.waited = result.waited;
  report_.waited_for = result.holder;
  if (!result.hold) {
    if (interrupted_by_ == 0) return not_acquired(result);
    console_.detail(fmt::format("{}: {} while waiting", lock_in_words(), SignalGate::name(interrupted_by_)));
    return 128 + interrupted_by_;
  }
  report_.acquired = true;
  report_.owner = result.hold->owner();
  if (interrupted_by_ != 0) {
    report_.release = result.hold->release();
    return 128 + interrupted_by_;
  }
  console_.detail(fmt::format("{}: acquired after {}", lock_in_words(), in_words(in_ms(result.waited))));
  const int exit_code = run_command(*result.hold, times);
  report_.renewals = servers_->renewals();
  return exit_code;
}

AcquisitionResult Run::acquire(const RunTimes& times) {
  BasicLock lock = servers_->lock(options_.names, options_.kind);
  report_.name = lock.name();
  AcquireOptions options;
  options.wait = options_.wait;
  options.lease = renewed(times.lease);
  options.max_hold = options_.max_hold;
  AskHolder ask{
      .ask = [&] { return servers_->holder(options_.names, options_.kind); }, .before = {}, .after = !console_.quiet()};
  if (console_.verbose() || console_.json() || options_.status_fd) {
    ask.before = [this](const LockInfo& info) {
      console_.detail(fmt::format("{}: held by {}, waiting", lock_in_words(), printable(info.owner)));
    };
  }
  Acquisition acquisition(lock, options, std::move(ask));
  while (interrupted_by_ == 0 && !acquisition.done()) {
    wait_readable(std::array{signals_.fd(), acquisition.done_fd()});
    while (const std::optional<int> signal = signals_.next()) {
      if (SignalGate::is_ending(*signal)) interrupted_by_ = *signal;
    }
  }
  if (interrupted_by_ != 0) acquisition.stop();
  return acquisition.take();
}

int Run::not_acquired(const AcquisitionResult& result) {
  try {
    std::rethrow_exception(result.failure);
  } catch (const Error& error) {
    auto code = static_cast<Errc>(error.code().value());
    const bool in_vain = code == Errc::busy || code == Errc::timed_out;
    if (in_vain && options_.wait == milliseconds::zero()) code = Errc::busy;
    // Where there are several servers, the cause names them already.
    const Error told(code, error.key(), error.node().empty() ? "" : report_.node, error.cause());
    if (!in_vain) throw Error(told);
    Failure failure = Failure::from(told);
    failure.exit_code = options_.conflict_exit_code;
    if (result.holder) {
      const auto left = result.holder->remaining;
      failure.message += fmt::format(" ({}{})", printable(result.holder->owner),
                                     left ? fmt::format(", {} left", in_words(*left)) : "");
    }
    report_.failure = failure;
    console_.note(failure.message);
    return failure.exit_code;
  }
}

int Run::run_command(Hold& hold, const RunTimes& times) {
  if (hold.valid_for() <= milliseconds::zero()) {
    throw Error(Errc::lost, report_.name, report_.node, "before the command was started");
  }
  signals_.refuse_suspension();
  const base::TimePoint start = base::Clock::now();
  const bool acted = supervise(hold, times);
  report_.release = hold.release();
  report_.held = base::Clock::now() - start;
  report_.lost = report_.lost || report_.release == ReleaseOutcome::was_lost;
  return conclude(acted);
}

bool Run::supervise(const Hold& hold, const RunTimes& times) {
  const Guard guard;
  Child child(options_.command, environment(hold, times), signals_, inherited_, guard);
  report_.pid = child.pid();
  Supervisor supervisor(hold, child, guard, signals_, watcher_->wake(), console_,
                        {.on_lost = options_.on_lost,
                         .kill_after = times.kill_after,
                         .margin = times.margin,
                         .max_hold = options_.max_hold,
                         .lock = lock_in_words()});
  supervisor.run();
  report_.end = child.end();
  report_.lost = supervisor.lost();
  if (supervisor.reached_max_hold()) report_.loss_reason = LossReason::max_hold;
  return supervisor.acted();
}

int Run::conclude(bool acted) {
  const ChildEnd& end = *report_.end;
  if (end.exec_error != 0) {
    const bool not_found = end.exec_error == ENOENT;
    return fail({not_found ? "not_found" : "not_executable",
                 fmt::format("cannot run {}: {}", base::quote(options_.command.front()),
                             std::generic_category().message(end.exec_error)),
                 report_.name, report_.node, end.shell_status()});
  }
  if (acted || report_.lost) {
    if (!report_.loss_reason) report_.loss_reason = watcher_->loss_reason();
    const std::string message = fmt::format("{} {} while the command ran{}", lock_in_words(),
                                            report_.lost ? "was lost" : "was about to end", reason_in_words());
    if (options_.on_lost != OnLost::warn) {
      return fail({"lost", message + (acted ? "; the command was stopped" : "; the command had ended by itself"),
                   report_.name, report_.node, kExitLost});
    }
    console_.note(message);
  } else if (report_.release == ReleaseOutcome::unknown) {
    console_.note(
        fmt::format("{}: the release was not confirmed; it ends with its lease at the latest", lock_in_words()));
  } else {
    console_.detail(
        fmt::format("{}: {} after {}", lock_in_words(), to_string(*report_.release), in_words(in_ms(report_.held))));
  }
  return end.shell_status();
}

std::string Run::reason_in_words() const {
  if (!report_.loss_reason) return report_.lost ? "" : " (no renewal came through)";
  switch (*report_.loss_reason) {
    case LossReason::expired:
      return " (no renewal came through in time)";
    case LossReason::taken:
      return " (broken by somebody, expired on the server, or its data are gone)";
    case LossReason::max_hold:
      return " (--max-hold is over)";
    case LossReason::closed:
      break;
  }
  return "";
}

int Run::fail(const Failure& failure) {
  console_.failure(failure);
  report_.failure = failure;
  return failure.exit_code;
}

std::vector<std::string> Run::environment(const Hold& hold, const RunTimes& times) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto expires = std::chrono::duration_cast<milliseconds>(now) + hold.valid_for();
  std::string names;
  for (const std::string& name : options_.names) names += (names.empty() ? "" : "\n") + name;
  return {"HOLDFAST_NAME=" + names, "HOLDFAST_OWNER=" + hold.owner(),
          fmt::format("HOLDFAST_EXPIRES_MS={}", expires.count()),
          fmt::format("HOLDFAST_LEASE_MS={}", times.lease.count())};
}

/// The report goes to the descriptor asked for, or to standard error: standard output is the command's.
void write_report(const RunOptions& options, const Console& console, const RunReport& report) {
  if (!options.status_fd && !console.json()) return;
  try {
    write_all(options.status_fd.value_or(STDERR_FILENO), json_line(report.to_json()));
  } catch (const std::system_error& error) {
    console.failure(Failure::internal(error.what()));
  }
}

}  // namespace

int run(const CommonOptions& common, const RunOptions& options, const Console& console) {
  Run run(common, options, console);
  if (options.status_fd) run.keep_back(*options.status_fd);
  try {
    run.report().exit_code = run.go();
  } catch (...) {
    const Failure failure = Failure::from_current_exception();
    console.failure(failure);
    run.report().failure = failure;
    run.report().exit_code = failure.exit_code;
  }
  const bool closed = run.close();
  write_report(options, console, run.report());
  if (!closed) std::_Exit(run.report().exit_code);
  return run.report().exit_code;
}

}  // namespace holdfast::cli
