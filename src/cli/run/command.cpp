// SPDX-License-Identifier: Apache-2.0
#include "cli/run/command.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/at_servers.hpp"
#include "cli/run/child.hpp"
#include "cli/run/lost_policy.hpp"

namespace holdfast::cli {
namespace {

using std::chrono::milliseconds;

// The rest of the process group after the command has ended: first it may end by itself, then it gets SIGTERM, then
// SIGKILL.
constexpr milliseconds kLeftoverGrace{200};
constexpr milliseconds kLeftoverTerm{500};
constexpr milliseconds kLeftoverKill{500};
constexpr milliseconds kLeftoverLook{10};

/// How often to check whether the terminal can be lent, while the command is stopped for lack of it.
constexpr milliseconds kTerminalLook{200};

/// What a command without a login must not inherit.
std::vector<std::string> variables_with_login() {
  std::vector<std::string> names{"HOLDFAST_PASSWORD"};
  const char* const url = std::getenv("HOLDFAST_URL");
  if (url != nullptr && has_login(url)) names.emplace_back("HOLDFAST_URL");
  return names;
}

}  // namespace

/// Supervises the running command: signals, the terminal, and the lock. One command under one hold.
class RunCommand::Supervisor {
 public:
  /// Starts it.
  Supervisor(RunCommand& run, Hold& hold, Guard& guard)
      : run_(run),
        hold_(hold),
        guard_(guard),
        lock_(run.report_.lock_in_words()),
        policy_(run.options_.on_lost, run.times_.kill_after, run.times_.margin),
        granted_(base::Clock::now() + hold.valid_for() - run.times_.shortest),
        child_(run.options_.command, run.environment(hold), signals(), run.surroundings_.inherited, guard,
               terminal_.to_begin_with()) {
    run_.report_.pid = child_.pid();
  }

  /// Returns when the command and its whole process group have ended. True if the command was asked to end because of
  /// the lock.
  bool run();

 private:
  const SignalGate& signals() const { return run_.surroundings_.signals; }
  const EventFd& wake() const { return run_.surroundings_.wake; }
  const Console& console() const { return run_.console_; }

  void wait_for_news();
  void keep_guard();
  void obey_policy();
  void act(LostAction action, milliseconds valid_for);
  void listen_asked();
  void obey_asked();
  void obey_signals();
  void on_signal(int signal);
  void on_stopped(int signal);
  void offer_terminal();
  void clear_group();
  bool group_ends_within(base::Duration limit);
  bool await_group(base::TimePoint end);
  SharedEnd shared_end() const;

