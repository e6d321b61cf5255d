// SPDX-License-Identifier: Apache-2.0
// What the C++ drivers share: the commands of bench/README.md, for whatever can take and release a lock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

struct Span {
  Clock::time_point start;
  Clock::time_point end;
};

/// What a caller takes: a lock, or one of the other kinds of bench/README.md.
struct Thing {
  std::string key;
  std::string kind = "lock";
  long of = 1;  // the permits of a semaphore, the names of an AnyLock
};

/// One of those that repeat something: what it takes, and what it found.
struct Caller {
  void add(Clock::duration length) {
    const auto ns = std::chrono::nanoseconds(length).count();
    samples.push_back(static_cast<std::uint32_t>(std::min<long long>(ns, UINT32_MAX)));
  }

  void enter(Clock::time_point asked, Clock::time_point entered) {
    ++served;
    if (keeps_entries) entries.push_back({asked, entered});
  }

  Thing thing;
  std::vector<std::uint32_t> samples{};  // nanoseconds
  long served = 0;
  bool keeps_entries = false;
  std::vector<Span> entries{};  // from the call of take to its return
};
using Callers = std::vector<Caller>;

/// How a contestant runs its callers: on threads (threads.hpp), or as coroutines of one thread (coroutines.hpp). Some
/// calls only prepare, and return what is to be measured.
class Face {
 public:
  virtual ~Face() = default;
  /// Waits for a lock at all: else `hot`, `take` and `crowd` are unsupported.
  virtual bool waits() const { return true; }
  /// Renews what is held.
  virtual bool renews() const { return true; }
  virtual bool has(const std::string& kind) const { return kind == "lock"; }

  /// Each caller repeats take and release on its lock, with a pause after each; a sample is of one pair.
  virtual std::function<void(Span)> pairs(Callers& callers, std::chrono::microseconds pause) = 0;
  /// The same with `inside` between them, and no wait beyond the end; a sample is of one wait.
  virtual std::function<void(Span)> hot(Callers& callers, std::chrono::microseconds inside) = 0;

  struct Taken {
    bool taken = false;
    Clock::time_point at;
  };
  virtual Taken take(const Thing& thing, Clock::time_point until) = 0;
  /// Around the release.
  virtual Span release(const std::string& key) = 0;

  /// Takes `keys:0` and so on and keeps them, with no more memory than it takes.
  virtual std::function<void()> hold(long count, const std::string& keys) = 0;

  /// Takes `keys:0` and so on, for a crowd.
  virtual void take_all(long locks, const std::string& keys) = 0;
  /// Returns when the waiters are on their way into the queues.
  virtual void gather(long waiters, long locks, const std::string& keys) = 0;
  /// Releases what take_all() took; returns when all waiters have been through.
  virtual void let_in() = 0;
};

inline std::string numbered(const std::string& keys, long number) { return keys + ":" + std::to_string(number); }

/// The `key=value` words of a command.
class Arguments {
 public:
  explicit Arguments(const std::string& line);
  const std::string& verb() const { return verb_; }
  std::string text(const std::string& key) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  long number(const std::string& key) const;
  long number(const std::string& key, long otherwise) const;
  double real(const std::string& key) const;

 private:
  std::string verb_;
  std::map<std::string, std::string> values_;
};

/// Samples of all callers, in nanoseconds, as `"NAME_p50_us":..,"NAME_p99_us":..,"NAME_max_us":..`.
std::string percentiles(std::vector<std::uint32_t>& samples, const std::string& name);

/// A verb of one driver only. Returns the JSON answer; empty: not its verb.
using ExtraVerb = std::string (*)(const Arguments&);

/// Prints `ready`, then answers commands until the end of input, and ends the process with whatever it still holds.
[[noreturn]] void serve(Face& face, ExtraVerb extra = nullptr);

}  // namespace bench
