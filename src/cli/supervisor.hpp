// Supervises the running command of `holdfast run`: signals, the terminal, and the lock.
#pragma once

#include <optional>
#include <set>
#include <string>

#include <holdfast/hold.hpp>
#include <holdfast/observer.hpp>

#include "cli/child.hpp"
#include "cli/guard.hpp"
#include "cli/lost_policy.hpp"
#include "cli/output.hpp"
#include "cli/signals.hpp"
#include "cli/terminal.hpp"

namespace holdfast::cli {

/// A signal that ended the command and was meant for the tool too.
struct SharedEnd {
  int signal = 0;       ///< 0: none.
  bool by_key = false;  ///< From a key, while the command had the terminal; otherwise sent to the tool and passed on.
};

/// One command under one hold. Used by the main thread.
class Supervisor {
 public:
  struct Settings {
    OnLost on_lost = OnLost::term;
    base::Duration kill_after{};
    base::Duration margin{};
    std::optional<base::Duration> max_hold;
    std::string lock;  ///< The lock as text, for messages.
  };

  /// `wake`: set whenever the hold was renewed.
  Supervisor(const Hold& hold, Child& child, Guard& guard, Terminal& terminal, const SignalGate& signals,
             const EventFd& wake, const Console& console, Settings settings);

  /// Returns when the command and its whole process group have ended.
  void run();

  /// True if the command was asked to end because the lock was lost, or about to be.
  bool acted() const { return policy_.acted(); }
  /// True if the lock was lost while the command ran.
  bool lost() const { return lost_; }
  /// Why, if the lock was lost or the command asked to end.
  std::optional<LossReason> loss_reason() const { return loss_reason_; }
  /// True if the tool was asked to end while the command ran.
  bool told_to_end() const;
  /// After run().
  SharedEnd shared_end() const;

 private:
  void wait_for_news();
  void keep_guard();
  void obey_policy();
  void act(LostAction action, std::chrono::milliseconds valid_for);
  void obey_signals();
  void on_signal(int signal);
  void on_stopped(int signal);
  void offer_terminal();
  void clear_group();
  bool group_ends_within(base::Duration limit);
  bool await_group(base::TimePoint end);

  const Hold& hold_;
  Child& child_;
  Guard& guard_;
  Terminal& terminal_;
  const SignalGate& signals_;
  const EventFd& wake_;
  const Console& console_;
  const Settings settings_;
  LostPolicy policy_;
  const base::TimePoint start_ = base::Clock::now();
  Timer timer_;
  std::optional<base::TimePoint> next_look_;
  bool ended_ = false;
  bool lost_ = false;
  std::optional<LossReason> loss_reason_;
  std::set<int> passed_on_;
  bool wants_terminal_ = false;  // the command is stopped until it gets it
  bool told_of_background_ = false;
  bool told_of_guard_ = false;
};

}  // namespace holdfast::cli