  RunCommand& run_;
  Hold& hold_;
  Guard& guard_;
  const std::string lock_;  // for messages
  LostPolicy policy_;
  const base::TimePoint granted_;
  Terminal terminal_;
  Child child_;
  Timer timer_;
  std::optional<base::TimePoint> next_look_;
  bool ended_ = false;
  bool lost_ = false;  // while the command ran
  std::optional<LossReason> loss_reason_;
  std::set<int> passed_on_;
  const std::shared_ptr<std::atomic<bool>> asked_ = std::make_shared<std::atomic<bool>>(false);  // outlives the hold
  bool wants_terminal_ = false;  // the command is stopped until it gets it
  bool told_of_background_ = false;
  bool told_of_guard_ = false;
};

bool RunCommand::Supervisor::run() {
  const std::stop_callback on_loss(hold_.lost_token(), [this] { wake().set(); });
  if (terminal_.is_all_ours()) terminal_.lend(child_.pid());
  if (run_.options_.on_asked) listen_asked();
  obey_policy();
  while (!ended_) {
    wait_for_news();
    keep_guard();
    // Before the signals: a tool that was stopped for too long must not pass on SIGCONT first.
    obey_policy();
    obey_asked();
    obey_signals();
    if (wants_terminal_) offer_terminal();
  }
  if (child_.end().signal != 0) {
    terminal_.take_back_from_killed();
  } else {
    terminal_.take_back();
  }
  clear_group();
  run_.report_.end = child_.end();
  run_.gone_ = lost_;
  run_.report_.lost = lost_ || policy_.acted();
  run_.report_.loss_reason = loss_reason_;
  run_.ended_by_ = shared_end();
  run_.told_to_end_ = std::ranges::any_of(passed_on_, SignalGate::is_ending) || run_.ended_by_.signal != 0;
  return policy_.acted();
}

void RunCommand::Supervisor::wait_for_news() {
  std::optional<base::TimePoint> next = next_look_;
  if (wants_terminal_) next = std::min(next.value_or(base::TimePoint::max()), base::Clock::now() + kTerminalLook);
  timer_.arm(next);
  wait_readable(std::array{signals().fd(), wake().get(), timer_.get(), guard_.fd()});
  wake().take();
}

void RunCommand::Supervisor::keep_guard() {
  if (guard_.stands()) return;
  try {
    guard_.replace();
    guard_.watch_group(child_.pid());
    console().note("the guard of the command was killed; another one has taken its place");
  } catch (const std::system_error& error) {
    // Retried with the next renewal.
    if (std::exchange(told_of_guard_, true)) return;
    console().note(fmt::format("the guard of the command was killed and cannot be replaced: {}", error.what()));
  }
}

SharedEnd RunCommand::Supervisor::shared_end() const {
  const int signal = child_.end().signal;
  if (passed_on_.contains(signal)) return {.signal = signal, .by_key = false};
  const bool key = terminal_.was_lent() && (signal == SIGINT || signal == SIGQUIT);
  return key ? SharedEnd{.signal = signal, .by_key = true} : SharedEnd{};
}

void RunCommand::Supervisor::obey_policy() {
  const milliseconds valid_for = hold_.valid_for();
  const bool lost = hold_.is_lost();
  lost_ = lost_ || lost;
  const LostDecision decision = policy_.look(base::Clock::now(), valid_for, lost);
  next_look_ = decision.look_again;
  guard_.must_end_by(policy_.must_end_by());
  if (decision.action != LostAction::none) act(decision.action, valid_for);
}

void RunCommand::Supervisor::act(LostAction action, milliseconds valid_for) {
  // A renewed hold ends early only at its cap; the library ends it slightly earlier.
  const bool max_hold =
      run_.options_.max_hold && base::Clock::now() + valid_for - granted_ >= *run_.options_.max_hold * 9 / 10;
  // SIGKILL after SIGTERM has the same reason.
  if (!loss_reason_) {
    loss_reason_ = policy_.told_early() ? LossReason::taken : max_hold ? LossReason::max_hold : LossReason::expired;
  }
  const std::string why = lost_      ? " is lost"
                          : max_hold ? " has nearly reached --max-hold"
                                     : " cannot be renewed and ends in " + in_words(valid_for);
  bool allowed = true;
  switch (action) {
    case LostAction::none:
      break;
    case LostAction::warn:
      console().note(lock_ + why + "; the command goes on (--on-lost=warn)");
      break;
    case LostAction::term:
      allowed = child_.signal_group(SIGTERM);
      // A stopped process would see SIGTERM only when continued.
      child_.signal_group(SIGCONT);
      console().note(lock_ + why + "; sent SIGTERM");
      break;
    case LostAction::kill:
      allowed = child_.signal_group(SIGKILL);
      console().note(lock_ + why + "; sent SIGKILL");
      break;
  }
  if (!allowed) console().note("the command runs as another user and cannot be stopped");
}

void RunCommand::Supervisor::listen_asked() {
  hold_.on_asked([asked = asked_, &wake = wake()] {
    asked->store(true);
    wake.set();
  });
}

void RunCommand::Supervisor::obey_asked() {
  if (!asked_->exchange(false)) return;
  const int signal = *run_.options_.on_asked;
  console().note(fmt::format("{} is asked for; sent {}", lock_, SignalGate::name(signal)));
  child_.signal_group(signal);
  // A stopped process would see it only when continued.
  if (SignalGate::is_ending(signal)) child_.signal_group(SIGCONT);
}

void RunCommand::Supervisor::obey_signals() {
  bool child_changed = false;
  while (const std::optional<int> signal = signals().next()) {
    if (*signal == SIGCHLD) {
      child_changed = true;
    } else {
      on_signal(*signal);
    }
  }
  if (!child_changed) return;
  const ChildNews news = child_.look();
  ended_ = ended_ || news.ended;
  if (!ended_ && news.stopped_by) on_stopped(*news.stopped_by);
}

void RunCommand::Supervisor::on_signal(int signal) {
  if (signal != SIGWINCH && signal != SIGCONT) {
    console().detail(fmt::format("passing {} on to the command", SignalGate::name(signal)));
  }
  passed_on_.insert(signal);
  child_.signal_group(signal);
  // A stopped process would see it only when continued.
  if (SignalGate::is_ending(signal)) child_.signal_group(SIGCONT);
}

void RunCommand::Supervisor::on_stopped(int signal) {
  if (terminal_.exists() && (signal == SIGTTIN || signal == SIGTTOU)) {
    wants_terminal_ = true;
    return;
  }
  console().note(fmt::format("the command was suspended, and is continued since it would otherwise keep {}", lock_));
  child_.signal_group(SIGCONT);
}

void RunCommand::Supervisor::offer_terminal() {
  if (terminal_.lend(child_.pid())) {
    wants_terminal_ = false;
    child_.signal_group(SIGCONT);
  } else if (terminal_.hung_up()) {
    // As the system does to a stopped group whose session has ended, but not to this group, since its parent, the tool,
    // still exists.
    wants_terminal_ = false;
    child_.signal_group(SIGHUP);
    child_.signal_group(SIGCONT);
  } else if (!std::exchange(told_of_background_, true)) {
    // If continued, it would only stop again. A shell brings us to the foreground without notice, so keep checking.
    console().note(
        fmt::format("the command needs the terminal but runs in the background; it keeps {} meanwhile", lock_));
  }
}

void RunCommand::Supervisor::clear_group() {
  if (group_ends_within(kLeftoverGrace)) return;
  if (!policy_.acted()) console().note("the command left processes behind; sending them SIGTERM");
  child_.signal_group(SIGTERM);
  child_.signal_group(SIGCONT);
  if (group_ends_within(kLeftoverTerm)) return;
  child_.signal_group(SIGKILL);
  await_group(base::Clock::now() + kLeftoverKill);
}

bool RunCommand::Supervisor::group_ends_within(base::Duration limit) {
  // These processes must not outlive the lock either.
  if (run_.options_.on_lost != OnLost::warn)
    limit = std::min<base::Duration>(limit, hold_.valid_for() - run_.times_.margin);
  return await_group(base::Clock::now() + limit);
}

bool RunCommand::Supervisor::await_group(base::TimePoint end) {
  child_.look();
  while (child_.group_exists()) {
    if (base::Clock::now() >= end) return false;
    timer_.arm(base::Clock::now() + kLeftoverLook);
    wait_readable(std::array{signals().fd(), timer_.get()});
    obey_signals();
    child_.look();
  }
  return true;
}

int RunCommand::run(RunLock& lock, Hold& hold) {
  if (hold.valid_for() <= milliseconds::zero()) {
    throw Error(Errc::lost, report_.name, report_.node, "before the command was started");
  }
  surroundings_.signals.refuse_suspension();
  const base::TimePoint start = base::Clock::now();
  Guard guard;
  if (options_.on_lost != OnLost::warn) guard.must_end_by(start + hold.valid_for());
  lock.command_begins();
  const bool acted = Supervisor(*this, hold, guard).run();
  // It ends while waiting for the server's answer.
  guard.dismiss();
  lock.command_ended(hold, *report_.end);
  const base::TimePoint certain_until = base::Clock::now() + hold.valid_for();
  lock.release(hold, rest(start));
  report_.held = std::min(base::Clock::now(), certain_until) - start;
  if (report_.release == ReleaseOutcome::was_lost && !gone_) {
    gone_ = true;
    report_.lost = true;
    if (!report_.loss_reason) report_.loss_reason = LossReason::taken;
  }
  return conclude(acted);
}

int RunCommand::conclude(bool acted) {
  const ChildEnd& end = *report_.end;
  if (end.exec_error != 0) {
    const bool not_found = end.exec_error == ENOENT;
    return fail({not_found ? "not_found" : "not_executable",
                 fmt::format("cannot run {}: {}", base::quote(options_.command.front()),
                             std::generic_category().message(end.exec_error)),
                 report_.name, report_.node, end.shell_status()});
  }
  if (report_.lost) {
    const std::string message = fmt::format("{} {} while the command ran ({})", report_.lock_in_words(),
                                            gone_ ? "was lost" : "was about to end", reason_in_words());
    if (options_.on_lost != OnLost::warn) {
      ended_by_ = {};
      return fail({"lost", message + (acted ? "; the command was stopped" : "; the command had ended by itself"),
                   report_.name, report_.node, kExitLost});
    }
    console_.note(message);
  } else if (report_.release == ReleaseOutcome::unknown) {
    console_.note(fmt::format("{}: the release was not confirmed; the lock ends with its lease at the latest",
                              report_.lock_in_words()));
  } else {
    const bool left = report_.release == ReleaseOutcome::left;
    console_.detail(fmt::format("{}: {} after {}", report_.lock_in_words(),
                                left ? "left taken for the rest of --at-least" : to_string(*report_.release),
                                in_words(std::chrono::duration_cast<milliseconds>(report_.held))));
  }
  return end.shell_status();
}

/// The rest of --at-least. None if the command never began, since then it may be run again.
milliseconds RunCommand::rest(base::TimePoint held_since) const {
  if (!options_.at_least || report_.end->exec_error != 0) return {};
  return std::chrono::ceil<milliseconds>(held_since + *options_.at_least - base::Clock::now());
}

const char* RunCommand::reason_in_words() const {
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

int RunCommand::fail(const Problem& problem) {
  console_.problem(problem);
  report_.problem = problem;
  return problem.exit_code;
}

std::vector<std::string> RunCommand::environment(const Hold& hold) const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto expires = std::chrono::duration_cast<milliseconds>(now) + hold.valid_for();
  std::string names;
  for (const std::string& name : report_.names) names += (names.empty() ? "" : "\n") + name;
  const char* around = std::getenv(kOwners);
  const std::string owners = around == nullptr ? hold.owner() : fmt::format("{} {}", around, hold.owner());
  // A token from a run around this one would be that of another lock.
  const std::optional<std::int64_t> token = hold.token();
  std::vector<std::string> changes{"HOLDFAST_NAME=" + names,
                                   "HOLDFAST_OWNER=" + hold.owner(),
                                   fmt::format("{}={}", kOwners, owners),
                                   fmt::format("HOLDFAST_EXPIRES_MS={}", expires.count()),
                                   fmt::format("HOLDFAST_LEASE_MS={}", times_.lease.count()),
                                   token ? fmt::format("HOLDFAST_TOKEN={}", *token) : "HOLDFAST_TOKEN"};
  if (options_.withhold_login) std::ranges::move(variables_with_login(), std::back_inserter(changes));
  return changes;
}

}  // namespace holdfast::cli
