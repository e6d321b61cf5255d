#include "cli/supervisor.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <stop_token>
#include <system_error>
#include <utility>

#include <fmt/format.h>

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

}  // namespace

Supervisor::Supervisor(const Hold& hold, Child& child, Guard& guard, Terminal& terminal, const SignalGate& signals,
                       const EventFd& wake, const Console& console, Settings settings)
    : hold_(hold),
      child_(child),
      guard_(guard),
      terminal_(terminal),
      signals_(signals),
      wake_(wake),
      console_(console),
      settings_(std::move(settings)),
      policy_(settings_.on_lost, settings_.kill_after, settings_.margin) {}

void Supervisor::run() {
  const std::stop_callback on_loss(hold_.lost_token(), [this] { wake_.set(); });
  if (terminal_.is_all_ours()) terminal_.lend(child_.pid());
  obey_policy();
  while (!ended_) {
    wait_for_news();
    keep_guard();
    // Before the signals: a tool that was stopped for too long must not pass on SIGCONT first.
    obey_policy();
    obey_signals();
    if (wants_terminal_) offer_terminal();
  }
  if (child_.end().signal != 0) {
    terminal_.take_back_from_killed();
  } else {
    terminal_.take_back();
  }
  clear_group();
}

void Supervisor::wait_for_news() {
  std::optional<base::TimePoint> next = next_look_;
  if (wants_terminal_) next = std::min(next.value_or(base::TimePoint::max()), base::Clock::now() + kTerminalLook);
  timer_.arm(next);
  wait_readable(std::array{signals_.fd(), wake_.get(), timer_.get(), guard_.fd()});
  wake_.take();
}

void Supervisor::keep_guard() {
  if (guard_.stands()) return;
  try {
    guard_.replace();
    guard_.watch_group(child_.pid());
    console_.note("the guard of the command was killed; another one has taken its place");
  } catch (const std::system_error& error) {
    // Retried with the next renewal.
    if (std::exchange(told_of_guard_, true)) return;
    console_.note(fmt::format("the guard of the command was killed and cannot be replaced: {}", error.what()));
  }
}

bool Supervisor::told_to_end() const { return std::ranges::any_of(passed_on_, SignalGate::is_ending); }

SharedEnd Supervisor::shared_end() const {
  const int signal = child_.end().signal;
  if (passed_on_.contains(signal)) return {.signal = signal, .by_key = false};
  const bool key = terminal_.was_lent() && (signal == SIGINT || signal == SIGQUIT);
  return key ? SharedEnd{.signal = signal, .by_key = true} : SharedEnd{};
}

void Supervisor::obey_policy() {
  const milliseconds valid_for = hold_.valid_for();
  const bool lost = hold_.is_lost();
  lost_ = lost_ || lost;
  const LostDecision decision = policy_.look(base::Clock::now(), valid_for, lost);
  next_look_ = decision.look_again;
  guard_.must_end_by(policy_.must_end_by());
  if (decision.action != LostAction::none) act(decision.action, valid_for);
}

void Supervisor::act(LostAction action, milliseconds valid_for) {
  // A renewed hold ends early only at its cap; the library ends it slightly earlier.
  const bool max_hold = settings_.max_hold && base::Clock::now() - start_ + valid_for >= *settings_.max_hold * 9 / 10;
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
      console_.note(settings_.lock + why + "; the command goes on (--on-lost=warn)");
      break;
    case LostAction::term:
      allowed = child_.signal_group(SIGTERM);
      // A stopped process would see SIGTERM only when continued.
      child_.signal_group(SIGCONT);
      console_.note(settings_.lock + why + "; sent SIGTERM");
      break;
    case LostAction::kill:
      allowed = child_.signal_group(SIGKILL);
      console_.note(settings_.lock + why + "; sent SIGKILL");
      break;
  }
  if (!allowed) console_.note("the command runs as another user and cannot be stopped");
}

void Supervisor::obey_signals() {
  bool child_changed = false;
  while (const std::optional<int> signal = signals_.next()) {
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

void Supervisor::on_signal(int signal) {
  if (signal != SIGWINCH && signal != SIGCONT) {
    console_.detail(fmt::format("passing {} on to the command", SignalGate::name(signal)));
  }
  passed_on_.insert(signal);
  child_.signal_group(signal);
  // A stopped process would see it only when continued.
  if (SignalGate::is_ending(signal)) child_.signal_group(SIGCONT);
}

void Supervisor::on_stopped(int signal) {
  if (terminal_.exists() && (signal == SIGTTIN || signal == SIGTTOU)) {
    wants_terminal_ = true;
    return;
  }
  console_.note(
      fmt::format("the command was suspended, and is continued since it would otherwise keep {}", settings_.lock));
  child_.signal_group(SIGCONT);
}

void Supervisor::offer_terminal() {
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
    console_.note(fmt::format("the command needs the terminal but runs in the background; it keeps {} meanwhile",
                              settings_.lock));
  }
}

void Supervisor::clear_group() {
  if (group_ends_within(kLeftoverGrace)) return;
  if (!acted()) console_.note("the command left processes behind; sending them SIGTERM");
  child_.signal_group(SIGTERM);
  child_.signal_group(SIGCONT);
  if (group_ends_within(kLeftoverTerm)) return;
  child_.signal_group(SIGKILL);
  await_group(base::Clock::now() + kLeftoverKill);
}

bool Supervisor::group_ends_within(base::Duration limit) {
  // These processes must not outlive the lock either.
  if (settings_.on_lost != OnLost::warn) limit = std::min<base::Duration>(limit, hold_.valid_for() - settings_.margin);
  return await_group(base::Clock::now() + limit);
}

bool Supervisor::await_group(base::TimePoint end) {
  child_.look();
  while (child_.group_exists()) {
    if (base::Clock::now() >= end) return false;
    timer_.arm(base::Clock::now() + kLeftoverLook);
    wait_readable(std::array{signals_.fd(), timer_.get()});
    obey_signals();
    child_.look();
  }
  return true;
}

}  // namespace holdfast::cli
