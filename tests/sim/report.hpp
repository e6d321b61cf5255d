// SPDX-License-Identifier: Apache-2.0
// What the program `simulate` is asked for, and what it says of its runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "sim/run.hpp"

namespace holdfast::test::sim {

struct Request {
  static constexpr const char* kUsage =
      "usage: simulate [--seeds N] [--first S] [--scenario NAME]...    runs of all scenarios in turn, or of these\n"
      "       simulate --seed S [--scenario NAME] [--trace] [--shrink]    one of them again\n"
      "       simulate --list    the scenarios\n";
  static constexpr int kMostFailures = 20;

  /// Throws std::invalid_argument, std::out_of_range.
  static Request of(const std::vector<std::string>& words);
  const std::string& scenario_of(std::uint64_t seed) const { return scenarios[seed % scenarios.size()]; }

  std::uint64_t seeds = 20'000, first = 1;
  std::vector<std::string> scenarios;
  bool repeat = false, trace = false, shrinks = false, list = false;
};

/// One run again, told step by step if that is asked for. The program's status.
int repeat(const Request& request);

/// Of many runs.
class Report {
 public:
  explicit Report(const Request& request);
  void take(const std::string& scenario, std::uint64_t seed);
  int failures() const { return failures_; }
  /// Says and records what there is. The program's status.
  int finish();

 private:
  void add(const Outcome& outcome);
  void tell_of(const Plan& plan, const Violation& violation);
  void progress();
  double seconds() const;
  double processor_seconds() const { return static_cast<double>(std::clock() - processor_) / CLOCKS_PER_SEC; }
  void record() const;

  const Request& request_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::clock_t processor_ = std::clock();
  std::chrono::steady_clock::time_point said_ = began_;
  std::uint64_t runs_ = 0;
  int failures_ = 0;
  Outcome all_;
  std::map<std::string, std::uint64_t> by_scenario_;
};

}  // namespace holdfast::test::sim
