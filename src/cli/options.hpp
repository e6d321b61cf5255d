// The options of the command line, as plain values. Filled by parse.cpp, read by the verbs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <holdfast/probe.hpp>

#include "cli/lost_policy.hpp"

namespace holdfast::cli {

/// Options that every verb has.
struct CommonOptions {
  std::vector<std::string> urls;             ///< `--url`, once per server
  std::optional<std::string> url_file;       ///< `--url-file`
  std::optional<std::string> password_file;  ///< `--password-file`
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool timestamps = false;           ///< Each line of messages begins with the time.
  bool syslog = false;               ///< Messages go to the system's log.
  std::vector<std::string> hints{};  ///< Warnings about probable mistakes that are not refused.
};

/// `--kind`: which family of locks.
enum class LockKind {
  lock,       ///< Redisson's RLock: a hash.
  fenced,     ///< The same with a token: Redisson's RFencedLock.
  fair,       ///< The same with a queue: Redisson's RFairLock.
  simple,     ///< SET NX PX: a string.
  spin,       ///< As `lock`, without messages: Redisson's RSpinLock.
  write,      ///< Redisson's RReadWriteLock, as a writer: a hash with `mode`.
  read,       ///< The same as a reader: `--shared`.
  permit,     ///< One permit of Redisson's RPermitExpirableSemaphore: a number, and a sorted set.
  semaphore,  ///< Redisson's RSemaphore: a number. Can only be inspected.
  latch,      ///< Redisson's RCountDownLatch: a number. Can only be inspected.
};

/// Kinds with several holders for one name.
inline bool is_read_write(LockKind kind) { return kind == LockKind::write || kind == LockKind::read; }

/// Kinds without holders, which are only a number.
inline bool is_number(LockKind kind) { return kind == LockKind::semaphore || kind == LockKind::latch; }

struct RunOptions {
  std::vector<std::string> names;  ///< If several, all are taken together,
  bool any = false;                ///< or any one of them.
  LockKind kind = LockKind::lock;
  std::vector<std::string> command;                ///< Program and arguments; `sh -c LINE` for `--command`.
  bool is_shell_line = false;                      ///< It was `--command`.
  std::optional<std::chrono::milliseconds> wait;   ///< Empty: without limit. Zero: try once.
  std::optional<std::chrono::milliseconds> lease;  ///< Empty: the client's.
  std::optional<std::chrono::milliseconds> max_hold;
  std::optional<std::chrono::milliseconds> at_least;    ///< The least time that the name stays taken.
  std::optional<int> max;                               ///< How many commands may run at the same time.
  std::optional<std::chrono::milliseconds> fresh;       ///< Skip if the command has succeeded this recently.
  std::optional<std::string> at;                        ///< Once for this minute: see firing().
  std::optional<std::chrono::milliseconds> kill_after;  ///< Empty: see run_times().
  OnLost on_lost = OnLost::term;
  int conflict_exit_code = 1;
  std::optional<int> status_fd;
  std::optional<std::string> label;  ///< Empty: the URL's, else the command's name.
  std::optional<std::string> metrics_file;
  bool withhold_login = false;  ///< The command does not get the password from the environment.
  bool fixed = false;           ///< The lease is not renewed.
  bool campaigns = false;       ///< One term of `elect`, which retries itself.
};

struct ElectOptions {
  RunOptions run;  ///< Each term.
  bool once = false;
  std::chrono::milliseconds rest{1000};  ///< Between two terms, for others.
  bool watch = false;                    ///< Only report who leads.
};

/// `acquire`: a hold that is left to others, as a ticket.
struct TakeOptions {
  RunOptions run;  ///< Without a command.
};

struct RenewOptions {
  std::string ticket;
  std::optional<std::chrono::milliseconds> lease;  ///< Empty: that of the ticket.
};

struct ReleaseOptions {
  std::string ticket;
};

struct LsOptions {
  std::string pattern = "*";
  LockKind kind = LockKind::lock;
};

struct InspectOptions {
  std::string name;
  LockKind kind = LockKind::lock;
  bool finds_kind = false;  ///< No kind was given: if it is of another one, that is shown.
};

struct WaitOptions {
  std::string name;
  LockKind kind = LockKind::lock;
  std::optional<std::chrono::milliseconds> wait;  ///< As in RunOptions.
  int conflict_exit_code = 1;
};

struct BreakOptions {
  std::string name;
  LockKind kind = LockKind::lock;
  bool yes = false;
  std::optional<std::string> owner;  ///< Only from this one.
};

struct DoctorOptions {
  Severity fail_on = Severity::warning;  ///< The lowest severity that the exit code reports.
  std::optional<std::string> try_name;   ///< A lock to be taken and given back.
};

/// Where the exporter listens.
struct ListenAddress {
  std::string host = "127.0.0.1";  ///< A numeric address; empty: every address of this machine.
  std::uint16_t port = 9743;
};

struct ExporterOptions {
  ListenAddress listen;
  std::string pattern = "*";
  std::chrono::milliseconds interval{15'000};
  std::chrono::milliseconds doctor{300'000};  ///< 0: never.
};

struct TopOptions {
  std::string pattern = "*";
  std::chrono::milliseconds interval{2000};
};

struct Options {
  CommonOptions common;
  std::variant<RunOptions, ElectOptions, TakeOptions, RenewOptions, ReleaseOptions, LsOptions, InspectOptions,
               WaitOptions, BreakOptions, DoctorOptions, ExporterOptions, TopOptions>
      verb;
};

}  // namespace holdfast::cli
