// SPDX-License-Identifier: Apache-2.0
// Drives a taker (see taker_main.cpp): sends it commands and matches the answers, in this process or in one of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "support/process.hpp"
#include "support/wait.hpp"

namespace holdfast::test {

/// What a taker says to one command.
struct Answer {
  using Time = std::chrono::steady_clock::time_point;
  bool ok = false;
  std::string value;  ///< When ok.
  std::string error;  ///< Else: the error's word, for example `not_owner`.
  std::string text;   ///< The error's message.
  Time began, ended;  ///< Right before and after the call, on the clock that all processes of a machine share.

  /// The value, or else the error's word.
  const std::string& word() const { return ok ? value : error; }
};

/// A command on its way.
class Pending {
 public:
  /// True when the answer is there, at once or within the limit; false at once when the taker has ended without it.
  bool answered(std::chrono::milliseconds limit = {}) const;
  /// Throws std::runtime_error if the answer does not come in time, or the taker ends before.
  Answer get(std::chrono::milliseconds limit = kPatience) const;
  const std::string& tag() const { return tag_; }

 private:
  friend class Taker;
  struct Inbox;
  Pending(std::shared_ptr<Inbox> inbox, std::string tag, std::string command)
      : inbox_(std::move(inbox)), tag_(std::move(tag)), command_(std::move(command)) {}

  std::shared_ptr<Inbox> inbox_;
  std::string tag_, command_;
};

/// The program of the next process: this build's, or, by turns, that of HOLDFAST_YESTERDAY, the taker of an earlier
/// commit (tools/yesterday): what is upgraded step by step must work beside what is not.
std::string next_taker_program();

/// One taker: one client with numbered threads. Thread-safe. The destructor tells it to end, waits for that, and kills
/// a process that does not.
class Taker {
 public:
  enum class Place { this_process, own_process };

  explicit Taker(Place place);
  /// Another program that speaks the same protocol.
  Taker(std::string program, std::vector<std::string> args);
  ~Taker();
  Taker(const Taker&) = delete;
  Taker& operator=(const Taker&) = delete;

  /// Sends a command: its word and its arguments, not encoded yet.
  Pending start(const std::vector<std::string>& command);
  /// The value of the answer; throws std::runtime_error if it is an error.
  std::string ask(const std::vector<std::string>& command);
  /// `settings` as `lease_ms=1000`. Returns the client's id.
  std::string connect(const std::string& url, const std::vector<std::string>& settings = {});
  /// One of the client's counters, by its name in holdfast::Counters.
  std::uint64_t counter(const std::string& name);

  /// Tells it to end and says how it did; the destructor does the same. A taker in this process always exits with 0.
  ExitStatus finish();
  /// What the process wrote to its error output: nothing, if all is well.
  std::string errors() const;

  /// Only for a taker in a process of its own.
  void signal(int number);
  pid_t pid() const;

 private:
  class Session;
  class Local;
  class Remote;
  std::shared_ptr<Pending::Inbox> inbox_;
  std::unique_ptr<Session> session_;
};

/// A participant of a test: one thread of a taker. Calls throw std::runtime_error on an error answer, except where they
/// return its word.
class Party {
 public:
  using Milliseconds = std::chrono::milliseconds;

  Party(Taker& taker, int thread) : taker_(&taker), thread_(std::to_string(thread)) {}

  Taker& taker() const { return *taker_; }

  /// A lease of zero is renewed.
  Pending start_lock(const std::string& name, Milliseconds lease = {});
  Pending start_try(const std::string& name, Milliseconds wait, Milliseconds lease = {});
  Pending start_unlock(const std::string& name);
  Answer lock(const std::string& name, Milliseconds lease = {});
  bool try_lock(const std::string& name, Milliseconds wait = {}, Milliseconds lease = {});
  /// `released`, `still_held`, `was_lost`, `unknown`, or an error's word.
  std::string unlock(const std::string& name);
  bool cancel(const Pending& pending);

  bool is_mine(const std::string& name);
  int count(const std::string& name);
  Milliseconds valid_for(const std::string& name);
  bool lost(const std::string& name);

  bool is_locked(const std::string& name);
  std::optional<Milliseconds> remaining(const std::string& name);
  bool force_release(const std::string& name);

  Pending start(std::string verb, const std::string& name, std::initializer_list<std::string> more = {});

 private:
  std::string ask(std::string verb, const std::string& name);

  Taker* taker_;
  std::string thread_;
};

}  // namespace holdfast::test
