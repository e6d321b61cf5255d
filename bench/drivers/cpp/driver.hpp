// What the C++ drivers share: the commands of bench/README.md, for whatever can take and release a lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

/// One caller's way to one lock.
class Locker {
 public:
  virtual ~Locker() = default;
  virtual void take() = 0;
  /// False if it was not to be had before `end`.
  virtual bool take_until(Clock::time_point end) = 0;
  virtual void release() = 0;
};

class Contestant {
 public:
  virtual ~Contestant() = default;
  virtual std::unique_ptr<Locker> locker(int caller, const std::string& key) = 0;
  /// Takes a lock and keeps it at this place, with no more memory than it takes.
  virtual void reserve(std::size_t count) { static_cast<void>(count); }
  virtual void hold(int caller, std::size_t place, const std::string& key) = 0;
  /// Waits for a lock at all: else `hot`, `take` and `crowd` are unsupported.
  virtual bool waits() const { return true; }
  /// Renews what is held.
  virtual bool renews() const { return true; }
};

/// The `key=value` words of a command.
class Arguments {
 public:
  explicit Arguments(const std::string& line);
  const std::string& verb() const { return verb_; }
  std::string text(const std::string& key) const;
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

/// Prints `ready`, then answers commands until the end of input. The exit status.
int serve(Contestant& contestant, ExtraVerb extra = nullptr);

}  // namespace bench
