// SPDX-License-Identifier: Apache-2.0
// What a run is to do: its options, what they mean, and the settings that follow from them before anything is sent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <holdfast/config.hpp>

#include "cli/command_line.hpp"
#include "cli/kinds.hpp"
#include "cli/run/lost_policy.hpp"

namespace holdfast::cli {

struct RunOptions : WaitLimit {
  std::vector<std::string> names;  ///< If several, all are taken together,
  bool any = false;                ///< or any one of them.
  LockKind kind = LockKind::lock;
  std::vector<std::string> command;                ///< Program and arguments; `sh -c LINE` for `--command`.
  bool is_shell_line = false;                      ///< It was `--command`.
  std::optional<std::chrono::milliseconds> lease;  ///< Empty: the client's.
  std::optional<std::chrono::milliseconds> max_hold;
  std::optional<std::chrono::milliseconds> at_least;    ///< The least time that the name stays taken.
  std::optional<int> max;                               ///< How many commands may run at the same time.
  std::optional<std::chrono::milliseconds> fresh;       ///< Skip if the command has succeeded this recently.
  std::optional<std::string> at;                        ///< Once for this minute: see firing().
  std::optional<std::chrono::milliseconds> kill_after;  ///< Empty: see run_times().
  OnLost on_lost = OnLost::term;
  std::optional<int> on_asked;  ///< The signal that the command gets when somebody asks for the lock.
  std::optional<int> status_fd;
  std::optional<std::string> label;  ///< Empty: the URL's, else the command's name.
  std::optional<std::string> metrics_file;
  bool withhold_login = false;  ///< The command does not get the password from the environment.
  bool fixed = false;           ///< The lease is not renewed.
  bool campaigns = false;       ///< One term of `elect`, which retries itself.
};

struct RunTimes {
  std::chrono::milliseconds lease{};
  std::chrono::milliseconds shortest{};  ///< The lease, or --max-hold if that is shorter: so long a new hold is valid.
  /// Between SIGTERM and SIGKILL, inside the lease.
  std::chrono::milliseconds kill_after{};
  /// How long before the end SIGKILL is sent.
  std::chrono::milliseconds margin{};
};

/// Throws UsageError when they do not fit together.
RunTimes run_times(const RunOptions& options, const Config& config);

/// The label in the connection's name.
std::string run_label(const RunOptions& options, const Config& config);

/// The limit on the number of permits.
inline constexpr int kMostPermits = 1'000'000;

struct KindWords {
  bool has_kind = false;  ///< `--kind`, which is in the options.
  bool fair = false;
  bool shared = false;
};

/// Sets the kind. Throws UsageError where options exclude each other.
void settle_kind(RunOptions& options, const KindWords& words);

/// The line of shell instead of the command, if there is one. Throws UsageError unless there is exactly one of the two.
void take_shell_line(const char* verb, RunOptions& options, const std::optional<std::string>& shell_line);

/// The minute for which a scheduled command runs: `2026-11-23T02:00` unchanged; `now` becomes this
/// minute in UTC, by this machine's clock. Throws UsageError for text that is not a valid minute, and for a minute more
/// than an hour ahead of this machine's clock, in UTC and here.
std::string firing(const std::string& option, const std::string& text);

/// Expands names that stand for several, such as `gpu:{0..7}`: each range, also several in one name; keeps names
/// without one. Throws UsageError for braces with two dots in them that are no range, and for more than 10,000 names.
std::vector<std::string> with_ranges(const std::vector<std::string>& names);

OnLost on_lost(const std::string& option, const std::string& text);

/// `term`, `SIGTERM` and so on. Throws UsageError.
int on_asked(const std::string& option, const std::string& text);

}  // namespace holdfast::cli
