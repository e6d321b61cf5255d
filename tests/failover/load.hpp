// SPDX-License-Identifier: Apache-2.0
// What all cases under load have in common: who wants which locks, what must go on after each fault, and the verdict.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "failover/report.hpp"
#include "failover/stage.hpp"
#include "interop/peer.hpp"
#include "judges/story.hpp"
#include "support/strike.hpp"

namespace holdfast::test {

/// 8 processes of 4 threads. The parameter is the acks that Holdfast asks for.
class Load : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int kProcesses = 8, kThreads = 4;
  static constexpr int kKeeper = kThreads + 1;
  static constexpr int kCutOffEvery = 4;
  static constexpr const char* kCounter = "counter";    // three threads of each process want it
  static constexpr const char* kRedisson = "redisson";  // what Redisson's threads want

  /// `title` is for the report, `name` for the files of results.
  Load(std::string title, const std::string& name);

  /// How often each fault strikes: HOLDFAST_FAILOVERS, or once.
  static int failovers();
  static std::string holdfast(int i) { return "holdfast" + std::to_string(i); }
  /// That no replica will know of. In a cluster the same primary serves it.
  static std::string kept_by(int i) { return "kept by " + holdfast(i) + " {counter}"; }
  bool durable() const { return GetParam() != "none"; }
  bool with_redisson() const { return redisson_ != nullptr; }

  /// Everybody begins. `redisson`: takes part if it is given and can.
  void begin(const std::string& url, const Peer* redisson = nullptr);
  /// A lock for each process. Call it while the primary that serves them is cut off; each is granted by it.
  void keep_what_will_be_forgotten(RedisServer& primary);
  /// Strikes when the servers have settled. Everybody still gets in, and holders of what is certainly forgotten are
  /// told.
  void strike_and_look(const std::function<Struck()>& strike);
  /// Ends the load, writes the report, and checks what must be true of every run.
  void judge();
  long times(Fault fault) const;

  void TearDown() override;

  const Part& holdfasts() const { return ours_; }
  const std::vector<Struck>& struck() const { return struck_; }
  Stage& stage() { return *stage_; }

 private:
  virtual std::vector<RedisServer*> primaries() = 0;
  /// Whatever they are at the moment.
  virtual std::vector<const RedisServer*> all_servers() = 0;
  virtual void wait_until_settled() = 0;

  static std::filesystem::path results();
  static std::chrono::milliseconds lease();
  /// How often this process was granted a lock that it keeps.
  long grants_kept(int process) const;
  void look_after(Fault fault);
  void look_for_unasked();
  std::vector<StruckFault> faults() const;
  void judge_promises(const History& history);

  const std::string title_, name_;
  std::unique_ptr<Stage> stage_;
  const Peer* redisson_ = nullptr;
  std::vector<Struck> struck_;
  std::vector<RedisServer*> known_;  // primaries, when they were last looked at
  Microseconds known_at_ = 0;
  std::vector<StruckFault> unasked_;
  std::uint64_t polls_ = 0;  // that found a lock free, so far
  Part ours_;
};

}  // namespace holdfast::test
