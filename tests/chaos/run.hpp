// SPDX-License-Identifier: Apache-2.0
// A run of one shape: servers, processes at work, faults from a seed, and the verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chaos/crew.hpp"
#include "chaos/ground.hpp"
#include "judges/judge.hpp"

namespace holdfast::test::chaos {

/// What a run takes place on, and who takes part.
struct Shape {
  std::string name;
  std::function<std::unique_ptr<Ground>()> make;
  /// Clients of other libraries are there if they were built.
  std::function<std::vector<Member>(Ground&)> crew;
};

struct RunOptions {
  std::uint64_t seed = 1;
  Milliseconds length{10000};
  std::string folder;  ///< Of the records; emptied first.
  /// If not, each of our processes has locks of its own, which the records call by the same names: a control.
  bool locks = true;
  bool swarm = false;  ///< With a few of the faults, and of what each client does, as the seed has it.
  bool old = false;    ///< No process is killed, and none of this library's may use ever more.
  /// Called as a fault is over, and for what else a reader may want to know; from two threads.
  std::function<void(const std::string&)> say;
};

struct RunResult {
  Verdict verdict;
  std::vector<std::string> hangs;
  std::vector<std::string> not_done;  ///< Faults that could not be carried out, and why.
  std::map<std::string, long long> faults;
  std::vector<std::string> others;                 ///< Clients of other libraries that took part.
  std::map<std::string, long long> operations_by;  ///< Each language that took part, or library.
  std::map<std::string, Ageing> aged;              ///< If they are to grow old: each process of this library.
  double seconds = 0;
  bool locks = true;
  bool swarm = false;

  bool good() const { return verdict.good() && hangs.empty() && grown().empty(); }
  /// What used more and more, in words.
  std::vector<std::string> grown() const;
  long long operations() const { return 2 * verdict.holds + verdict.failed_calls; }
};

/// The lease of all locks but some fixed ones.
inline constexpr Milliseconds kLease{2000};

RunResult run(const Shape& shape, const RunOptions& options);

}  // namespace holdfast::test::chaos
