// SPDX-License-Identifier: Apache-2.0
// The stage of the failover cases: a deployment or a cluster, processes of Holdfast and of Redisson under load, and
// their records.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "judges/history.hpp"
#include "support/deployment.hpp"
#include "support/strike.hpp"
#include "support/taker.hpp"
#include "support/temp_dir.hpp"

namespace holdfast::test {

/// Not thread-safe. Ends its processes when it goes.
class Stage {
 public:
  using Milliseconds = std::chrono::milliseconds;
  /// The limit of each wait for a lock.
  static constexpr Milliseconds kWait{30000};

  explicit Stage(std::string url) : url_(std::move(url)) {}

  /// Connects this process; it is called so in the history. `settings` as for Taker::connect.
  Taker& add(const std::string& client, std::unique_ptr<Taker> taker, std::vector<std::string> settings);
  /// A thread of it begins to take and give back this lock, in rounds, until finish(). Those with the same `file` count
  /// up the same number.
  void begin(const std::string& client, int thread, const std::string& name, const std::string& file,
             Milliseconds pause);
  /// A thread of it takes this lock once, and holds it until told that it is lost, or cancelled.
  void keep(const std::string& client, int thread, const std::string& name);
  /// True if within this time all that were told to keep a lock have ended by themselves. Those that have not are
  /// cancelled.
  bool all_kept_ended(Milliseconds limit);

  /// What the number in this file is.
  long long number(const std::string& file) const;
  /// True when this number has grown by so much from now on.
  bool grows(const std::string& file, long long by, Milliseconds limit = std::chrono::seconds(60)) const;

  /// A counter, by its name in holdfast::Counters, of all clients whose names begin so.
  std::uint64_t counter(const std::string& name, const std::string& clients) const;

  /// Ends all rounds and returns what was recorded. Throws std::runtime_error if a call does not end.
  History finish();
  /// The folder that the records are in, and the files of numbers.
  const std::filesystem::path& records() const { return folder_.path(); }

 private:
  struct Running {
    std::string client;
    Pending pending;
  };

  std::string file(const std::string& name) const { return folder_.file(name); }
  Running start(const std::string& client, int thread, const std::string& name, const std::string& file,
                Milliseconds rounds, Milliseconds pause);
  void end(std::vector<Running>& running);

  const std::string url_;
  TempDir folder_;
  std::map<std::string, std::unique_ptr<Taker>> takers_;
  std::vector<Running> rounds_, kept_;
};

}  // namespace holdfast::test
