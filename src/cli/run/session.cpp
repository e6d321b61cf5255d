// SPDX-License-Identifier: Apache-2.0
#include "cli/run/session.hpp"

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <holdfast/observer.hpp>

#include "base/guarded.hpp"
#include "base/text.hpp"
#include "cli/fd.hpp"

namespace holdfast::cli {
namespace {

/// A renewal later than this is reported.
constexpr std::chrono::milliseconds kNotable{100};

}  // namespace

/// Reports what the library does, and wakes the main thread. Called on the notifier threads of the clients.
class Watcher : public Observer {
 public:
  Watcher(const Console& console, const std::vector<std::string>& names)
      : console_(console), lock_("lock " + base::quote(fmt::format("{}", fmt::join(names, ", ")))) {}

  /// Set whenever a renewal has succeeded.
  const EventFd& wake() const { return wake_; }

  void on_renewed(const RenewedEvent& event) override {
    wake_.set();
    const auto late = std::chrono::duration_cast<std::chrono::milliseconds>(event.late);
    console_.detail(lock_ + " renewed" + (late > kNotable ? fmt::format(", {} late", in_words(late)) : ""));
  }
  void on_suspect(const SuspectEvent& event) override {
    console_.note(fmt::format("lock {} could not be renewed ({}); it is certainly held for another {}",
                              base::quote(event.name), event.cause,
                              in_words(std::chrono::duration_cast<std::chrono::milliseconds>(event.valid_for))));
  }
  void on_waiting(const WaitingEvent& event) override {
    if (!event.cause.empty()) console_.detail(fmt::format("{}: waiting: {}", lock_, event.cause));
  }
  void on_connection(const ConnectionEvent& event) override {
    const base::Guard guard(mutex_);
    Link& link = links_[event.node];
    if (event.connected) {
      if (!link.trouble.empty()) console_.detail(fmt::format("connected to {}{}", event.node, link.again()));
      link = {.trouble = {}, .connected_before = true};
    } else if (event.needed && link.trouble != event.cause) {
      // Every attempt arrives here, but one with the same result as the last is not reported again.
      link.trouble = event.cause;
      console_.detail(fmt::format("no connection to {}: {}", event.node, event.cause));
    }
  }

 private:
  struct Link {
    std::string trouble;  // why there is none, if that was reported
    bool connected_before = false;
    const char* again() const { return connected_before ? " again" : ""; }
  };

  const Console& console_;
  const std::string lock_;
  const EventFd wake_;
  base::Mutex mutex_;
  std::map<std::string, Link> links_ HOLDFAST_GUARDED_BY(mutex_);  // by node
};

RunSession::RunSession(const RunOptions& options, const Console& console)
    : options_(options), console_(console), watcher_(std::make_shared<Watcher>(console, options.names)) {
  report_.names = options.names;
  report_.name = options.names.front();
  if (!options.status_fd) return;
  if (!inherited_.contains(*options.status_fd)) {
    throw UsageError(fmt::format("--status-fd {} is not open", *options.status_fd));
  }
  inherited_.keep_back(*options.status_fd);  // the command does not get it
}

void RunSession::make_lock(std::vector<Config> configs) {
  times_ = run_times(options_, configs.front());
  for (Config& config : configs) {
    config.observer = watcher_;
    config.label = run_label(options_, config);
  }
  lock_.emplace(options_, console_, report_, std::move(configs));
}

RunCommand RunSession::command() {
  return {options_, times_, console_, report_, RunCommand::Surroundings{inherited_, signals_, watcher_->wake()}};
}

void RunSession::carry_out() {
  try {
    report_.exit_code = go();
  } catch (...) {
    const Problem problem = Problem::from_current_exception();
    console_.problem(problem);
    report_.problem = problem;
    report_.exit_code = problem.exit_code;
  }
  if (lock_) lock_->close();
  write_metrics();
  // A loss is more important to report.
  if (!write_report(options_, console_, report_) && report_.exit_code != kExitLost) std::_Exit(kExitInternal);
  const SharedEnd end = ended_by();
  if (end.by_key) SignalGate::signal_own_group(end.signal);
  if (end.signal != 0) SignalGate::die_of(end.signal);
  std::_Exit(report_.exit_code);
}

}  // namespace holdfast::cli
