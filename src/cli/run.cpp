// `holdfast run`: takes the lock, runs the command, gives the lock back.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <future>
#include <memory>
#include <sstream>
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

/// How long the tool tries to give back a lock that is lost, or could not be renewed. Others get it with the lease
/// anyway.
constexpr milliseconds kLastWord{300};

/// The owners of the runs around a command, the innermost last.
constexpr const char* kOwners = "HOLDFAST_OWNERS";

milliseconds in_ms(base::Duration duration) { return std::chrono::duration_cast<milliseconds>(duration); }

/// One use of the verb. The order of the members is the order in which things are made: descriptors are looked at
/// before any is opened, signals are taken over before any thread is started.
class Run {
 public:
  Run(const CommonOptions& common, const RunOptions& options, const Console& console)
      : common_(common), options_(options), console_(console), watcher_(std::make_shared<Watcher>(console)) {}

  RunReport& report() { return report_; }

  int go();
  /// Gives what may still be ours back, as far as that can be done soon. Then end the process without destroying this:
  /// something may still wait for a silent server.
  void close();
  /// The signal that has ended it, if one has: the tool dies of it too.
  const SharedEnd& ended_by() const { return ended_by_; }
  /// The descriptor of the report is not for the command.
  void keep_back(int fd) {
    if (!inherited_.contains(fd)) throw UsageError(fmt::format("--status-fd {} is not open", fd));
    inherited_.keep_back(fd);
  }

