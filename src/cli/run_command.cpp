#include "cli/run_command.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>

#include "base/text.hpp"
#include "cli/around.hpp"
#include "cli/child.hpp"
#include "cli/secrets.hpp"
#include "cli/terminal.hpp"

namespace holdfast::cli {

using std::chrono::milliseconds;

int RunCommand::run(RunLock& lock, Hold& hold) {
  if (hold.valid_for() <= milliseconds::zero()) {
    throw Error(Errc::lost, report_.name, report_.node, "before the command was started");
  }
  surroundings_.signals.refuse_suspension();
  const base::TimePoint start = base::Clock::now();
  Guard guard;
  if (options_.on_lost != OnLost::warn) guard.must_end_by(start + hold.valid_for());
  lock.command_begins();
  const bool acted = supervise(hold, guard);
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

bool RunCommand::supervise(const Hold& hold, Guard& guard) {
  Terminal terminal;
  Child child(options_.command, environment(hold), surroundings_.signals, surroundings_.inherited, guard,
              terminal.to_begin_with());
  report_.pid = child.pid();
  Supervisor supervisor(hold, child, guard, terminal, surroundings_.signals, surroundings_.wake, console_,
                        {.on_lost = options_.on_lost,
                         .kill_after = times_.kill_after,
                         .margin = times_.margin,
                         .max_hold = options_.max_hold,
                         .lock = report_.lock_in_words()});
  supervisor.run();
  report_.end = child.end();
  gone_ = supervisor.lost();
  report_.lost = gone_ || supervisor.acted();
  report_.loss_reason = supervisor.loss_reason();
  ended_by_ = supervisor.shared_end();
  told_to_end_ = supervisor.told_to_end() || ended_by_.signal != 0;
  return supervisor.acted();
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

namespace {

/// What a command without a login must not inherit.
std::vector<std::string> variables_with_login() {
  std::vector<std::string> names{"HOLDFAST_PASSWORD"};
  const char* const url = std::getenv("HOLDFAST_URL");
  if (url != nullptr && has_login(url)) names.emplace_back("HOLDFAST_URL");
  return names;
}

}  // namespace

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
