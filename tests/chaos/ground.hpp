// SPDX-License-Identifier: Apache-2.0
// Servers on which a chaos run takes place, what can happen to them, and how processes reach them.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "chaos/schedule.hpp"
#include "judges/story.hpp"
#include "support/proxy.hpp"

namespace holdfast::test::chaos {

/// How one process reaches the servers.
struct Access {
  std::string url;
  std::vector<std::unique_ptr<Proxy>> links{};  ///< Through these; empty: directly.
  std::vector<std::string> prefix{};            ///< Its program starts behind these words.
};

/// A lock of the run.
struct Named {
  std::string name;
  std::string kind = "lock";  ///< In the taker's words.
};

/// The end of a fault that was carried out, and whom it concerned; kind and promise follow from the plan.
struct Struck {
  Microseconds began = 0, ended = 0;
  std::vector<Text> names{}, clients{};
  bool kills = false;
};

/// Not thread-safe, but for access().
class Ground {
 public:
  Ground() = default;
  virtual ~Ground() = default;
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;

  /// That can be made here.
  virtual std::vector<Fault> faults() const = 0;
  /// Why others cannot, in words for the report.
  virtual std::vector<std::string> left_out() const { return {}; }
  virtual Access access() = 0;
  /// For a client of the run itself, past the links; of several servers, of the first.
  virtual std::string url() const = 0;
  /// Further settings of the takers.
  virtual std::vector<std::string> settings() const { return {}; }
  /// Locks of this name for processes of other libraries.
  virtual bool has_room_for_others() const { return true; }
  virtual bool all_acks() const { return false; }
  /// A majority decides, so that nobody may get a lock that is free.
  virtual bool splits_votes() const { return false; }
  /// The names of locks that stand for this word, on each server that shares them one.
  virtual std::vector<std::string> names(const std::string& word) { return {word}; }

  /// Carries out a fault of the servers' track, and returns when all is as before. Empty: there was nothing to strike.
  /// Throws std::runtime_error if that does not succeed.
  virtual std::optional<Struck> strike(const Planned& planned, const std::vector<Named>& names) = 0;
  /// A failover since the last call that nobody asked for: a machine under load has those.
  virtual std::optional<Struck> unasked() { return std::nullopt; }
  /// True if this lock is taken anywhere.
  virtual bool taken(const std::string& name) = 0;
};

/// Waits for the length of a fault.
inline void last(Milliseconds duration) { std::this_thread::sleep_for(duration); }

}  // namespace holdfast::test::chaos