 private:
  AcquisitionResult acquire(const RunTimes& times);
  int not_acquired(const AcquisitionResult& result);
  void refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders) const;
  int interrupted();
  int run_command(Hold& hold, const RunTimes& times);
  /// True if the command was told to end because of the lock.
  bool supervise(const Hold& hold, const RunTimes& times, Guard& guard);
  void release(Hold& hold);
  int conclude(bool acted);
  const char* reason_in_words() const;
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
  int interrupted_by_ = 0;  // while it waited
  SharedEnd ended_by_;
  std::future<ReleaseOutcome> last_word_;
  bool gone_ = false;  // the lock was lost before the command had ended
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
  servers_.emplace(std::move(configs));
  report_.node = servers_->in_words();
  report_.nodes = servers_->nodes();

  AcquisitionResult result = acquire(times);
  report_.waited = result.waited;
  report_.waited_for = result.holder;
  if (!result.hold) {
    if (interrupted_by_ == 0) return not_acquired(result);
    console_.detail(fmt::format("{}: {} while waiting", lock_in_words(), SignalGate::name(interrupted_by_)));
    return interrupted();
  }
  report_.acquired = true;
  report_.owner = result.hold->owner();
  if (interrupted_by_ != 0) {
    release(*result.hold);
    return interrupted();
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
  const bool reports = console_.json() || options_.status_fd;
  AskHolder ask{.ask = [&](milliseconds limit) { return servers_->holders(options_.names, options_.kind, limit); },
                .before = {},
                .after = reports || !console_.quiet()};
  if (console_.verbose() || reports || std::getenv(kOwners) != nullptr) {
    ask.before = [this](const std::vector<LockInfo>& holders) {
      refuse_to_wait_for_ourselves(holders);
      console_.detail(fmt::format("{}: held by {}, waiting", lock_in_words(), holder_in_words(holders.front())));
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

void Run::refuse_to_wait_for_ourselves(const std::vector<LockInfo>& holders) const {
  const char* around = std::getenv(kOwners);
  std::istringstream owners(around == nullptr ? "" : around);
  for (std::string owner; owners >> owner;) {
    for (const LockInfo& info : holders) {
      if (info.owner != owner) continue;
      throw UsageError(
          fmt::format("lock {} is held by a run that this command is part of, so it would wait for itself; "
                      "if that run does not wait for this command, unset {}",
                      base::quote(info.name), kOwners));
    }
  }
}

int Run::interrupted() {
  ended_by_.signal = interrupted_by_;
  return 128 + interrupted_by_;
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
      // After a longer wait the failure itself names the holder.
      const std::string who = holder_in_words(*result.holder);
      const bool named = told.cause().find(who) != std::string::npos;
      failure.message += fmt::format(" ({}{})", named ? printable(result.holder->owner) : who,
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
  Guard guard;
  if (options_.on_lost != OnLost::warn) guard.must_end_by(start + hold.valid_for());
  const bool acted = supervise(hold, times, guard);
  // It ends while the server answers.
  guard.dismiss();
  const base::TimePoint certain_until = base::Clock::now() + hold.valid_for();
  release(hold);
  report_.held = std::min(base::Clock::now(), certain_until) - start;
  if (report_.release == ReleaseOutcome::was_lost && !gone_) {
    gone_ = true;
    report_.lost = true;
    if (!report_.loss_reason) report_.loss_reason = LossReason::taken;
  }
  return conclude(acted);
}

void Run::release(Hold& hold) {
  if (!report_.lost) {
    report_.release = hold.release();
    return;
  }
  // The server may be silent, and nobody is served by waiting for it.
  last_word_ =
      std::async(std::launch::async, [last = std::make_shared<Hold>(std::move(hold))] { return last->release(); });
  const bool answered = last_word_.wait_for(kLastWord) == std::future_status::ready;
  report_.release = answered ? last_word_.get() : ReleaseOutcome::unknown;
}

void Run::close() {
  if (!servers_) return;
  const bool waited_for_it = report_.lost || report_.release == ReleaseOutcome::unknown;
  // Of several servers some may not have heard of the release yet.
  const bool settled = report_.release == ReleaseOutcome::released && report_.nodes.size() == 1;
  if (!waited_for_it && !settled) servers_->close();
}

bool Run::supervise(const Hold& hold, const RunTimes& times, Guard& guard) {
  Terminal terminal;
  Child child(options_.command, environment(hold, times), signals_, inherited_, guard, terminal.to_begin_with());
  report_.pid = child.pid();
  Supervisor supervisor(hold, child, guard, terminal, signals_, watcher_->wake(), console_,
                        {.on_lost = options_.on_lost,
                         .kill_after = times.kill_after,
                         .margin = times.margin,
                         .max_hold = options_.max_hold,
                         .lock = lock_in_words()});
  supervisor.run();
  report_.end = child.end();
  gone_ = supervisor.lost();
  report_.lost = gone_ || supervisor.acted();
  report_.loss_reason = supervisor.loss_reason();
  ended_by_ = supervisor.shared_end();
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
  if (report_.lost) {
    const std::string message = fmt::format("{} {} while the command ran ({})", lock_in_words(),
                                            gone_ ? "was lost" : "was about to end", reason_in_words());
    if (options_.on_lost != OnLost::warn) {
      ended_by_ = {};
      return fail({"lost", message + (acted ? "; the command was stopped" : "; the command had ended by itself"),
                   report_.name, report_.node, kExitLost});
    }
    console_.note(message);
  } else if (report_.release == ReleaseOutcome::unknown) {
    console_.note(
        fmt::format("{}: the release was not confirmed; the lock ends with its lease at the latest", lock_in_words()));
  } else {
    console_.detail(
        fmt::format("{}: {} after {}", lock_in_words(), to_string(*report_.release), in_words(in_ms(report_.held))));
  }
  return end.shell_status();
}

const char* Run::reason_in_words() const {
  switch (report_.loss_reason.value_or(LossReason::expired)) {
    case LossReason::taken:
      return "broken by somebody, expired on the server, or its data are gone";
    case LossReason::max_hold:
      return "--max-hold is over";
    case LossReason::expired:
    case LossReason::closed:
    case LossReason::forked:
      break;
  }
  return gone_ ? "no renewal came through in time" : "no renewal came through";
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
  const char* around = std::getenv(kOwners);
  const std::string owners = around == nullptr ? hold.owner() : fmt::format("{} {}", around, hold.owner());
  return {"HOLDFAST_NAME=" + names, "HOLDFAST_OWNER=" + hold.owner(), fmt::format("{}={}", kOwners, owners),
          fmt::format("HOLDFAST_EXPIRES_MS={}", expires.count()),
          fmt::format("HOLDFAST_LEASE_MS={}", times.lease.count())};
}

/// The report goes to the descriptor asked for, or to standard error: standard output is the command's. False if it
/// cannot be written.
bool write_report(const RunOptions& options, const Console& console, const RunReport& report) {
  if (!options.status_fd && !console.json()) return true;
  try {
    write_all(options.status_fd.value_or(STDERR_FILENO), json_line(report.to_json()));
    return true;
  } catch (const std::system_error& error) {
    console.failure(Failure::internal(error.what()));
    return false;
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
  run.close();
  const int exit_code = run.report().exit_code;
  // A loss is the worse news.
  if (!write_report(options, console, run.report()) && exit_code != kExitLost) {
    std::_Exit(kExitInternal);
  }
  const SharedEnd& end = run.ended_by();
  if (end.by_key) SignalGate::signal_own_group(end.signal);
  if (end.signal != 0) SignalGate::die_of(end.signal);
  std::_Exit(exit_code);
}

}  // namespace holdfast::cli
