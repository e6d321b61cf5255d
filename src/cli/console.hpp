// SPDX-License-Identifier: Apache-2.0
// The tool's output: results on standard output, everything else on standard error or in the system's log, without
// passwords in the wrong place; and the exit codes.
#pragma once

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <holdfast/error.hpp>
#include <holdfast/lock_info.hpp>

#include "base/text.hpp"

namespace holdfast::cli {

/// Options that every verb has.
struct CommonOptions {
  std::vector<std::string> urls;                ///< `--url`, once per server
  std::optional<std::string> url_file;          ///< `--url-file`
  std::optional<std::string> password_file;     ///< `--password-file`
  std::optional<std::string> password_command;  ///< `--password-command`
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool timestamps = false;           ///< Each line of messages begins with the time.
  bool syslog = false;               ///< Messages go to the system's log.
  std::vector<std::string> hints{};  ///< Warnings about probable mistakes that are not refused.
};

/// True for a server's URL with a user or a password in it.
bool has_login(std::string_view text);

/// An argument for people: printable, and only the scheme of a server's URL.
std::string shown(std::string_view arg);

/// The numbers of syslog(3).
enum class LogLevel { error = 3, notice = 5, info = 6 };

/// The tool's own exit codes. `run` also passes on the command's status.
enum ExitCode : int {
  kExitOk = 0,
  kExitNo = 1,            ///< inspect, break: the lock is free. run, wait: the default of --conflict-exit-code.
  kExitUsage = 64,        ///< The command line, the URL or a name is wrong.
  kExitUnavailable = 69,  ///< The server cannot be reached or refuses.
  kExitInternal = 70,     ///< Anything unexpected.
  kExitLost = 75,         ///< The lock was lost.
};

/// A wrong command line.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something that went wrong, in a form for people and for programs.
struct Problem {
  std::string code;  ///< The name of the Errc, or `usage`, `not_found`, `not_executable`, `internal`.
  std::string message;
  std::string key, node;
  int exit_code = kExitInternal;

  static Problem from(const Error& error);
  static Problem usage(std::string message);
  static Problem internal(std::string message);
  /// The exception being handled; for use in a catch block.
  static Problem from_current_exception();
};

/// Text that a terminal shows as it is: whatever comes from elsewhere gets into it by way of base::for_terminal().
class Shown {
 public:
  Shown() = default;
  explicit Shown(std::string_view text) : text_(base::for_terminal(text)) {}
  /// In a style, such as `1;31`.
  static Shown styled(const char* style, std::string_view text);

  Shown& operator+=(const Shown& more) {
    text_ += more.text_;
    return *this;
  }
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// All that the tool shows is written here, or by a Screen: one call, so that lines of several threads and processes do
/// not mix. Throws std::system_error.
void show(int fd, const Shown& text);

/// Writes whole lines, each with one call, so that lines of several threads and processes do not mix. Thread-safe.
class Console {
 public:
  explicit Console(const CommonOptions& options) : options_(options) {}

  /// To standard output. Throws std::system_error if it cannot be written.
  void result(const Shown& text) const;
  void result(std::string_view text) const { result(Shown(text)); }
  /// To standard error, for an answer from standard input. Throws std::system_error if it cannot be written.
  void question(std::string_view text) const;
  /// A problem: one line on standard error. Never throws for a closed descriptor.
  void problem(const Problem& problem) const;
  /// Something the user should know; not with --quiet.
  void note(std::string_view text) const;
  /// Only with --verbose.
  void detail(std::string_view text) const;

  const CommonOptions& options() const { return options_; }
  bool json() const { return options_.json; }
  bool quiet() const { return options_.quiet; }
  bool verbose() const { return options_.verbose && !options_.quiet; }

 private:
  void say(LogLevel level, std::string_view text) const;

  CommonOptions options_;
};

/// Writes all of it; throws std::system_error. For files; what is shown goes to show().
void write_all(int fd, std::string_view text);

using base::for_log;
using base::printable;

/// In the form of RFC 3339, in UTC: `2026-11-21T09:30:00.123Z`.
std::string time_in_words(std::chrono::system_clock::time_point time);

/// Rows in aligned columns, two spaces apart. Cells wider than 64 characters are cut, except in the last column, so
/// that one odd name does not push everything else off the screen.
std::string table(std::vector<std::vector<std::string>> rows);

/// `350 ms`, `29.1 s`, `12 min 3 s`, `5 h 20 min`, `3 d 4 h`.
std::string in_words(std::chrono::milliseconds duration);

/// `web-3, process 812, label nightly`, or the owner where the holder has no name.
std::string holder_in_words(const LockHolder& each);
/// The same for the first of its holders, and how many others there are. It must be held.
std::string holder_in_words(const LockInfo& info);

}  // namespace holdfast::cli
